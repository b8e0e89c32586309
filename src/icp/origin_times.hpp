// How near origins are: round-trip times and throughput of connections to them, remembered by host name.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "icp/smoothed.hpp"
#include "util/bytes.hpp"
#include "util/clock.hpp"
#include "util/hash.hpp"
#include "util/link.hpp"
#include "util/mutex.hpp"

namespace garner::icp {

/// Thread-safe; 16 locks, each held for a probe. Holds at most hosts_max names; the longest unused leaves. Host names are
/// given in lower case.
class OriginTimes {
public:
    OriginTimes();

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
    struct Entry : Link {
        Smoothed rtt;
        Smoothed throughput;
        SteadyTime seen{};
        std::string const* host = nullptr;
    };
    struct Hash {
        using is_transparent = void;
        std::uint64_t seed;
        std::size_t operator()(std::string_view host) const { return fingerprint(host, seed); }
    };
    struct Shard {
        mutable Mutex mutex;
        List<Entry> by_use GUARDED_BY(mutex);   // the longest unused first
        std::unordered_map<std::string, Entry, Hash, std::equal_to<>> entries GUARDED_BY(mutex);
    };
    Shard& shard_of(std::string_view host) { return shards_[(hash_(host) >> 56) % shards_.size()]; }
    /// Made if need be; in any case the latest used, and with nothing in it that is no longer valid.
    Entry& entry_of(Shard& shard, std::string_view host, SteadyTime now) REQUIRES(shard.mutex);
    Hash hash_{};
    std::array<Shard, 16> shards_;
};

}  // namespace garner::icp
