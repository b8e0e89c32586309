// From where a request would be fetched: the peers are really asked, as its transaction would ask them.
#pragma once
#include <optional>
#include <string>

#include "http/rule.hpp"
#include "icp/agent.hpp"
#include "net/resolver.hpp"
#include "util/clock.hpp"
#include "util/ip.hpp"

namespace garner::proxy {

class Server;

/// What a transaction knows of its request when it chooses its sources.
struct SourceQuestion {
    std::string url;                         // normal form
    std::string host;
    bool hierarchical = false;               // a miss that any cache may answer
    std::optional<IpAddress> destination = {};   // of a literal host
    bool source_matters = false;             // the access rules want to know the origin's address
};

struct SourceExplanation {
    icp::Question::Direct direct = icp::Question::Direct::may;   // what the lists say
    bool hierarchical = false;
    bool undecided = false;                  // the rules want the name's addresses: if they allow them
    bool answered = false;                   // in time, so that the following is known
    icp::Resolution resolution = {};
    static constexpr milliseconds longest{2'500};
};

/// The addresses of a host name, from what is remembered or from DNS, or why there are none; nullptr when that takes longer
/// than Resolver::lookup_limit. Waits: not from a worker's own thread.
net::NamesPtr resolve_on_worker(Server& server, std::string const& host);

/// Asks on a worker and waits for it, at most `longest`: not from a worker's own thread. The peers' figures and states
/// count these questions like any other.
SourceExplanation explain_sources(Server& server, SourceQuestion const& question, http::RuleRequest const& facts);

}  // namespace garner::proxy
