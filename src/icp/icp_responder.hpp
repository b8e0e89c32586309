// What other caches are told over ICP (RFC 2186 5, RFC 2187 5.2).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cache/cache.hpp"
#include "icp/agent.hpp"
#include "icp/icp_message.hpp"
#include "icp/options.hpp"
#include "icp/origin_times.hpp"
#include "util/clock.hpp"
#include "util/hash.hpp"
#include "util/ip.hpp"

namespace garner::icp {

/// Those who ask, as far as their rate and their refusals go. Holds askers_max of them; a new one takes the place of one
/// that has been quiet for longer. An IPv6 network of 64 bits is one asker: whoever has one has all its addresses.
class Askers {
public:
    static constexpr std::size_t askers_max = 1'024;

    struct Asker {
        IpAddress address{};
        SteadyTime seen{};
        double allowance = 0;          // queries that it may send at once
        std::uint64_t queries = 0;
        std::uint64_t denied = 0;
    };

    Askers();
    /// Its entry, a fresh one when it is new or its place was taken. `rate`: queries a second, 0 for any; what was not used
    /// of one second may be used in the next.
    Asker& seen(IpAddress const&, std::uint32_t rate, SteadyTime now);

private:
    static constexpr std::size_t places = 4;   // where an address may be
    std::vector<Asker> askers_;
    std::uint64_t seed_;
};

/// Belongs to a worker. Decides by what it is handed alone: the options, the cache, the times.
class IcpResponder {
public:
    IcpResponder(cache::Cache& cache, OriginTimes& origins, AgentCounters& counters)
        : cache_(cache), origins_(origins), counters_(counters) {}

    struct Now {
        WallTime wall;
        SteadyTime steady;
    };

    /// Whether misses would be fetched for others now: not while peers' addresses are being looked up, nor at the end.
    enum class Fetching : std::uint8_t { yes, no_more, not_yet };

    /// Writes the answer to `out`; false when the asker gets none: over its rate, or not allowed and told so often enough.
    bool answer(IcpMessage const& query, IpAddress const& from, Options const&, Fetching, Now, std::string& out);

private:
    Opcode verdict(IcpMessage const& query, bool allowed, Options const&, Fetching, WallTime now);
    void add_source_rtt(IcpMessage& answer, SteadyTime now);

    cache::Cache& cache_;
    OriginTimes& origins_;
    AgentCounters& counters_;
    Askers askers_;
    std::string host_, url_, key_;   // kept for their memory
};

}  // namespace garner::icp
