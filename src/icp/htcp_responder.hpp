// Replies to other caches over HTCP (RFC 2756 6): whether a URL is stored (TST), and purges on their request (CLR).
#pragma once
#include <string>

#include "icp/htcp_auth.hpp"
#include "icp/options.hpp"
#include "icp/replay_guard.hpp"
#include "icp/responder.hpp"

namespace garner::icp {

class HtcpResponder : private Responder {
public:
    HtcpResponder(cache::Cache& cache, OriginTimes& origins, ReplayGuard& replays, AgentCounters& counters)
        : Responder(cache, origins, counters), replays_(replays) {}

    /// The reply to `from`. Empty: no reply, also for queries over icp.queries_per_second_max. A purge is executed here but
    /// not forwarded to peers, so that it cannot loop. MON and SET are ignored, like by Squid.
    std::string answer(htcp::Message const& request, IpAddress const& from, Options const& options, WallTime now);

private:
    std::string refused(htcp::Message const& request, htcp::Refusal refusal);
    void tell_rejected(IpAddress const& from, char const* why);
    std::string test(htcp::Message const& request, WallTime now);
    bool is_replay(htcp::Message const& request, WallTime now);
    std::uint8_t clear(htcp::Message const& request);

    ReplayGuard& replays_;
    std::optional<SteadyTime> told_at_;
};

}   // namespace garner::icp
