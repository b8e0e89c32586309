// The sources that a request would be fetched from. The peers are queried as its transaction would query them.
#pragma once
#include <optional>
#include <string>

#include "http/rule_request.hpp"
#include "icp/agent.hpp"
#include "net/resolver.hpp"
#include "util/clock.hpp"
#include "util/ip.hpp"

namespace garner::proxy {

class Server;

/// The facts that a transaction knows when it chooses its sources.
struct SourceQuestion {
    std::string url;   // normal form
    std::string host;
    bool https = false;                          // an https:// URL or a CONNECT
    bool hierarchical = false;                   // a miss that any cache may answer
    bool only_parents = false;                   // siblings may not know an invalidation yet
    std::optional<IpAddress> destination = {};   // the address of a literal host
    bool source_matters = false;                 // an access rule depends on the origin's address
};

struct SourceExplanation {
    icp::Question::Direct direct = icp::Question::Direct::may;   // the decision of the direct lists
    bool hierarchical = false;
    bool undecided = false;   // the rules depend on the name's addresses, which are unknown
    bool answered = false;    // in time; the following fields are set only then
    icp::Resolution resolution = {};
    static constexpr milliseconds longest{2'500};
};

/// The addresses of a host name from the name cache or DNS, or why there are none; nullptr when the lookup takes longer
/// than Resolver::lookup_limit. Blocks: must not run on a worker's own thread.
net::NamesPtr resolve_on_worker(Server& server, std::string const& host);

/// Queries on a worker and blocks for at most `longest`: must not run on a worker's own thread. The peers' statistics and
/// states count these queries like any others.
SourceExplanation explain_sources(Server& server, SourceQuestion const& question, http::RuleRequest const& facts);

}   // namespace garner::proxy
