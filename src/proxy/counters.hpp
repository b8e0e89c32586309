// One worker's request counters: written by that worker only, readable from any thread.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <unordered_map>

#include "h2/connection_counters.hpp"
#include "http/cacheability.hpp"
#include "http/freshness.hpp"
#include "net/proxy_protocol.hpp"
#include "net/tls_session.hpp"
#include "util/bytes.hpp"
#include "util/counter.hpp"
#include "util/ip.hpp"
#include "util/mutex.hpp"

namespace garner::proxy {

// clang-format off
/// How a request was answered, for the operator's counters.
enum class Answer : std::uint8_t {
    hit, miss, revalidated, refreshed, collapsed, stale, negative, passed, tunnelled, refused, failed, purged, own, count_
};
// clang-format on

/// Why a stale response was served.
enum class StaleUse : std::uint8_t {
    while_revalidate,     // RFC 5861 3
    max_stale,            // the client allows it
    offline,              // caching.offline
    if_error,             // RFC 5861 4
    unreachable,          // RFC 9111 4.2.4
    unreachable_lately,   // a remembered failure (RFC 9111 4.2.4)
    count_
};
/// For Cache-Status and logs.
char const* text(StaleUse);

/// The end of the rules of interception for a tunnel.
enum class Intercepted : std::uint8_t {
    spliced,
    bumped,
    page,   // the access rules deny the tunnel, and the client gets a page inside
    terminated,
    refused,   // a rule bumps the tunnel, but its first bytes do not allow that
    count_
};
char const* text(Intercepted);

/// The beginnings of connections to intercepting listeners.
enum class InterceptedBegin : std::uint8_t {
    http,
    tls,         // a ClientHello: the bytes are passed on
    direct,      // the client has connected to the proxy itself
    loop,        // the firewall diverts TLS that Garner passes on
    not_tls,     // the first byte is that of TLS, the next ones are not
    malformed,   // the ClientHello has an error, or more than 64 KiB
    timed_out,   // deadlines.head
    closed,      // the client has disconnected before
    count_
};
char const* text(InterceptedBegin);

/// The result of a check of credentials: auth::LoginAnswer::Kind.
enum class LoginResult : std::uint8_t { accepted, rejected, limited, unavailable, count_ };
char const* text(LoginResult);

/// The source of a response that members of the group replicate.
enum class ReplicationSource : std::uint8_t { parent, sibling, origin, count_ };
char const* text(ReplicationSource);

/// The versions of HTTP in which clients speak.
enum class Protocol : std::uint8_t { http1, http2, count_ };
char const* text(Protocol);

/// Connections of one protocol, including those inside decrypted tunnels. Those that have begun and not ended are open.
struct ProtocolCounters {
    CounterOf<Protocol> connections_begun;
    CounterOf<Protocol> connections_ended;
    CounterOf<Protocol> connections_continued;   // begun again: another process had counted them, or this one before a takeover
};

/// TLS with clients.
struct TlsCounters {
    CounterOf<net::ProxyHeaderFault> proxy_headers;   // by result
    CounterOf<InterceptedBegin> intercepted_begun;
    CounterOf<net::HandshakeFault> handshakes;   // by result
    Counter handshakes_resumed;
    CounterOf<Intercepted> intercepted;   // tunnels, while a rule bumps or terminates
    CounterOf<LoginResult> logins;        // checked credentials; remembered ones are not counted
    Counter bump_refused;                 // clients that refused a minted certificate of a valid origin
};

struct Counters : TlsCounters, ProtocolCounters, h2::Counters {
    Counter connections;             // accepted
    Counter connections_refused;     // over a limit
    Counter connections_displaced;   // waiting for a request; closed for others at limits.connections_max
    std::array<Counter, static_cast<std::size_t>(Answer::count_)> answers;
    Counter client_received;   // bytes
    Counter client_sent;
    Counter client_hit_bytes;    // bodies sent from the store
    Counter client_body_bytes;   // all bodies sent; tunnel bytes are not counted
    Counter origin_received;     // bytes; those from peers are not counted
    Counter origin_sent;
    Counter origin_connections;
    Counter origin_reused;
    Counter origin_retries;
    Counter origin_failures;
    Counter resumed;                           // bodies that were truncated by a peer and continued from another source
    Counter refreshes;                         // background revalidations of responses that were served stale
    CounterOf<ReplicationSource> replicated;   // bytes received
    Counter client_aborts;
    CounterOf<http::StoreRefusal> not_stored;   // responses that were considered for storing
    CounterOf<http::Bypass> passed;
    CounterOf<http::ReuseReason> not_fresh;   // stored, but the origin had to be asked first
    CounterOf<StaleUse> stale_used;
    Counter accept_paused;   // times that accepting was paused near the descriptor limit
    Histogram hit_time;      // microseconds from the request's head to the response's last byte
    Histogram miss_time;

    void add_origin_traffic(Bytes received, Bytes sent) {
        origin_received.add(received);
        origin_sent.add(sent);
    }
};

/// Connections by client address; thread-safe.
class ClientCounts {
public:
    /// False, and nothing is counted, when the client has `limit` connections already; 0: no limit.
    bool enter(IpAddress const& client, std::uint32_t limit);
    void leave(IpAddress const& client);
    /// The client with most connections, or nothing when that client has one connection. A loopback client is returned only
    /// if it has three quarters of all connections, or there is no other client. Scans all clients.
    std::optional<IpAddress> busiest() const;

private:
    struct Hash {
        std::size_t operator()(IpAddress const& address) const;
    };
    mutable Mutex mutex_;
    std::unordered_map<IpAddress, std::uint32_t, Hash> counts_ GUARDED_BY(mutex_);
};

}   // namespace garner::proxy
