// Request fields that speak for a gateway in front of the origin, or override what the request line says.
#pragma once
#include <string_view>

#include "http/message.hpp"

namespace garner::http {

/// True for a field by which gateways tell origins a client's address, scheme, host or URL (Forwarded, X-Forwarded-*, X-Real-IP,
/// X-Original-URL, …), for overrides of the method, and for Proxy. No cache key has them. Any case; '_' counts as '-', as in CGI.
bool is_gateway_field(std::string_view name);

/// True for Proxy alone: CGI programs take it for the environment variable HTTP_PROXY.
bool is_cgi_proxy(std::string_view name);

/// True when a field asks the origin for another method than the request's: X-HTTP-Method-Override and its kin.
bool has_method_override(Fields const&);

}  // namespace garner::http
