#include "net/page_lender.hpp"

#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace garner::net {

namespace {

constexpr std::size_t most_parts = 64;        // per sendmsg; below every kernel's IOV_MAX
constexpr std::size_t pipe_bytes = MiB;       // the default of fs.pipe-max-size, the limit for users
constexpr std::size_t pipe_min = 256 * KiB;   // one whole part

bool is_lent(iovec const& part) { return part.iov_len >= PageLender::part_min; }

/// About how many bytes the socket accepts without waiting.
std::size_t room_of(int socket) {
    int size = 0, queued = 0;
    socklen_t length = sizeof size;
    bool const known = ::getsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, &length) == 0 && ::ioctl(socket, SIOCOUTQ, &queued) == 0;
    return known && size > queued ? static_cast<std::size_t>(size - queued) : 0;
}

}   // namespace

ssize_t send_copies(int socket, std::span<iovec const> parts, bool more) {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(parts.data());
    message.msg_iovlen = std::min(parts.size(), most_parts);
    return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT | (more ? MSG_MORE : 0));
}

PageLender* PageLender::of_this_thread() {
    static thread_local PageLender lender;
    return lender.usable() ? &lender : nullptr;
}

void PageLender::open() {
    int ends[2];
    if (::pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) return;
    out_ = ends[0];
    in_ = ends[1];
    bool const is_large = ::fcntl(in_, F_SETPIPE_SZ, static_cast<int>(pipe_bytes)) >= 0 ||
                          ::fcntl(in_, F_SETPIPE_SZ, static_cast<int>(pipe_min)) >= 0;
    if (!is_large) close();
}

void PageLender::close() {
    if (in_ < 0) return;
    ::close(out_);
    ::close(in_);
    out_ = in_ = -1;
}

ssize_t PageLender::send(int socket, std::span<iovec const> parts) {
    auto const first_lent = std::ranges::find_if(parts, is_lent);
    if (first_lent != parts.begin()) {
        auto const copied = static_cast<std::size_t>(first_lent - parts.begin());
        return send_copies(socket, parts.first(copied), first_lent != parts.end());
    }
    auto const behind = std::ranges::find_if_not(parts, is_lent);
    return lend(socket, parts.first(static_cast<std::size_t>(behind - parts.begin())));
}

/// Only whole parts that fit are lent. If the socket takes fewer bytes after all, which is rare, the pipe is closed with the others.
ssize_t PageLender::lend(int socket, std::span<iovec const> parts) {
    auto const fitting = std::min(parts.size(), room_of(socket) / part_min);
    if (fitting == 0) return send_copies(socket, parts);
    auto const lent = usable() ? ::vmsplice(in_, parts.data(), fitting, SPLICE_F_NONBLOCK) : -1;
    if (lent < 0) {
        close();
        return send_copies(socket, parts);
    }
    ssize_t sent = 0;
    while (sent < lent) {
        auto const bytes = ::splice(out_, nullptr, socket, nullptr, static_cast<std::size_t>(lent - sent), SPLICE_F_NONBLOCK);
        if (bytes < 0 && errno == EINTR) continue;
        if (bytes == 0) errno = EIO;
        if (bytes <= 0) break;
        sent += bytes;
    }
    if (sent == lent) return sent;
    int const error = errno;
    close();
    open();
    errno = error;
    return sent > 0 ? sent : -1;
}

}   // namespace garner::net
