// How often a randomized test repeats.
#pragma once
#include <cstddef>
#include <cstdlib>

namespace garner::test {

/// `usual`, or that times the environment variable GARNER_ROUNDS: tools/fuzz repeats randomized tests longer than tools/test.
inline std::size_t rounds(std::size_t usual) {
    char const* factor = std::getenv("GARNER_ROUNDS");
    return usual * (factor ? std::strtoul(factor, nullptr, 10) : 1);
}

}   // namespace garner::test
