// How near origins are: round-trip times and throughput of connections to them, remembered by host name.
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

/// Thread-safe; 16 locks, each held for a probe. Holds at most hosts_max names; the least recently used is evicted. Host names
/// are given in lower case.
class OriginTimes {
public:
    static constexpr std::size_t hosts_max = 65'536;
    static constexpr milliseconds valid{3'600'000};   // what is older says nothing

    struct Known {
        std::optional<microseconds> rtt;
        std::optional<double> throughput;   // bytes a second
    };
    Known find(std::string_view host, SteadyTime now);
    void connected(std::string_view host, microseconds rtt, SteadyTime now);
    /// A body of 64 KiB or more came whole; shorter ones say nothing of throughput and are passed over.
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
    /// Made if need be, and without values that are no longer valid.
    Times& times_of(Shard& shard, std::string_view host, SteadyTime now) REQUIRES(shard.mutex);
    KeyedHash hash_;
    std::array<Shard, 16> shards_;
};

}  // namespace garner::icp
