// Sequences of faults that random search finds rarely or never. Each violates the promise with one mutant, and not without.
#pragma once
#include <functional>
#include <span>
#include <string>

#include "group/mutant.hpp"
#include "group/world.hpp"

namespace garner::group::simulated {

struct Scene {
    char const* name;
    Mutant breaks;   // is found by it
    void (*play)(World&);
};

/// Nodes 0, 1 and 2 are voters, 3 is a member whose cache has URL 0, 4 and 5 are other members. `seed` chooses the clocks.
Options options_of_scenes(std::uint64_t seed);
std::span<Scene const> scenes();
/// The violation, or nothing.
std::string play(Scene const&, std::uint64_t seed, std::function<void(std::string const&)> trace = {});

}   // namespace garner::group::simulated
