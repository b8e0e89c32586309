// Error responses of the proxy in HTML, plain text or JSON.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "cache/fill.hpp"
#include "http/message.hpp"
#include "proxy/error_help.hpp"

namespace garner::proxy {

struct ErrorPage {
    std::uint16_t status = 500;
    cache::FailureKind kind = cache::FailureKind::other;
    std::string_view what;      // the technical reason
    std::string_view rule;      // the deciding rule: "access[2]: deny"; may be empty
    std::string_view because;   // the reason that the rule gives; may be empty. Its http and https URLs are links in HTML
    RefusedFor subject = RefusedFor::address;   // of the rule
    std::string_view host;                      // the server's name for the heading; empty: none is shown
    std::string_view url;                       // may be empty
    std::string_view server;                    // the proxy's name
    std::string_view id;                        // the request id, also in the access log
};

enum class ErrorFormat : std::uint8_t { text, html, json };

/// By Accept (RFC 9110 12.5.1). Plain text if the client has no preference: curl, wget and most libraries send "*/*" only, and
/// browsers name text/html. JSON if the client prefers application/json or application/problem+json.
ErrorFormat error_format(http::Fields const& request);
/// The value of Content-Type.
std::string_view content_type(ErrorFormat);

/// Text from outside is truncated to 512 bytes and escaped; bytes other than printable ASCII become '?'. HTML has no scripts and
/// loads nothing. JSON is a problem detail (RFC 9457).
std::string error_page(ErrorPage const&, ErrorFormat);

}   // namespace garner::proxy
