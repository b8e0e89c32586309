// Answers to other caches over ICP (RFC 2186 5, RFC 2187 5.2).
#pragma once
#include <cstdint>
#include <string>

#include "icp/icp_message.hpp"
#include "icp/options.hpp"
#include "icp/responder.hpp"

namespace garner::icp {

/// Decides by its arguments alone: the options, the cache, the times.
class IcpResponder : private Responder {
public:
    IcpResponder(cache::Cache& cache, OriginTimes& origins, AgentCounters& counters) : Responder(cache, origins, counters) {}

    struct Now {
        WallTime wall;
        SteadyTime steady;
    };

    /// Whether misses would be fetched for others now: not while peers' addresses are being looked up, nor at the end.
    enum class Fetching : std::uint8_t { yes, no_more, not_yet };

    /// Writes the reply to `out`; false when the asker gets none: over its rate, or denied so often that it ignores denials.
    bool answer(IcpMessage const& query, IpAddress const& from, Options const&, Fetching, Now, std::string& out);

private:
    Opcode verdict(IcpMessage const& query, bool allowed, Options const&, Fetching, WallTime now);
    void add_source_rtt(IcpMessage& reply, SteadyTime now);
};

}  // namespace garner::icp
