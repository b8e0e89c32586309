// What a proxy at rest holds: the same before a storm and after it.
#pragma once
#include <sys/resource.h>

#include <fstream>

#include "story/scene.hpp"

namespace garner::test {

/// Resident memory of the proxy in bytes.
inline std::size_t resident(Proxy& proxy) {
    std::ifstream status("/proc/" + std::to_string(proxy.child().pid()) + "/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6)) * 1024;
    return 0;
}

/// Open descriptors of the proxy; while its figures are asked for there is one more.
inline std::size_t descriptors(Proxy& proxy) {
    std::filesystem::directory_iterator open("/proc/" + std::to_string(proxy.child().pid()) + "/fd");
    return static_cast<std::size_t>(std::distance(begin(open), end(open)));
}

/// This process, and the proxy it starts, may have that many descriptors for clients; or how many, when it is fewer.
inline std::size_t clients_up_to(std::size_t wanted) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    return std::min<std::size_t>(wanted, limit.rlim_max / 3);
}

/// Waits until nothing is open, filling or pinned any more: as at the start, but for what is stored.
inline void expect_rest(Proxy& proxy, std::size_t descriptors_before, Millis limit = Millis{60'000}) {
    nlohmann::json stats;
    bool const rests = eventually(
        [&] {
            stats = proxy.stats();
            auto const& cache = stats["cache"];
            auto bytes = [&](char const* what) { return cache[what].get<std::size_t>(); };
            return stats["connections"]["now"] == 0 && cache["fills"] == 0 && cache["followers"] == 0 &&
                   cache["filling_bytes"] == 0 && cache["pinned_bytes"] == 0 &&
                   bytes("used_bytes") == bytes("stored_bytes") + bytes("metadata_bytes") &&
                   descriptors(proxy) <= descriptors_before;
        },
        limit);
    EXPECT_TRUE(rests) << stats["connections"].dump() << stats["cache"].dump() << descriptors(proxy) << " descriptors, before "
                       << descriptors_before;
    EXPECT_LE(stats["cache"]["used_bytes"], stats["cache"]["capacity_bytes"]);
}

}   // namespace garner::test
