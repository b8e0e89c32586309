// Distances to origins: round-trip times and throughput of connections to them, remembered by host name.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string_view>

#include "icp/smoothed.hpp"
#include "util/bytes.hpp"
#include "util/clock.hpp"
#include "util/lru_map.hpp"
#include "util/mutex.hpp"

namespace garner::icp {

/// Thread-safe: 16 locks, each held for one probe of the table. Holds at most hosts_max names; the least recently used is
/// evicted. Host names must be in lower case.
class OriginTimes {
public:
    static constexpr std::size_t hosts_max = 65'536;
    static constexpr milliseconds valid{3'600'000};   // older values are ignored
    static constexpr Bytes host_bytes = 256;          // approximately

    struct Known {
        std::optional<microseconds> rtt;
        std::optional<double> throughput;   // bytes per second
    };
    Known find(std::string_view host, SteadyTime now);
    void connected(std::string_view host, microseconds rtt, SteadyTime now);
    /// A body of at least 64 KiB was received completely; shorter ones tell nothing about throughput and are ignored.
    void fetched(std::string_view host, Bytes bytes, microseconds took, SteadyTime now);
    std::size_t size() const;

private:
    struct Times {
        Smoothed rtt;
        Smoothed throughput;
        SteadyTime seen{};
    };
    struct Shard {
        mutable Mutex mutex;
        LruMap<Times> hosts GUARDED_BY(mutex);
    };
    Shard& shard_of(std::string_view host) { return shards_[(hash_(host) >> 56) % shards_.size()]; }
    /// Creates the entry if necessary, and drops expired values.
    Times& times_of(Shard& shard, std::string_view host, SteadyTime now) REQUIRES(shard.mutex);
    KeyedHash hash_;
    std::array<Shard, 16> shards_;
};

}   // namespace garner::icp
