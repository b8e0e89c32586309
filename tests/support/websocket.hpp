// A minimal WebSocket (RFC 6455): text frames shorter than 64 KiB, echoed by the origin, masked by the client.
#pragma once
#include <string>
#include <string_view>

#include "support/origin.hpp"

namespace garner::test {

/// One text frame; clients mask it.
std::string websocket_frame(std::string_view text, bool masked);

/// The next frame's payload, unmasked; empty if the peer closes.
std::string take_websocket_frame(Wire&);

/// A script: answers the handshake and echoes frames until the client closes.
void websocket_echo(Hand&);

}   // namespace garner::test
