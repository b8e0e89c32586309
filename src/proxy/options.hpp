// What the proxy room is told: one immutable snapshot; a transaction keeps the one it began with.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "http/message.hpp"
#include "http/rule.hpp"
#include "util/bytes.hpp"
#include "util/clock.hpp"
#include "util/least_rate.hpp"

namespace garner::proxy {

/// One listening address. With an origin it is an accelerator (reverse proxy) for it and takes origin-form.
struct Listen {
    std::string address;                   // "127.0.0.1"
    std::uint16_t port = 3128;
    std::optional<std::string> origin;     // "http://127.0.0.1:8000", validated, no path
    friend bool operator==(Listen const&, Listen const&) = default;
};

struct Limits {
    http::HeadLimits head;
    Bytes heads = 32 * MiB;                       // unfinished heads of all clients, beyond 4 KiB each
    std::uint32_t connections = 100'000;          // clients, all workers; lowered to what RLIMIT_NOFILE allows
    std::uint32_t connections_per_client = 0;     // 0: a quarter of all connections, no limit for loopback
    // Addresses that share so many leading bits are one client.
    std::uint8_t client_prefix4 = 32;
    std::uint8_t client_prefix6 = 64;             // one subscriber has at least a /64 (RFC 6177)
    LeastRate min_rate;                           // of bodies, in both directions
    std::uint32_t max_hops = 32;                  // Via entries before a request counts as looping
};

struct Deadlines {
    milliseconds head{30'000};            // from the first byte of a head to its last
    milliseconds keep_alive{120'000};     // between requests of a client
    milliseconds body{60'000};            // without progress of a body, either way
    milliseconds first_byte{60'000};      // from the request sent to the response head
    milliseconds abandoned{10'000};       // that a body which no client reads any more may take to its end
    milliseconds laggard{5'000};          // that a reader of a body which nobody keeps may hold the others back in all
    milliseconds fill{120'000};           // a follower waits this long at most for a fill to say anything
    milliseconds tunnel_idle{600'000};
    milliseconds tunnel_total{86'400'000};
    milliseconds drain{10'000};           // SIGTERM: running transactions get this long
};

/// How origins learn the client's address. `by_listener`: accelerators write X-Forwarded-For, -Proto and -Host, forward proxies
/// nothing.
enum class ForwardedField : std::uint8_t { by_listener, none, forwarded, x_forwarded_for };
/// Clients' own http::is_gateway_field. `by_listener`: removed by accelerators, kept by forward proxies.
enum class ForwardedReceived : std::uint8_t { by_listener, keep, remove };

struct Caching {
    std::vector<std::string> never;       // URL substrings that are not cached
    milliseconds default_ttl{0};          // for what has no freshness of its own
    milliseconds negative_first{5'000};   // that a failure is remembered at first
    milliseconds negative_ttl{300'000};   // and at most
    bool negative_backoff = true;
    milliseconds follow_patience{1'000};  // that a follower waits at least for its leader's head; then it may fetch too
    bool offline = false;
    bool store_set_cookie = false;        // also without public or s-maxage
    bool range_fetches_whole = false;
    std::vector<std::string> key_fields;  // request fields that select among responses, beside those of Vary
    std::vector<std::string> targeted_cache_control;   // in order of preference (RFC 9213)
    std::vector<http::CachingRule> rules;
};

enum class LogFormat : std::uint8_t { squid, combined, json };

struct Log {
    std::string access = "-";             // "-": standard output; "": none
    LogFormat format = LogFormat::squid;
    bool query = true;                    // URLs with their query; false: up to '?'
    std::string level = "info";           // debug, info, warn, error
};

struct Options {
    std::vector<Listen> listen{Listen{"127.0.0.1", 3128, std::nullopt}};
    Limits limits;
    Deadlines deadlines;
    Caching caching;
    http::AccessRules access;
    std::vector<http::AccessRule> purge;  // who may PURGE; empty: clients on loopback, at accelerators no client
    bool private_closed = false;          // destinations in private networks need a rule that names `destination`
    std::vector<http::AccessRule> misses; // who may have what is not stored; where none matches: everybody
    ForwardedField forwarded = ForwardedField::by_listener;
    ForwardedReceived forwarded_received = ForwardedReceived::by_listener;
    std::vector<IpNetwork> forwarded_trusted;   // clients whose gateway fields are passed on all the same
    std::string via_name;                 // empty: "garner-" and a random number, unique to this process
    Log log;
};

}  // namespace garner::proxy
