// Scenes with an attacker, a victim and an origin: what one client does must not change what another gets.
#pragma once
#include <algorithm>
#include <chrono>
#include <vector>

#include "story/scene.hpp"

namespace garner::test {

/// How long each of `count` requests of the victim took, in the order of size. All must be hits.
inline std::vector<Millis> times_of_hits(Proxy const& proxy, Origin const& origin, std::string const& path, std::size_t count) {
    std::vector<Millis> times;
    Client victim(proxy, origin);
    for (std::size_t i = 0; i < count; ++i) {
        auto const began = std::chrono::steady_clock::now();
        auto reply = victim.get(path);
        EXPECT_TRUE(reply.hit()) << i;
        reply.body();
        times.push_back(std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - began));
    }
    std::ranges::sort(times);
    return times;
}

}  // namespace garner::test
