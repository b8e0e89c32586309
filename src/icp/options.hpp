// The options of the mesh: peers, how they are queried, and which caches get replies. One immutable snapshot.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "http/matcher.hpp"
#include "net/options.hpp"
#include "util/bytes.hpp"
#include "util/clock.hpp"
#include "util/ip.hpp"

namespace garner::icp {

/// One entry of a peer's `domains`: ".edu", or "!.mil.edu" for hosts that the peer is not used for.
struct Domain {
    http::HostPattern host;
    bool excluded = false;
    friend bool operator==(Domain const&, Domain const&) = default;
};

/// How a peer gets https:// requests; its digest and queries to it follow (icp/https).
enum class Https : std::uint8_t {
    ask,      // in absolute-form, over TLS with the peer: the peer caches the responses
    tunnel,   // by CONNECT through the parent, with TLS to the origin inside
    no,       // https:// requests and CONNECT do not use the peer
    clear     // like `ask`, and https:// URLs may be sent in clear text: in queries and purges, and if it has no TLS
};

/// TLS of the connections to one peer.
struct PeerTls {
    bool verify = true;
    std::string ca_file;       // PEM; empty: the system's store
    std::string server_name;   // for SNI and the certificate; empty: the peer's host
    std::string chain;         // PEM files of the certificate that is shown to the peer, and of its key; both or none
    std::string key;
    net::TlsOptions trust() const { return {verify, ca_file}; }
    net::CertificateFiles certificate() const { return {chain, key}; }
    friend bool operator==(PeerTls const&, PeerTls const&) = default;
};

struct PeerOptions {
    enum class Type : std::uint8_t {
        parent,   // fetches misses for this cache
        sibling   // gives only stored responses
    };
    std::string name;
    Type type = Type::parent;
    std::string host;         // a name or an IP literal
    std::string srv;          // instead of `host` and `http`: the service whose servers are peers with these options
    bool srv_local = false;   // the service may have servers on loopback, link-local addresses and this machine
    std::uint16_t http = 3128;
    std::uint16_t icp = 3130;      // 0: no ICP queries
    std::uint16_t htcp = 0;        // not 0: queried by HTCP at this port, instead of ICP
    bool digest = false;           // its cache digest is fetched, and looked up before any query
    std::string digest_url;        // empty: Squid's path at this peer
    std::vector<Domain> domains;   // empty: all. The first match decides; with no match, a host is allowed only if all entries
                                   // are exclusions
    std::uint32_t weight = 1;      // a peer of weight 2 wins although it takes almost twice as long
    bool is_default = false;       // parent: used when no other is left
    bool no_query = false;         // used without queries
    bool round_robin = false;      // parents with this flag take turns if no measurement decides
    bool proxy_only = false;       // its responses are not stored here
    std::uint32_t max_connections = 0;   // concurrent connections to it; 0: no limit
    std::string login;                   // "user:password", sent as Proxy-Authorization (Basic), or "pass"
    net::ProxyProtocol proxy_protocol = net::ProxyProtocol::off;   // at its HTTP port
    std::string group;                                             // parents of one group share the URLs by rendezvous hashing
    milliseconds connect_timeout{2'000};
    milliseconds first_byte{0};   // a request without a response goes to the next source, too; 0: Peer::patience() derives it
    std::optional<PeerTls> tls = std::nullopt;   // given: TLS at its HTTP port
    std::optional<Https> https = std::nullopt;   // not given: https_of() decides
    // For a server that DNS has named for `srv` (RFC 2782):
    std::uint16_t srv_priority = 0;
    std::uint16_t srv_weight = 0;
    /// The login of each client is sent, and not one of this proxy.
    bool passes_login() const { return login == "pass"; }
    friend bool operator==(PeerOptions const&, PeerOptions const&) = default;
};

struct HtcpOptions {
    std::string address;   // empty: no HTCP port
    std::uint16_t port = 4827;
    std::vector<IpNetwork> allow;         // may query (TST)
    std::vector<IpNetwork> clear_allow;   // may purge (CLR)
    std::vector<IpEndpoint> purge_to;     // further caches that receive purges
    std::string secret;                   // shared with other Garners; not empty: unsigned messages are refused
};

struct DigestOptions {
    bool publish = true;   // served at Squid's path to clients that the access rules allow
    milliseconds rebuild{3'600'000};
};

/// Requests that always or never bypass the peers.
struct DirectOptions {
    std::vector<http::Matcher> always;
    std::vector<http::Matcher> never;
};

/// A proxy whose HTTP port is tried every two seconds, whether or not it is a peer.
struct WatchedProxy {
    std::string host;
    std::uint16_t port = 0;
};

/// No request waits longer than this for peers' replies.
constexpr milliseconds asking_max{2'000};

struct Options {
    std::string address;   // empty: no ICP port; queries leave from a port of their own
    std::uint16_t port = 3130;
    milliseconds timeout{asking_max};       // the longest wait for replies
    milliseconds timeout_min{5};            // the shortest wait, even for near peers; at most `timeout`
    bool source_ping = false;               // the origin competes by its remembered round-trip time
    milliseconds hit_margin{30'000};        // HIT is sent only for objects that stay fresh at least this long
    std::uint32_t queries_per_second = 0;   // replies to one address; 0: no limit
    std::vector<IpNetwork> allow;           // networks that get replies; empty: none
    HtcpOptions htcp;
    DigestOptions digest;
    std::vector<PeerOptions> peers;
    DirectOptions direct;
    std::vector<WatchedProxy> watched;   // those of PAC files
    /// True if this cache answers other caches' queries.
    bool has_own_ports() const { return !address.empty() || !htcp.address.empty(); }
};

}   // namespace garner::icp
