#include "net/receive.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <boost/asio/error.hpp>
#include <cerrno>
#include <cstring>

namespace garner::net {

namespace {

Error error_of_read() {
    if (errno == EAGAIN || errno == EWOULDBLOCK) return asio::error::would_block;
    // The kernel has timed out the connection. A caller could mistake this for its own deadline, read on, and see an orderly end.
    if (errno == ETIMEDOUT) return asio::error::connection_reset;
    return Error(errno, boost::system::system_category());
}

/// The kernel tells with each read how many bytes are left: one, if only the end is left (tcp(7), TCP_INQ).
bool is_drained(msghdr& message) {
    auto const* told = CMSG_FIRSTHDR(&message);
    if (!told || told->cmsg_level != SOL_TCP || told->cmsg_type != TCP_CM_INQ) return false;
    int left = 0;
    std::memcpy(&left, CMSG_DATA(told), sizeof left);
    return left == 0;
}

}   // namespace

void report_drained(int descriptor) {
    int const on = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_INQ, &on, sizeof on);
}

Received receive(int descriptor, std::span<char> into) {
    alignas(cmsghdr) char told[CMSG_SPACE(sizeof(int))];
    iovec part{into.data(), into.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = told;
    message.msg_controllen = sizeof told;
    ssize_t n;
    do n = ::recvmsg(descriptor, &message, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n < 0) return {error_of_read(), 0, false};
    if (n == 0) return {asio::error::eof, 0, false};
    return {Error(), static_cast<std::size_t>(n), is_drained(message)};
}

bool is_readable(int descriptor) {
    pollfd polled{descriptor, POLLIN, 0};   // recv() would take the error of a reset, even with MSG_PEEK
    return ::poll(&polled, 1, 0) != 0;
}

}   // namespace garner::net
