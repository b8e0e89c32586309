// The common part of the ICP and HTCP responders: query rates of other caches, and the lookup of a URL.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cache.hpp"
#include "icp/agent.hpp"
#include "icp/origin_times.hpp"
#include "util/clock.hpp"
#include "util/ip.hpp"

namespace garner::icp {

/// One cache that sends queries. A 64-bit IPv6 prefix counts as one: its owner has all its addresses.
struct Asker {
    IpAddress address{};
    SteadyTime seen{};
    double allowance = 0;   // queries that it may send at once
    std::uint64_t queries = 0;
    std::uint64_t denied = 0;
};

/// Holds askers_max entries; a new one replaces one that has been idle for longer.
class Askers {
public:
    static constexpr std::size_t askers_max = 1'024;

    Askers();
    /// Counts a query. nullptr when the sender exceeds `rate` queries per second; 0: no limit. Unused queries of one second
    /// may be sent in the next.
    Asker* admit(IpAddress const&, std::uint32_t rate, SteadyTime now);

private:
    static constexpr std::size_t ways = 4;   // entries that an address may use
    Asker& seen(IpAddress const&, std::uint32_t rate, SteadyTime now);

    std::vector<Asker> askers_;   // allocated with the first query
    std::uint64_t seed_;
};

/// One per worker; used on its thread only. Independent of sockets.
class Responder {
protected:
    Responder(cache::Cache& cache, OriginTimes& origins, AgentCounters& counters)
        : cache_(cache), origins_(origins), counters_(counters) {}

    /// Sets the URL in normal form, its host and its key. False, and counted, for an invalid URL.
    bool read_url(std::string_view url);
    cache::Key key() const { return cache_.key(key_); }
    /// Round-trip time to that URL's origin, rounded up to milliseconds.
    std::optional<milliseconds> source_rtt(SteadyTime now);

    cache::Cache& cache_;
    OriginTimes& origins_;
    AgentCounters& counters_;
    Askers askers_;
    std::string url_, host_, key_;   // members to reuse their memory
};

}   // namespace garner::icp
