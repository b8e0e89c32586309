// Writes request and response heads: always serialised from the parsed form.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/cache_control.hpp"
#include "http/cache_status.hpp"
#include "http/framing.hpp"
#include "http/message.hpp"
#include "http/validation.hpp"
#include "proxy/client.hpp"
#include "proxy/options.hpp"

namespace garner::proxy {

/// The parts of a request to an origin in addition to the client's own end-to-end fields.
struct RequestExtras {
    std::string_view target;            // origin-form; to a peer absolute-form
    std::string_view host;              // the Host field's value
    std::string_view via;               // this proxy's name
    std::string_view version = "1.1";   // HTTP version of the client's request
    std::string_view forwarded_lines;   // each with its CRLF, or empty
    http::Framing body;                 // none, length or chunked
    http::Validators validators;        // for a conditional request; empty: none
    bool strip_conditions = false;      // the client's preconditions and Range are not sent
    std::string_view range_lines;       // own Range and If-Range, each with its CRLF, or empty
    std::string_view peer_lines;        // for the next cache, each with its CRLF, or empty
    bool strip_gateway = false;         // the client's http::is_gateway_field fields are not sent; Proxy never is
    bool strip_range = false;           // the client's Range and If-Range are not sent
    bool upgrade = false;
    std::optional<std::uint32_t> max_forwards;
};
void append_request_head(http::RequestHead const&, RequestExtras const&, std::string& out);

/// Proxy-Authorization (RFC 7617) with its CRLF, for "user:password"; nothing for an empty login.
void append_peer_login(std::string_view login, std::string& out);

/// A Forwarded (RFC 7239) or X-Forwarded-For line with its CRLF; empty for none.
std::string forwarded_line(ForwardedField kind, std::string_view client);
/// The address for these lines: a client that a gateway has named is in the fields that the gateway has written.
std::string sender_text(Client const& client);
/// X-Forwarded-For, X-Forwarded-Proto and X-Forwarded-Host, each with its CRLF. The last two are left out where `kept`
/// (client fields that are passed on) has them. `host` comes from the cache key: a client's own Host value is in no key.
std::string forwarded_lines(Client const& client, std::string_view host, http::Fields const* kept);

/// Status line and end-to-end fields of a response, without Age, Content-Length and the blank line: the stored and sent
/// form of a head. Adds a missing Date. `storing`: leaves out fields that Cache-Control forbids to store.
void append_response_head(http::ResponseHead const&, http::ResponseCacheControl const* storing, std::int64_t now_seconds,
                          std::string& out);
void append_status_line(std::uint16_t status, std::string_view reason, std::string& out);
/// The standard reason phrase, or "".
std::string_view reason_phrase(std::uint16_t status);

/// The rest of a response head: the fields that differ between deliveries.
struct Patch {
    std::optional<std::uint32_t> age;
    http::CacheStatus status;
    std::optional<std::uint64_t> content_length;
    bool chunked = false;
    bool close = false;
    std::string_view extra;   // further lines, each with CRLF; at most 256 bytes
};
/// Large enough for a patch with its blank line; writing one allocates nothing.
using PatchBuffer = std::array<char, 1024>;
/// `signature`: see signature_of(); the name in the status is not written.
std::string_view write_patch(PatchBuffer&, Patch const&, std::string_view signature);
/// The Via line, and the Cache-Status line up to its parameters. `via`: this proxy's name, at most 255 bytes.
std::string signature_of(std::string_view via);

}   // namespace garner::proxy
