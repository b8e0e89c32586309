// Replies to other caches over ICP (RFC 2186 5, RFC 2187 5.2).
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

    /// Whether misses can be fetched for others now: never while peers' names are being resolved, nor while draining.
    enum class Fetching : std::uint8_t { yes, no_more, not_yet };

    /// Writes the reply to `out`. False when no reply is sent: the sender is over its rate, or ignores its denials.
    bool answer(IcpMessage const& query, IpAddress const& from, Options const&, Fetching, Now, std::string& out);

private:
    Opcode verdict(IcpMessage const& query, bool allowed, Options const&, Fetching, WallTime now);
    void add_source_rtt(IcpMessage& reply, SteadyTime now);
};

}   // namespace garner::icp
