// Messages with a few wrong bytes, lines or words: equal in every run, or more with another seed.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace garner::test {

/// `usual` mutations of `sources` (only those below a kilobyte) with `words`
/// inserted. $GARNER_DIFFERENTIAL="COUNT SEED" sets their number and the seed.
std::vector<std::string> mutated(std::vector<std::string> const& sources, std::vector<std::string> const& words, std::size_t usual);

}   // namespace garner::test
