// Resources of an idle proxy: equal before and after load.
#pragma once
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "story/scene.hpp"

namespace garner::test {

/// Resident memory of a process in bytes.
inline std::size_t resident_of(pid_t process) {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6)) * 1024;
    return 0;
}

inline std::size_t resident(Proxy& proxy) { return resident_of(proxy.child().pid()); }

/// The resident memory beside the parts in use, for the report of a long run. 24 MiB are for the program itself.
inline std::string memory_text(Proxy& proxy) {
    auto const parts = proxy.stats()["memory_sum"]["bytes"].get<std::size_t>(), all = resident(proxy);
    char text[160];
    std::snprintf(text, sizeof text, "resident %.1f MiB, parts in use %.1f MiB, resident / (parts + 24 MiB) %.2f",
                  static_cast<double>(all) / (1 << 20), static_cast<double>(parts) / (1 << 20),
                  static_cast<double>(all) / static_cast<double>(parts + (24u << 20)));
    return text;
}

/// Open descriptors of a process.
inline std::size_t descriptors_of(pid_t process) {
    std::filesystem::directory_iterator const open("/proc/" + std::to_string(process) + "/fd");
    return static_cast<std::size_t>(std::distance(begin(open), end(open)));
}

/// Those of the proxy; one more while its figures are requested.
inline std::size_t descriptors(Proxy& proxy) { return descriptors_of(proxy.child().pid()); }

/// A number from the environment, for long runs.
inline std::size_t number_from(char const* name, std::size_t otherwise) {
    auto const* text = std::getenv(name);
    return text ? std::stoul(text) : otherwise;
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

/// Waits until nothing is open, being filled or pinned: like after the start, except for stored objects. `process`: the one that
/// has taken the place of the proxy; 0: none has.
inline void expect_rest(Proxy& proxy, std::size_t descriptors_before, Millis limit = Millis{60'000}, pid_t process = 0) {
    auto const open = [&] { return process ? descriptors_of(process) : descriptors(proxy); };
    nlohmann::json stats;
    bool const rests = eventually(
        [&] {
            stats = proxy.stats();
            auto const& cache = stats["cache"];
            auto bytes = [&](char const* what) { return cache[what].get<std::size_t>(); };
            return stats["connections"]["now"] == 0 && cache["fills"] == 0 && cache["followers"] == 0 &&
                   cache["filling_bytes"] == 0 && cache["pinned_bytes"] == 0 &&
                   bytes("used_bytes") == bytes("stored_bytes") + bytes("metadata_bytes") && open() <= descriptors_before;
        },
        limit);
    EXPECT_TRUE(rests) << stats["connections"].dump() << stats["cache"].dump() << open() << " descriptors, before "
                       << descriptors_before;
    EXPECT_LE(stats["cache"]["used_bytes"], stats["cache"]["capacity_bytes"]);
}

}   // namespace garner::test
