// Counts a connection as one of its client, within limits.connections_per_client, and starts its protocol.
#pragma once
#include "proxy/accepted.hpp"
#include "util/bytes.hpp"

namespace garner::proxy {

/// The address under which Shared::clients counts this one: its first bits.
IpAddress counted_client(Services const& services, IpAddress const& address);

/// Counts one more connection of the client. False if it has too many.
bool enter_client(Services& services, IpAddress const& address);

/// `accepted.peer` has become the client that a PROXY header names: its seat is moved to that client. False if the client has too
/// many connections; this is logged.
bool admit_named(Services& services, Accepted& accepted);

/// TLS or HTTP/1.1, or either on an intercepted connection.
void start_protocol(Services& services, Accepted accepted);

/// `sent`: bytes of the response.
void log_refused_client(Services& services, IpAddress const& client, Bytes sent);

}   // namespace garner::proxy
