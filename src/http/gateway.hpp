// Request fields that a gateway in front of the origin sets, or that override the request line.
#pragma once
#include <string_view>

#include "http/message.hpp"

namespace garner::http {

/// True for a field by which gateways tell origins a client's address, scheme, host or URL (Forwarded, X-Forwarded-*,
/// X-Real-IP, X-Original-URL, …), for method overrides, and for Proxy. No cache key includes them. Any case; '_' counts as
/// '-', like in CGI.
bool is_gateway_field(std::string_view name);

/// True for Proxy only: CGI programs read it as the environment variable HTTP_PROXY.
bool is_cgi_proxy(std::string_view name);

/// True when a field asks the origin for another method than the request's: X-HTTP-Method-Override and similar.
bool has_method_override(Fields const&);

}   // namespace garner::http
