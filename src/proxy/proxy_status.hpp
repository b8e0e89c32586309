// Proxy-Status of refusals (RFC 9209). Pure.
#pragma once
#include <string>
#include <string_view>

namespace garner::proxy {

/// "Proxy-Status: garner-1f; error=http_request_denied; details=\"exams\"; id=\"1764078120.123-9f3a0c1d\"\r\n". `details` may
/// have any bytes and is cut to 200; `server` is a token. `by_destination`: the address of the origin is the reason.
std::string proxy_status(std::string_view server, bool by_destination, std::string_view details, std::string_view id);

}   // namespace garner::proxy
