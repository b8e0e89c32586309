// The check of an origin's WebSocket handshake for clients that cannot make it themselves.
#pragma once
#include "http/message.hpp"

namespace garner::proxy {

/// For a 101 to a request of an HTTP/2 client, which sees neither the key nor its digest (RFC 8441 5). Null if the response
/// completes the handshake (RFC 6455 4.1), else the reason, a literal. Pure.
char const* fault_of_websocket(http::RequestHead const& request, http::ResponseHead const& response);

}   // namespace garner::proxy
