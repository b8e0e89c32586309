// Counts connections, and what they need, on their client, within limits.connections_per_client; starts the protocol of a connection.
#pragma once
#include <string_view>

#include "proxy/accepted.hpp"
#include "util/bytes.hpp"

namespace garner::proxy {

inline constexpr std::string_view limit_of_client = "limits.connections_per_client";
inline constexpr std::string_view limit_of_all = "limits.connections_max";

/// The address under which Shared::clients counts this one: its first bits.
IpAddress counted_client(Services const& services, IpAddress const& address);

/// Counts one more connection of the client. False if it has too many.
bool enter_client(Services& services, IpAddress const& address);

/// Counts one more connection of a load balancer, which speaks for many clients. False if connections that have not yet sent their
/// PROXY header, or whose header names no client, are a quarter of all that are permitted.
bool enter_balancer(Services& services, IpAddress const& address);

/// Counts one more connection to an origin, of a client whose own connections include no more; OriginSeats does so. Empty, or the key
/// of the limit that forbids it: then nothing is counted.
std::string_view enter_extra(Services& services, IpAddress const& address);

/// `accepted.peer` has become the client that a PROXY header names: its seat is moved to that client. False if the client has too
/// many connections; this is logged.
bool admit_named(Services& services, Accepted& accepted);

/// TLS or HTTP/1.1, or either on an intercepted connection.
void start_protocol(Services& services, Accepted accepted);

/// `sent`: bytes of the response. `limit`: the key of the limit.
void log_refused_client(Services& services, IpAddress const& client, Bytes sent, std::string_view limit);

}   // namespace garner::proxy
