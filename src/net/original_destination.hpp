// The address that a client has connected to, where the kernel has diverted its connection to this process.
#pragma once
#include <optional>

#include "net/asio.hpp"
#include "net/options.hpp"
#include "util/ip.hpp"

namespace garner::net {

/// The destination of an accepted connection before it was diverted. If the client has connected to the listening address itself:
/// that address, or nothing.
std::optional<IpEndpoint> original_destination(int connection, Intercept how);

/// Lets a bound TCP socket accept connections to addresses of other hosts (IP_TRANSPARENT), or no longer. Connections that it
/// accepts keep the setting. Without CAP_NET_ADMIN only the end is permitted.
Error set_transparent(int socket, bool on);
/// The error that set_transparent() would return. Changes nothing.
Error may_set_transparent(int socket, bool on);

}   // namespace garner::net
