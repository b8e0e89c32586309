// The choice of a source: whom to ask, how long to wait, and in which order to try what was found. Pure.
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

/// What the request is, as far as the choice goes. The views live as long as it.
struct Question {
    std::string_view url;                 // absolute, in normal form
    std::string_view host;
    bool hierarchical = true;             // a GET that any cache may answer: peers are asked
    enum class Direct : std::uint8_t { may, always, never };
    Direct direct = Direct::may;          // by the lists
    std::optional<Bytes> size = {};       // of the body that is wanted, where it is known
    std::optional<microseconds> origin_rtt = {};      // remembered; only where the origin competes
    std::optional<double> origin_throughput = {};     // bytes a second
    std::uint32_t turn = 0;               // for round robin
};

/// What is known of one peer at one moment.
struct PeerView {
    std::shared_ptr<Peer> peer;           // what the choice hands on; it never looks inside
    PeerOptions const* options = nullptr;
    Health health = Health::alive;
    bool full = false;                    // has all the connections that it may have
    bool askable = true;                  // takes queries at an address that is known, or there is a digest of it
    std::optional<microseconds> query_rtt = {};
    std::optional<microseconds> connect_rtt = {};
    std::optional<double> throughput = {};   // bytes a second
};

/// The reply of one of them; in the order in which they came.
struct Told {
    std::size_t peer = 0;                 // index among the views
    ReplyKind reply = ReplyKind::nothing;
    Protocol protocol = Protocol::icp;
    microseconds took{0};
    std::optional<milliseconds> source_rtt = {};
    std::optional<Bytes> size = {};
};

/// Before anybody is asked.
struct Plan {
    std::vector<std::size_t> ask;         // places among the views; empty: nobody, choose() at once
    std::vector<std::size_t> wait_for;    // those of them that are alive
};
Plan plan(Question const&, std::span<PeerView const>);

/// How long all of `wait_for` together are waited for: twice their mean round trip (RFC 2187 5.1.4's practice), at least
/// `timeout_min`, at most `timeout`; all of it when none has ever answered.
microseconds patience(Plan const&, std::span<PeerView const>, milliseconds timeout_min, milliseconds timeout);

/// How long it is still worth waiting, from the moment of asking: zero as soon as nobody who has not spoken yet could be
/// a better source than those who have (the first HIT, unless somebody of more weight may still say it in time).
microseconds worth_waiting(Question const&, Plan const&, std::span<PeerView const>, std::span<Told const>,
                           microseconds patience);

/// All ways, best first, each with its reason; each is tried when the one before fails. Never empty: no_direct_fail
/// without a peer where nothing is left and the origin is forbidden.
///   1 direct list   2 bound parents   3 HITs by (round trip + size / throughput) / weight, the origin among them
///   4 the closest parent that missed, else the first; of a group, the one whose URL it is   5 group, by rendezvous
///   6 default   7 round robin   8 the origin, or else any parent
std::vector<Source> choose(Question const&, std::span<PeerView const>, std::span<Told const>);

/// What the domains of a peer say of a host.
enum class Binding : std::uint8_t { none, eligible, bound };
Binding binding_of(PeerOptions const&, std::string_view host);

/// The score of a member of a group for a URL: the highest has it (weighted rendezvous hashing, Thaler and Ravishankar
/// 1998). The same in every Garner, whatever the order of its peers.
double rendezvous_score(std::string_view url, std::string_view member, std::uint32_t weight);

/// Counted since the start.
struct PeerFigures {
    std::uint64_t queries = 0, answers = 0, hits = 0, misses = 0, nofetch = 0, denied = 0, errors = 0, expired = 0, late = 0;
    std::uint64_t fetches = 0, false_hits = 0, connect_failures = 0;
    Bytes bytes = 0;                      // of bodies that came from it
    Bytes saved = 0;                      // of those, as HITs: what the origin did not send
};

struct PeerStats : PeerFigures {
    PeerOptions options;
    Health health = Health::alive;
    std::string address;                  // empty: not known
    std::uint32_t connections = 0;
    std::optional<microseconds> query_rtt, connect_rtt;
    std::optional<double> throughput;
    std::uint64_t digest_entries = 0;
    bool has_digest = false;
};

}  // namespace garner::icp
