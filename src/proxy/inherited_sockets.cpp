#include "proxy/inherited_sockets.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "net/address.hpp"

namespace garner::proxy {

namespace asio = net::asio;

namespace {

/// Nothing for a socket that does not listen for TCP connections.
std::optional<net::TcpEndpoint> endpoint_of(int socket) {
    int listens = 0;
    socklen_t size = sizeof(listens);
    if (::getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0) return std::nullopt;
    net::TcpEndpoint endpoint;
    size = static_cast<socklen_t>(endpoint.capacity());
    if (::getsockname(socket, endpoint.data(), &size) != 0) return std::nullopt;
    auto const family = endpoint.data()->sa_family;
    if (family != AF_INET && family != AF_INET6) return std::nullopt;
    return endpoint;
}

Fault unused(std::string const& socket, char const* what) {
    return {.what = what,
            .mend = "add its address to the key listen, or remove it from garner.socket",
            .where = socket + " of the service manager"};
}

}   // namespace

std::optional<int> inherited_socket(std::span<int const> sockets, net::TcpEndpoint const& endpoint) {
    auto const found = std::ranges::find_if(sockets, [&](int socket) { return endpoint_of(socket) == endpoint; });
    return found == sockets.end() ? std::nullopt : std::optional(*found);
}

Result<void> all_are_used(std::span<int const> sockets, std::span<IpEndpoint const> listening) {
    for (int const socket : sockets) {
        auto const endpoint = endpoint_of(socket);
        if (!endpoint) return unused("descriptor " + std::to_string(socket), "it is not a listening TCP socket");
        IpEndpoint const at{net::to_ip(endpoint->address()), endpoint->port()};
        if (std::ranges::find(listening, at) == listening.end())
            return unused("socket " + at.text(), "the configuration does not listen on it");
    }
    return {};
}

Result<Acceptor> adopt(asio::io_context& io, int socket, net::TcpEndpoint const& endpoint) {
    Acceptor acceptor(io);
    net::Error error;
    int const copy = ::fcntl(socket, F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        error.assign(errno, asio::error::get_system_category());
    else
        acceptor.assign(endpoint.protocol(), copy, error);
    if (!error) return acceptor;
    if (copy >= 0) ::close(copy);
    return Fault{.what = error.message(), .where = "cannot use the socket of the service manager"};
}

}   // namespace garner::proxy
