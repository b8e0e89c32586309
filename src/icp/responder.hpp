// The common part of the responders of ICP and HTCP: how often each cache asks, and which stored object a URL means.
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

/// One cache that asks. An IPv6 network of 64 bits is one: its owner has all its addresses.
struct Asker {
    IpAddress address{};
    SteadyTime seen{};
    double allowance = 0;          // queries that it may send at once
    std::uint64_t queries = 0;
    std::uint64_t denied = 0;
};

/// Holds askers_max of them; a new one replaces one that has been quiet for longer.
class Askers {
public:
    static constexpr std::size_t askers_max = 1'024;

    Askers();
    /// Counts a query. nullptr when the asker has sent more than `rate` queries a second; 0: any number. Unused queries of one
    /// second may be sent in the next.
    Asker* admit(IpAddress const&, std::uint32_t rate, SteadyTime now);

private:
    static constexpr std::size_t ways = 4;   // entries in which an address may be
    Asker& seen(IpAddress const&, std::uint32_t rate, SteadyTime now);

    std::vector<Asker> askers_;              // made with the first query
    std::uint64_t seed_;
};

/// One a worker; used on its thread only. Knows nothing of sockets.
class Responder {
protected:
    Responder(cache::Cache& cache, OriginTimes& origins, AgentCounters& counters)
        : cache_(cache), origins_(origins), counters_(counters) {}

    /// Sets the URL in normal form, its host and its key. False, and counted, for what is no URL.
    bool read_url(std::string_view url);
    cache::Key key() const { return cache_.key(key_); }
    /// How near the origin of that URL is, to the next millisecond.
    std::optional<milliseconds> source_rtt(SteadyTime now);

    cache::Cache& cache_;
    OriginTimes& origins_;
    AgentCounters& counters_;
    Askers askers_;
    std::string url_, host_, key_;   // kept for their memory
};

}  // namespace garner::icp
