// Listening sockets that the service manager opened (LISTEN_FDS), by their address.
#pragma once
#include <optional>
#include <span>

#include "proxy/listener.hpp"

namespace garner::proxy {

/// The socket that listens on this endpoint; nothing if there is none.
std::optional<int> inherited_socket(std::span<int const> sockets, net::TcpEndpoint const& endpoint);

/// A fault that names the first socket whose endpoint is not in `listening`: its clients would wait for ever.
Result<void> all_are_used(std::span<int const> sockets, std::span<IpEndpoint const> listening);

/// An acceptor with a duplicate of the socket: the workers accept from one queue.
Result<Acceptor> adopt(net::asio::io_context& io, int socket, net::TcpEndpoint const& endpoint);

}   // namespace garner::proxy
