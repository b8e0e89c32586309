// Accepting TCP connections with few system calls.
#pragma once
#include <sys/socket.h>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <cerrno>

#include "net/asio.hpp"

namespace garner::net {

/// Its async_accept() calls accept4(): the sockets are non-blocking and close-on-exec.
using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, Executor>;

/// Right after async_accept(). Asio then knows that the socket is non-blocking, and that no other process has it: close() removes it
/// from the epoll set. Only release() gives it to another process.
void note_sole_owner(TcpSocket& socket);

}   // namespace garner::net

template <>
inline boost::asio::detail::reactor_op::status
boost::asio::detail::reactive_socket_accept_op_base<garner::net::TcpSocket, boost::asio::ip::tcp>::do_perform(reactor_op* base) {
    auto& op = *static_cast<reactive_socket_accept_op_base*>(base);
    auto* const address = op.peer_endpoint_ ? static_cast<sockaddr*>(op.peer_endpoint_->data()) : nullptr;
    auto length = static_cast<socklen_t>(op.addrlen_);
    int socket = 0;
    do socket = ::accept4(op.socket_, address, address ? &length : nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    while (socket < 0 && errno == EINTR);
    bool const is_gone = errno == ECONNABORTED || errno == EPROTO;   // the client has left the queue
    if (socket < 0 && (errno == EAGAIN || is_gone)) return not_done;
    op.ec_ = socket < 0 ? garner::net::Error(errno, boost::system::system_category()) : garner::net::Error();
    op.addrlen_ = length;
    op.new_socket_.reset(socket);
    return done;
}
