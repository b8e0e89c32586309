// Resources of an idle proxy: equal before and after load.
#pragma once
#include <sys/resource.h>

#include <cstdio>
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

/// The resident memory beside the parts in use, for the report of a long run. 24 MiB are for the program itself.
inline std::string memory_text(Proxy& proxy) {
    auto const parts = proxy.stats()["memory_sum"]["bytes"].get<std::size_t>(), all = resident(proxy);
    char text[160];
    std::snprintf(text, sizeof text, "resident %.1f MiB, parts in use %.1f MiB, resident / (parts + 24 MiB) %.2f",
                  static_cast<double>(all) / (1 << 20), static_cast<double>(parts) / (1 << 20),
                  static_cast<double>(all) / static_cast<double>(parts + (24u << 20)));
    return text;
}

/// Open descriptors of the proxy; one more while its figures are requested.
inline std::size_t descriptors(Proxy& proxy) {
    std::filesystem::directory_iterator open("/proc/" + std::to_string(proxy.child().pid()) + "/fd");
    return static_cast<std::size_t>(std::distance(begin(open), end(open)));
}

/// Raises the descriptor limit of this process and of the proxy it starts.
/// Returns the possible number of clients, at most `wanted`.
inline std::size_t clients_up_to(std::size_t wanted) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    return std::min<std::size_t>(wanted, limit.rlim_max / 3);
}

/// Waits until nothing is open, being filled or pinned: like after the start, except for stored objects.
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
