// A client's request made one for the whole response, to be asked in that client's name when it may be gone.
#pragma once
#include <string>
#include <string_view>

#include "http/message.hpp"

namespace garner::proxy {

/// A GET with its blank line, without conditions, ranges and hop-by-hop fields. HTTP/1.0 may have come without Host:
/// `host` is its value then.
std::string whole_request(http::RequestHead const& head, std::string_view host);

}  // namespace garner::proxy
