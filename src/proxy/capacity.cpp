#include "proxy/capacity.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace garner::proxy {

/// A connection needs a descriptor, and usually one to an origin. A third one for each is shared by attempts to connect to further
/// addresses, and by pipes of two for the tunnels; a tunnel without pipes copies. Some are reserved for files, logs and DNS.
Capacity capacity_of(std::uint64_t files) {
    constexpr std::uint64_t reserve = 256;
    bool const is_ample = files > 2 * reserve;
    constexpr std::uint64_t share_of_attempts = 8;
    auto const possible = is_ample ? (files - reserve) / 3 : std::max<std::uint64_t>(files / 4, 4);
    return {.connections = static_cast<std::uint32_t>(std::min<std::uint64_t>(possible, UINT32_MAX)),
            .idle_to_origins = static_cast<std::uint32_t>(std::min<std::uint64_t>(possible / 2, UINT32_MAX)),
            .refreshes = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(possible / 64, 4, 64)),
            .pipes = is_ample ? static_cast<std::int64_t>((possible - possible / share_of_attempts) / 2) : 0,
            .attempts = static_cast<std::uint32_t>(std::min<std::uint64_t>(possible / share_of_attempts, UINT32_MAX))};
}

std::uint64_t raise_file_limit() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &limit);
        ::getrlimit(RLIMIT_NOFILE, &limit);
    }
    return limit.rlim_cur;
}

}   // namespace garner::proxy
