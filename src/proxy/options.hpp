// The proxy's options: an immutable snapshot. A transaction keeps the snapshot it began with.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bump/options.hpp"
#include "cache/options.hpp"
#include "http/message.hpp"
#include "http/access_rules.hpp"
#include "http/caching_rules.hpp"
#include "net/options.hpp"
#include "share/options.hpp"
#include "util/bytes.hpp"
#include "util/clock.hpp"
#include "util/least_rate.hpp"

namespace garner::proxy {

class RuleHits;

/// One listening address. With an origin it is an accelerator (reverse proxy) for that origin and takes origin-form.
struct Listen {
    std::string address;   // "127.0.0.1"
    std::uint16_t port = 3128;
    std::optional<std::string> origin;   // "http://127.0.0.1:8000", validated, no path
    bool http2 = true;                   // with tls: h2 is offered by ALPN
    std::optional<net::ListenTls> tls = std::nullopt;
    std::vector<IpNetwork> proxy_protocol = {};   // connections from there begin with a PROXY header
    net::Intercept intercept = net::Intercept::off;
    net::ProxyProtocol origin_proxy_protocol = net::ProxyProtocol::off;
    friend bool operator==(Listen const&, Listen const&) = default;
};

struct Limits {
    http::HeadLimits head;
    Bytes heads = 32 * MiB;                     // incomplete heads of all clients, counting only bytes beyond 4 KiB each
    std::uint32_t connections = 100'000;        // client connections, all workers; lowered to what RLIMIT_NOFILE allows
    std::uint32_t connections_per_client = 0;   // 0: a quarter of all connections, no limit for loopback
    // Addresses that share this many leading bits count as one client.
    std::uint8_t client_prefix4 = 32;
    std::uint8_t client_prefix6 = 64;   // one subscriber has at least a /64 (RFC 6177)
    LeastRate min_rate;                 // least rate of bodies, in both directions
    std::uint32_t max_hops = 32;        // Via entries beyond which a request counts as looping
};

struct Deadlines {
    milliseconds head{30'000};          // from a head's first byte to its last
    milliseconds keep_alive{120'000};   // between requests of a client
    milliseconds body{60'000};          // without progress of a body, in either direction
    milliseconds stream{900'000};       // the same for an uncacheable response body of unknown length; not less than `body`
    milliseconds first_byte{60'000};    // from the request sent to the response head
    milliseconds abandoned{10'000};     // how long a body without followers may take to its end
    milliseconds laggard{5'000};        // how long in total one reader of an unstored body may hold up the others
    milliseconds fill{120'000};         // how long a follower waits at most for progress of a fill
    milliseconds tunnel_idle{600'000};
    milliseconds tunnel_total{86'400'000};
    // SIGTERM, in this order:
    milliseconds leave{0};              // PAC files no longer name this proxy; all is still answered
    milliseconds drain_delay{0};        // the least time in which connections are still accepted
    milliseconds drain_idle{1'000};     // an idle connection may send one more request
    milliseconds drain{10'000};         // running transactions may take this long
    milliseconds handover{3'600'000};   // after a takeover: instead of `drain`
};

/// How origins learn the client's address. `by_listener`: accelerators write X-Forwarded-For, -Proto and -Host; forward
/// proxies write none.
enum class ForwardedField : std::uint8_t { by_listener, none, forwarded, x_forwarded_for };
/// The clients' own http::is_gateway_field fields. `by_listener`: removed by accelerators, kept by forward proxies.
enum class ForwardedReceived : std::uint8_t { by_listener, keep, remove };

struct Caching {
    std::vector<std::string> never;       // URL substrings that are not cached
    milliseconds default_ttl{0};          // for responses without freshness information
    milliseconds negative_first{3'000};   // how long a failure is remembered at first
    milliseconds negative_ttl{30'000};    // and at most, if it cost a wait
    bool negative_backoff = true;
    milliseconds follow_patience{1'000};   // least time that a follower waits for its leader's head before it may fetch too
    bool offline = false;
    bool store_set_cookie = false;   // also without public or s-maxage
    bool range_fetches_whole = false;
    std::vector<std::string> key_fields;               // request fields that select among responses, in addition to Vary
    std::vector<std::string> targeted_cache_control;   // in order of preference (RFC 9213)
    std::vector<http::CachingRule> rules;
};

enum class LogFormat : std::uint8_t { squid, combined, json };

struct Log {
    std::string access = "-";   // "-": standard output; "": none
    LogFormat format = LogFormat::squid;
    bool query = true;            // log URLs with their query; false: up to '?'
    std::string level = "info";   // debug, info, warn, error
};

/// HTTP/2 with clients; each limit is one of a connection.
struct Http2 {
    std::uint32_t streams = 100;    // requests at once
    Bytes window = 1 * MiB;         // largest receive window of a stream
    std::uint32_t glitches = 100;   // frames a second that no orderly client sends; ten times as many at once
};

struct RefusalOptions {
    std::string page = "garner.internal";   // its host, by plain HTTP; empty: there is none
};

/// A proxy that a PAC file names.
struct PacProxy {
    bool secure = false;   // over TLS
    std::string host;      // in lower case, IPv6 without brackets
    std::uint16_t port = 0;
    friend bool operator==(PacProxy const&, PacProxy const&) = default;
};

/// Hosts for which a PAC file names no proxy.
struct PacDirect {
    std::string host = {};                             // "www.example", or ".example" with all names below it
    std::optional<IpNetwork> network = std::nullopt;   // instead of `host`: addresses as hosts of URLs
};

/// The proxy auto-configuration file of the forward listeners.
struct PacOptions {
    std::vector<PacProxy> proxies;   // empty: where the client has reached this proxy
    std::vector<PacDirect> direct;
    bool last_direct = false;   // without a proxy, if none can be reached
    bool spread = false;        // each host has an order of its own
    milliseconds max_age{300'000};
    bool wpad = false;   // also at /wpad.dat
};

struct Options {
    std::vector<Listen> listen{Listen{"127.0.0.1", 3128, std::nullopt}};
    Limits limits;
    Http2 http2;
    Deadlines deadlines;
    Caching caching;
    cache::InvalidationOptions group;
    http::AccessRules access;
    std::shared_ptr<RuleHits> rule_hits;   // of `access`; set by the server
    RefusalOptions refusals;
    PacOptions pac;
    bool logins = false;                    // auth.sources is not empty
    http::AccessRules purge;                // clients that may PURGE; empty: clients on loopback, no client at accelerators
    bool private_closed = false;            // destinations in private networks need a rule that names `destination`
    std::vector<http::AccessRule> misses;   // access rules for cache misses (Squid: miss_access); no matching rule allows
    ForwardedField forwarded = ForwardedField::by_listener;
    ForwardedReceived forwarded_received = ForwardedReceived::by_listener;
    std::vector<IpNetwork> forwarded_trust;   // gateways: their fields name the client, and are always passed on
    std::string via_name;                     // empty: Server sets "garner-" and a random number, unique to this process
    Log log;
    share::Options share;
    std::vector<share::CapRule> caps;
    std::vector<share::QuotaRule> quotas;
    bump::Options bump;   // the certificates of the CA are in Services::interception
};

}   // namespace garner::proxy
