// The addresses that DNS has given for names during the last day.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "util/bytes.hpp"
#include "util/clock.hpp"
#include "util/ip.hpp"
#include "util/lru_map.hpp"
#include "util/mutex.hpp"

namespace garner::net {

/// The last time that DNS gave an address for a name.
enum class DnsProof : std::uint8_t {
    recent,   // within NameHistory::recent_time
    past,     // within NameHistory::lifetime
    none
};

/// DNS names with many addresses give some of them at a time, so that two lookups may have none in common. Thread-safe. Holds the
/// latest addresses_max addresses of names_max names; the least recently used name is evicted.
class NameHistory {
public:
    /// `host`, here and below: in lower case.
    void note(std::string_view host, std::span<IpAddress const> addresses, SteadyTime now) EXCLUDES(mutex_);
    DnsProof proof(std::string_view host, IpAddress const& address, SteadyTime now) EXCLUDES(mutex_);
    /// True at most once in `ask_interval` for a name: DNS may be queried again before its answer expires.
    bool may_ask_again(std::string_view host, SteadyTime now) EXCLUDES(mutex_);

    Bytes bytes() const EXCLUDES(mutex_);
    static Bytes bytes_max() { return names_max * name_bytes; }

    static constexpr std::size_t names_max = 10'000;
    static constexpr std::size_t addresses_max = 48;
    static constexpr seconds lifetime{24 * 60 * 60};
    static constexpr seconds recent_time{5 * 60};
    static constexpr seconds ask_interval{1};

private:
    struct Known {
        IpAddress address{};
        SteadyTime seen{};
    };
    struct Name {
        std::array<Known, addresses_max> known{};   // unused places were seen at the beginning of time
        SteadyTime asked{};
    };
    static constexpr Bytes name_bytes = sizeof(Name) + 400;   // with its text, and the blocks of the map

    mutable Mutex mutex_;
    LruMap<Name> names_ GUARDED_BY(mutex_);
};

}   // namespace garner::net
