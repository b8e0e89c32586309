// Turns a client's request into one for the whole response, to be sent in that client's name even after it disconnected.
#pragma once
#include <string>
#include <string_view>

#include "http/message.hpp"

namespace garner::proxy {

/// A GET with its blank line, without conditions, ranges and hop-by-hop fields. `host`: the Host value, because an HTTP/1.0
/// request may have none.
std::string whole_request(http::RequestHead const& head, std::string_view host);

}   // namespace garner::proxy
