// One line of the access log: its fields, and its formats.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "icp/source.hpp"
#include "net/proxy_protocol.hpp"
#include "proxy/options.hpp"
#include "util/bytes.hpp"
#include "util/clock.hpp"

namespace garner::proxy {

/// How a request was answered: Squid's result codes (Squid wiki, "Squid result codes").
enum class ResultTag : std::uint8_t {
    none,      // an answer to a malformed or incomplete request
    tcp_hit,   // from disk
    tcp_mem_hit,
    tcp_negative_hit,   // a stored error
    tcp_offline_hit,
    tcp_ims_hit,   // the client's If-Modified-Since answered with 304 from the cache
    tcp_inm_hit,   // its If-None-Match
    tcp_cf_hit,    // collapsed: joined another client's fetch
    tcp_miss,
    tcp_cf_miss,               // waited for another client's fetch, then fetched for itself
    tcp_refresh_unmodified,    // revalidated: 304
    tcp_refresh_modified,      // revalidated: a new response
    tcp_refresh_fail_old,      // revalidation failed, stale served
    tcp_refresh_fail_err,      // revalidation failed, the error served
    tcp_client_refresh_miss,   // the client sent no-cache
    tcp_denied,
    tcp_tunnel,
    count_
};

using icp::Hierarchy;

std::string_view name_of(ResultTag);

/// Views must live until the entry has been written. Empty text means that there is no value. Fields need no cleaning:
/// every format escapes bytes that could end a field or a line, and truncates fields at LogFieldLimits.
struct LogEntry {
    WallTime end{};            // when the last byte was sent to the client; an error page: the time in its id
    milliseconds elapsed{0};   // since the request's first byte
    std::string_view client;   // the client's address, as text
    std::string_view user;
    ResultTag tag = ResultTag::none;
    bool aborted = false;       // the client disconnected before the end
    bool truncated = false;     // the source aborted the body; the client has only its beginning
    std::uint16_t status = 0;   // 0: no response was sent
    Bytes bytes = 0;            // to the client, head and body
    std::string_view method;
    std::string_view url;
    std::string_view version = "1.1";   // of HTTP
    Hierarchy hierarchy = Hierarchy::none;
    bool peers_timed_out = false;   // some queried peers had not replied
    std::string_view peer;          // the origin's or peer's address or name
    std::string_view peer_reach;    // how the request reached the peer: "TLS"; empty: the source is no peer
    std::string_view content_type;
    std::string_view referer;
    std::string_view user_agent;
    net::ProxyHeader const* proxy_header = nullptr;   // with which the connection began; null: none with TLVs
    std::string_view trace;                           // the trace id of traceparent; empty: none
    std::string_view reason;                          // Garner's own reason: the rule that decided
    std::string_view cache_status;                    // sent to the client (RFC 9211)
    std::string_view rule;   // the access rule that refused, as the client was told; empty for other responses
    std::string_view id;     // the id in the error page that was sent; empty for other responses
};

/// The most bytes a field takes in a line, after escaping.
struct LogFieldLimits {
    static constexpr std::size_t url = 8 * KiB;
    static constexpr std::size_t referer = 2 * KiB;
    static constexpr std::size_t user_agent = 1 * KiB;
    static constexpr std::size_t cache_status = 512;
    static constexpr std::size_t other = 256;
};

/// Large enough for any line.
using LineBuffer = std::array<char, 16 * KiB>;

/// The line with its newline, inside the buffer. Allocates nothing.
///   squid     Squid's default logformat: time.ms elapsed client tag/status bytes method url user hierarchy/peer type
///   combined  Apache's; in UTC, with the id as ident
///   json      one object a line, valid UTF-8; the only one with trace, TLVs of PROXY headers, reason, cache status and the way to
///             the peer; the id, if any, is its last member
std::string_view format_line(LogFormat, LogEntry const&, LineBuffer&);

}   // namespace garner::proxy
