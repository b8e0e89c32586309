// What the mesh is told: its peers, how they are asked, and who is answered. One immutable snapshot.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "http/rule.hpp"
#include "util/bytes.hpp"
#include "util/clock.hpp"
#include "util/ip.hpp"

namespace garner::icp {

/// One entry of a peer's `domains`: ".edu", or "!.mil.edu" for those it is not asked for.
struct Domain {
    http::HostPattern host;
    bool excluded = false;
    friend bool operator==(Domain const&, Domain const&) = default;
};

struct PeerOptions {
    enum class Type : std::uint8_t {
        parent,    // fetches for us
        sibling    // gives only what it has
    };
    std::string name;
    Type type = Type::parent;
    std::string host;                // a name or an IP literal
    std::uint16_t http = 3128;
    std::uint16_t icp = 3130;        // 0: not asked by ICP
    std::uint16_t htcp = 0;          // not 0: asked by HTCP there, and not by ICP
    bool digest = false;             // its cache digest is fetched, and looked into before anybody is asked
    std::string digest_url;          // empty: Squid's path at this peer
    std::vector<Domain> domains;     // empty: all. The first that matches decides; where none does, all that are excluded
                                     // let the others in
    std::uint32_t weight = 1;        // a peer of weight 2 wins though it takes almost twice as long
    bool is_default = false;         // parent: used when no other is left
    bool no_query = false;           // never asked, only used
    bool round_robin = false;        // parent: those with this take turns where nothing is known
    bool proxy_only = false;         // what it gives is not stored here
    std::uint32_t max_connections = 0;   // to it at a time; 0: no limit
    std::string login;               // "user:password", sent as Proxy-Authorization (Basic)
    std::string group;               // parents of one group share the URLs among them by rendezvous hashing
    milliseconds connect_timeout{2'000};
    friend bool operator==(PeerOptions const&, PeerOptions const&) = default;
};

struct HtcpOptions {
    std::string address;             // empty: no HTCP port
    std::uint16_t port = 4827;
    std::vector<IpNetwork> allow;        // who may ask (TST)
    std::vector<IpNetwork> clear_allow;  // who may purge (CLR)
    std::vector<IpEndpoint> purge_to;    // further caches that hear of purges
    std::string secret;              // shared with other Garners; not empty: messages without its signature are refused
};

struct DigestOptions {
    bool publish = true;             // answered at Squid's path to those whom the access rules allow
    milliseconds rebuild{3'600'000};
};

/// Requests that go past the peers, or never do.
struct DirectOptions {
    std::vector<http::Matcher> always;
    std::vector<http::Matcher> never;
};

/// No request waits longer than this for the answers of peers.
constexpr milliseconds asking_max{2'000};

struct Options {
    std::string address;             // empty: no ICP port; queries leave from a port of their own then
    std::uint16_t port = 3130;
    milliseconds timeout{asking_max};     // the longest that answers are waited for
    milliseconds timeout_min{5};     // the shortest, however near they are; at most `timeout`
    bool source_ping = false;        // the origin competes by its remembered round-trip time
    milliseconds hit_margin{30'000}; // HIT is said of what stays fresh for so long yet
    std::uint32_t queries_per_second = 0;   // answered to one address; 0: no limit
    std::vector<IpNetwork> allow;    // who gets answers; empty: nobody
    HtcpOptions htcp;
    DigestOptions digest;
    std::vector<PeerOptions> peers;
    DirectOptions direct;
};

}  // namespace garner::icp
