// Logins at origins that belong to a connection (Negotiate, NTLM): clients must not share it.
#pragma once
#include <memory>
#include <string_view>

#include "proxy/client.hpp"

namespace garner::proxy {

/// True for credentials and challenges whose scheme authenticates the connection, not the request (RFC 4559 6).
bool authenticates_connection(std::string_view value);

/// True if a request has such credentials for its origin.
bool authenticates_connection(http::Fields const& request);

/// The client with connections to origins that no other client uses. Thread-safe.
std::shared_ptr<Client const> with_own_connections(std::shared_ptr<Client const> client);

}   // namespace garner::proxy
