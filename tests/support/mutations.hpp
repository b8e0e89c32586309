// Messages with a few bytes, lines or words wrong: the same ones in every run, or others for longer.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace garner::test {

/// `usual` messages made of `sources` (those above a kilobyte excepted) with `words` put in. With
/// $GARNER_DIFFERENTIAL="COUNT SEED" that many, and those of another seed.
std::vector<std::string> mutated(std::vector<std::string> const& sources, std::vector<std::string> const& words, std::size_t usual);

}   // namespace garner::test
