// Explains if and why a URL is answered from the cache: the decisions of a transaction, without its actions.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/cache.hpp"
#include "group/state.hpp"
#include "net/name_cache.hpp"
#include "proxy/decision.hpp"
#include "proxy/explain_sources.hpp"
#include "proxy/line_account.hpp"
#include "proxy/options.hpp"

namespace garner::proxy {

class Server;

struct ExplainQuestion {
    std::string url;                        // absolute
    std::string method = {};                // empty: GET; CONNECT for https through a forward proxy, which browsers send
    std::vector<std::string> fields = {};   // "Accept-Language: de"
    IpAddress client = IpAddress::v4(127, 0, 0, 1);
    std::optional<http::Identity> identity = std::nullopt;   // nothing: the client has not logged in
    std::optional<std::string> server_name = std::nullopt;   // in the ClientHello of a tunnel; empty: none; nothing: unknown
    bool accelerated = false;                                // through an accelerator: the URL is at its origin or at its listener
    std::optional<IpAddress> intercepted = std::nullopt;     // the address that the client has connected to; nothing: the proxy
    bool asks_others = false;                                // queries DNS and, for a request that would be forwarded, the peers
};

/// How the request would be answered.
enum class Outcome : std::uint8_t {
    hit,          // from the store, fresh
    stale,        // from the store although stale
    revalidate,   // stored, but the origin is asked first
    collapsed,    // joins a fetch in progress
    miss,         // fetched
    negative,     // a remembered failure
    failed,       // an error: the name's last resolution failed
    passed,       // bypasses the cache
    tunnelled,
    login,     // the access rules need a user, and the client is asked to log in
    refused,   // by an HTTP rule other than the access rules
    denied,    // by the access rules
    own        // a page of this proxy itself
};
std::string_view name_of(Outcome);

/// The listener that gets the request.
struct ListenerExplanation {
    std::string address = {};       // "127.0.0.1:3128"
    std::string origin = {};        // of an accelerator
    std::string destination = {};   // of an intercepted connection: "192.0.2.7"; empty: the client knows the proxy
    bool unverified = false;        // the host does not lead to it
};

/// The place of a request on the line, while `share`, `caps` or `quotas` applies.
struct LineExplanation {
    std::optional<LinePlace> line;
    std::optional<share::QuotaStanding> quota;   // before the request
};

struct GroupExplanation {
    std::optional<group::GroupState::OfferRow> offer;   // in the group, of this URL
};

struct Explanation : LineExplanation, GroupExplanation {
    std::string fault;   // the error in the question; all other fields are empty then

    WallTime now{};
    std::shared_ptr<Options const> options;   // the views and pointers below point into these
    std::string method;
    std::string url;   // normal form
    ListenerExplanation listener;
    Partition partition = Partition::forward;
    std::shared_ptr<http::Identity const> identity;   // nullptr: no user is known

    http::Decision access;                         // needs_destination: the name would have to be resolved
    std::optional<http::Decision> of_source;       // the decision on the stored response's source address, where that decides
    std::optional<http::Decision> of_connection;   // the decision on the origin's addresses, where known: the first allowed one
    std::string connection;                        // the address that `of_connection` refers to

    // CONNECT: "bumped: …", "spliced: …", "terminated: …", "refused: …"; empty if no rule applies to any tunnel.
    std::string interception;

    std::vector<http::CachingRule const*> rules;   // those that apply, in order; the first decides each setting
    http::FreshnessOptions freshness;              // set by these rules
    bool reload_ignored = false;
    http::Bypass bypass = http::Bypass::none;
    cache::Peek found;         // in memory; if absent there, on disk
    std::string stored_head;   // found.object's, with its blank line

    std::string asks;   // "bytes=10-": the range requested from the origin to complete found.parts
    std::optional<net::NameCache::Failure> name_failure;   // remembered failure of the host's name

    std::optional<SourceExplanation> sources;   // set when peers were to be queried and there are some

    Outcome outcome = Outcome::miss;
    std::uint16_t status = 0;   // of the response; 0: the origin's status
    std::string why;
    http::Fwd fwd = http::Fwd::none;   // none for tunnels, and without a request to the origin
    /// The outcome holds only if the rules allow one of the name's addresses, which are unknown.
    bool undecided() const { return !of_connection && access.verdict == http::Decision::Verdict::needs_destination; }
};

/// Fetches nothing, leads no fill, and leaves the replacement order unchanged. Queries DNS and peers only where the
/// question says so. Must not run on a worker's thread: it waits for the disk, DNS (at most 5 s) and peers (at most 2.5 s).
Explanation explain(Server& server, ExplainQuestion const& question);

}   // namespace garner::proxy
