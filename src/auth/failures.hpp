// Failed logins of each source address. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "util/clock.hpp"
#include "util/ip.hpp"
#include "util/lru_map.hpp"

namespace garner::auth {

/// An IPv6 client usually has a whole /64, which counts as one source.
inline IpAddress client_network(IpAddress const& client) { return first_bits(client, 32, 64); }

/// Not thread-safe.
class Failures {
public:
    static constexpr std::size_t sources_max = 10'000;
    static constexpr std::chrono::minutes window{1};
    static constexpr std::size_t source_bytes = 160;   // approximately

    void note(IpAddress const& client, WallTime now);
    /// The time to wait if there were `most` failures within the minute that began with the first one. `most` 0: no limit.
    std::optional<milliseconds> blocked(IpAddress const& client, std::uint32_t most, WallTime now);
    std::size_t size() const { return counts_.size(); }

private:
    struct Count {
        WallTime begin{};
        std::uint32_t failures = 0;
        bool is_over(WallTime now) const { return now >= begin + window || now < begin; }
    };
    LruMap<Count> counts_;   // by the bytes of the address
};

}   // namespace garner::auth
