// What other caches are answered over HTCP (RFC 2756 6): whether a URL is here (TST), and purges at their word (CLR).
#pragma once
#include <string>

#include "cache/cache.hpp"
#include "icp/agent.hpp"
#include "icp/htcp_auth.hpp"
#include "icp/icp_responder.hpp"
#include "icp/options.hpp"
#include "icp/origin_times.hpp"
#include "icp/replay_guard.hpp"

namespace garner::icp {

/// Knows nothing of sockets. One a worker; used on its thread only.
class HtcpResponder {
public:
    HtcpResponder(cache::Cache& cache, OriginTimes& origins, ReplayGuard& replays, AgentCounters& counters)
        : cache_(cache), origins_(origins), replays_(replays), counters_(counters) {}

    /// What is sent back to `from`; empty: nothing, also for questions beyond icp.queries_per_second_max. A purge happens
    /// here and is told to nobody else, so that none goes in circles. MON and SET are passed over, as by Squid.
    std::string answer(htcp::Message const& request, IpAddress const& from, Options const& options, WallTime now);

private:
    bool is_over_rate(IpAddress const& from, std::uint32_t rate);
    std::string refused(htcp::Message const& request, htcp::Refusal refusal);
    std::string test(htcp::Message const& request, WallTime now);
    bool would_serve(htcp::Message const& request, cache::Key const& key, WallTime now) const;
    bool is_replay(htcp::Message const& request, WallTime now);
    std::uint8_t clear(htcp::Message const& request);

    cache::Cache& cache_;
    OriginTimes& origins_;
    ReplayGuard& replays_;
    AgentCounters& counters_;
    Askers askers_;
};

}  // namespace garner::icp
