#include "net/original_destination.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

#include "net/address.hpp"
#include "net/handed_sockets.hpp"

namespace garner::net {
namespace {

constexpr int original_dst = 80;   // SO_ORIGINAL_DST and IP6T_SO_ORIGINAL_DST, whose headers clash with netinet/in.h

/// The destination before NAT, by the connection tracking of the kernel.
std::optional<IpEndpoint> redirected_from(int connection, bool is_v4) {
    sockaddr_storage original{};
    socklen_t size = sizeof original;
    int const level = is_v4 ? SOL_IP : SOL_IPV6;
    if (::getsockopt(connection, level, original_dst, &original, &size) != 0) return std::nullopt;
    return to_endpoint(reinterpret_cast<sockaddr const&>(original));
}

struct Option {
    int level, name;
};

/// IPv4 connections to an IPv6 socket follow its option, too.
Option transparent_option(int socket) {
    int domain = AF_INET;
    socklen_t size = sizeof domain;
    ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size);
    return domain == AF_INET6 ? Option{SOL_IPV6, IPV6_TRANSPARENT} : Option{SOL_IP, IP_TRANSPARENT};
}

bool is_transparent(int socket) {
    auto const [level, name] = transparent_option(socket);
    int value = 0;
    socklen_t size = sizeof value;
    ::getsockopt(socket, level, name, &value, &size);
    return value != 0;
}

}   // namespace

std::optional<IpEndpoint> original_destination(int connection, Intercept how) {
    auto const own = bound_endpoint(connection);
    if (how != Intercept::redirect || !own) return own;
    return redirected_from(connection, own->address.is_v4());
}

Error set_transparent(int socket, bool on) {
    if (is_transparent(socket) == on) return {};
    auto const [level, name] = transparent_option(socket);
    int const value = on ? 1 : 0;
    if (::setsockopt(socket, level, name, &value, sizeof value) == 0) return {};
    return {errno, asio::error::get_system_category()};
}

Error may_set_transparent(int socket, bool on) {
    if (!on || is_transparent(socket)) return {};
    Error error;
    asio::io_context io;
    TcpSocket probe(io);
    probe.open(asio::ip::tcp::v4(), error);
    return error ? error : set_transparent(probe.native_handle(), on);
}

}   // namespace garner::net
