// Source selection: the peers to query, how long to wait, and the order of the sources. Pure.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "icp/reply.hpp"
#include "icp/liveness.hpp"
#include "icp/options.hpp"
#include "icp/source.hpp"
#include "util/bytes.hpp"
#include "util/clock.hpp"

namespace garner::icp {

/// The facts about a request that source selection needs. The views live as long as this object.
struct Question {
    std::string_view url;   // absolute, in normal form
    std::string_view host;
    bool hierarchical = true;    // a GET that any cache may answer: peers are queried
    bool https = false;          // an https:// URL, or a CONNECT
    bool only_parents = false;   // siblings may not know an invalidation yet
    enum class Direct : std::uint8_t { may, always, never };
    Direct direct = Direct::may;                    // decided by the direct lists
    std::optional<Bytes> size = {};                 // size of the requested body, if known
    std::optional<microseconds> origin_rtt = {};    // remembered; only if the origin competes
    std::optional<double> origin_throughput = {};   // bytes per second
    std::uint32_t turn = 0;                         // for round robin
};

/// The state of one peer at one moment.
struct PeerView {
    std::shared_ptr<Peer> peer;   // handed on to the sources; source selection never reads it
    PeerOptions const* options = nullptr;
    Health health = Health::alive;
    bool full = false;         // has reached max_connections
    bool standby = false;      // another server of the same service goes before it
    bool askable = true;       // takes queries at a known address
    bool has_digest = false;   // its digest is present
    std::optional<microseconds> query_rtt = {};
    std::optional<microseconds> connect_rtt = {};
    std::optional<double> throughput = {};   // bytes per second
};

/// One peer's reply; kept in the order of arrival.
struct Told {
    std::size_t peer = 0;   // index among the views
    ReplyKind reply = ReplyKind::nothing;
    Protocol protocol = Protocol::icp;
    microseconds took{0};
    std::optional<milliseconds> source_rtt = {};
    std::optional<Bytes> size = {};
};

/// The plan before any query is sent.
struct Plan {
    std::vector<std::size_t> ask;        // indexes of the views; empty: call choose() at once
    std::vector<std::size_t> wait_for;   // the alive peers among them
};
Plan plan(Question const&, std::span<PeerView const>);

/// How long to wait for all of `wait_for` together: twice their mean round trip (practice of RFC 2187 5.1.4), at least
/// `timeout_min`, at most `timeout`; `timeout` if none has ever replied.
microseconds patience(Plan const&, std::span<PeerView const>, milliseconds timeout_min, milliseconds timeout);

/// How long waiting is worthwhile, counted from the query. Zero once no missing reply could give a better source than
/// the first HIT. Only a HIT from a peer of more weight could, if it comes in time.
microseconds worth_waiting(Question const&, Plan const&, std::span<PeerView const>, std::span<Told const>, microseconds patience);

/// All sources, best first, each with its reason; each is tried when the one before fails. Never empty: no_direct_fail
/// without a peer if none is left and the origin is forbidden.
///   1 direct list   2 bound parents   3 HITs by (round trip + size / throughput) / weight, the origin among them
///   4 the closest parent that missed, else the first; in a group, the owner of the URL   5 group, by rendezvous
///   6 default   7 round robin   8 the origin, or else any parent
/// https:// URLs are not named in queries: a parent that reads them (`ask`) counts as one without queries. Parents that only
/// tunnel them come after the origin, unless they are bound.
std::vector<Source> choose(Question const&, std::span<PeerView const>, std::span<Told const>);

/// The peer may be a source of the response.
bool takes_part(Question const&, PeerOptions const&);

/// True if the peer can be queried for the URL, or looked up in its digest.
bool can_be_asked(Question const&, PeerView const&);

/// How a peer's `domains` apply to a host.
enum class Binding : std::uint8_t { none, eligible, bound };
Binding binding_of(PeerOptions const&, std::string_view host);

/// The score of a group member for a URL: the highest score owns the URL (weighted rendezvous hashing, Thaler and
/// Ravishankar 1998). Equal in every Garner, whatever the order of its peers.
double rendezvous_score(std::string_view url, std::string_view member, std::uint32_t weight);

/// Counts since the start.
struct PeerFigures {
    std::uint64_t queries = 0, answers = 0, hits = 0, misses = 0, nofetch = 0, denied = 0, errors = 0, expired = 0, late = 0;
    std::uint64_t fetches = 0, false_hits = 0, connect_failures = 0;
    Bytes bytes = 0;   // body bytes received from it
    Bytes saved = 0;   // the part of `bytes` from HITs, which the origin did not send
};

struct PeerStats : PeerFigures {
    PeerOptions options;
    Health health = Health::alive;
    std::string address;   // empty: unknown
    std::uint32_t connections = 0;
    std::optional<microseconds> query_rtt, connect_rtt;
    std::optional<double> throughput;
    std::uint64_t digest_entries = 0;
    bool has_digest = false;
};

}   // namespace garner::icp
