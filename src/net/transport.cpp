#include "net/transport.hpp"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <cerrno>
#include <cstring>
#include <tuple>
#include <utility>

#include "net/carrier.hpp"
#include "net/early_read.hpp"
#include "net/iovecs.hpp"
#include "net/page_lender.hpp"
#include "net/receive.hpp"
#include "net/tls_session.hpp"
#include "util/check.hpp"

namespace garner::net {

namespace {

Error last_error() { return Error(errno, boost::system::system_category()); }

}   // namespace

Transport::Transport(TcpSocket socket, DeadlineWheel& wheel)
    : socket_(std::move(socket)), read_deadline_(
                                      wheel, [](void* self) { static_cast<Transport*>(self)->end_operations(); }, this),
      write_deadline_(
          wheel, [](void* self) { static_cast<Transport*>(self)->end_operations(); }, this) {}

Transport::Transport(Carrier& carrier, Executor executor, DeadlineWheel& wheel) : Transport(TcpSocket(executor), wheel) {
    carrier_ = &carrier;
}

Transport::~Transport() = default;

awaitable<IoResult> Transport::read_carrier(std::span<char> into, milliseconds limit) {
    for (;;) {
        auto const received = try_receive(into);
        if (received.error != asio::error::would_block) co_return received;
        Error error = co_await ready(TcpSocket::wait_read, read_deadline_, limit);
        if (error) co_return IoResult{error, 0};
    }
}

awaitable<IoResult> Transport::read_socket(std::span<char> into, HeadBuffer* late, milliseconds limit) {
    auto cancels = cancels_;
    Reading reading{.late = late, .into = into};
    DrainingBuffer const buffer(reading);
    auto* early = take_early_read();
    read_deadline_.arm(limit);
    for (;;) {
        std::tuple<Error, std::size_t> ended;
        if (early)
            ended = co_await early->join(into, late);
        else
            ended = co_await socket_.async_read_some(buffer, as_values);
        auto const [error, bytes] = ended;
        if (sat_out(error, cancels)) {
            if (read_deadline_.expired()) co_return IoResult{asio::error::timed_out, 0};
            early = nullptr;
            continue;
        }
        read_deadline_.disarm();
        received_ += bytes;
        drained_ = early ? early->drained() : reading.drained;
        co_return IoResult{error, bytes};
    }
}

/// The read of watch_idle(), if nothing has come before. It lives until it completes.
EarlyRead* Transport::take_early_read() {
    auto const early = std::exchange(early_, {}).lock();
    return early && early->is_open() ? early.get() : nullptr;
}

/// A reset that came together with the last bytes gives no event of its own.
awaitable<IoResult> Transport::read_drained(std::span<char> into, milliseconds limit) {
    drained_ = false;
    auto const received = try_receive(into);
    if (received.error != asio::error::would_block) co_return received;
    co_return co_await read_socket(into, nullptr, limit);
}

awaitable<Error> Transport::ready(TcpSocket::wait_type direction, Deadline& deadline, milliseconds limit) {
    auto cancels = cancels_;
    deadline.arm(limit);
    for (;;) {
        Error error;
        if (carrier_) {
            bool const receives = direction == TcpSocket::wait_read;
            error = co_await carrier_->ready(receives ? Carrier::Direction::receive : Carrier::Direction::send);
        } else {
            auto [outcome] = co_await socket_.async_wait(direction, as_values);
            error = outcome;
        }
        if (sat_out(error, cancels)) {
            if (deadline.expired()) co_return Error(asio::error::timed_out);
            continue;
        }
        deadline.disarm();
        co_return error;
    }
}

bool Transport::sat_out(Error const& error, std::uint64_t cancels) const {
    return error == asio::error::operation_aborted && cancels == cancels_ && is_open();
}

IoResult Transport::try_write(std::span<iovec>& parts, bool more) {
    while (!parts.empty() && parts.front().iov_len == 0) parts = parts.subspan(1);
    return tls_ ? try_write_tls(parts, more) : try_write_socket(parts, more);
}

IoResult Transport::try_lend(std::span<iovec>& parts) {
    return can_splice() ? send_parts(parts, PageLender::of_this_thread()) : try_write(parts);
}

IoResult Transport::try_write_socket(std::span<iovec>& parts, bool more) {
    if (!carrier_) return send_parts(parts, nullptr);
    auto const sent = carrier_->try_send(parts, more);
    sent_ += sent.bytes;
    return sent;
}

IoResult Transport::send_parts(std::span<iovec>& parts, PageLender* lender) {
    auto const socket = socket_.native_handle();
    std::size_t written = 0;
    while (!parts.empty()) {
        auto const n = lender ? lender->send(socket, parts) : send_copies(socket, parts);
        if (n < 0) {
            if (errno == EINTR) continue;
            if (errno == EAGAIN || errno == EWOULDBLOCK) return {asio::error::would_block, written};
            return {last_error(), written};
        }
        written += static_cast<std::size_t>(n);
        sent_ += static_cast<Bytes>(n);
        drop_front(parts, static_cast<std::size_t>(n));
    }
    return {{}, written};
}

IoResult Transport::try_receive(std::span<char> into) {
    if (carrier_) {
        auto const received = carrier_->try_receive(into);
        received_ += received.bytes;
        return received;
    }
    auto const received = receive(socket_.native_handle(), into);
    received_ += received.bytes;
    return {received.error, received.bytes};
}

awaitable<IoResult> Transport::read_some(std::span<char> into, milliseconds limit) {
    return drained_ && !tls_ ? read_drained(into, limit) : read_first(into, limit);
}

awaitable<IoResult> Transport::read_first(std::span<char> into, milliseconds limit) {
    if (tls_) return read_tls(into, limit);
    return carrier_ ? read_carrier(into, limit) : read_socket(into, nullptr, limit);
}

awaitable<IoResult> Transport::read_first(HeadBuffer& into, milliseconds limit) {
    if (!tls_ && !carrier_) return read_socket({}, &into, limit);
    into.take();
    return read_first(std::span<char>(into.data(), into.size()), limit);
}

awaitable<Error> Transport::wait_input(milliseconds limit) {
    if (!tls_) co_return co_await ready(TcpSocket::wait_read, read_deadline_, limit);
    if (tls_->has_unread()) co_return Error{};
    co_return co_await wait_for_ciphertext(limit);
}

IoResult Transport::try_read(std::span<char> into) {
    if (!tls_) return try_receive(into);
    for (;;) {
        auto const got = decrypt(into);
        if (got.error != asio::error::would_block) return got;
        if (Error error = receive_ciphertext()) return {error, 0};
    }
}

awaitable<IoResult> Transport::write(std::span<iovec> parts, milliseconds limit) { return write_all(parts, Pages::copied, limit); }

awaitable<IoResult> Transport::lend(std::span<iovec> parts, milliseconds limit) { return write_all(parts, Pages::lent, limit); }

awaitable<IoResult> Transport::write_all(std::span<iovec> parts, Pages pages, milliseconds limit) {
    std::size_t written = 0;
    for (;;) {
        auto result = pages == Pages::lent ? try_lend(parts) : try_write(parts);
        written += result.bytes;
        if (result.error != asio::error::would_block) co_return IoResult{result.error, written};
        Error error = co_await ready(TcpSocket::wait_write, write_deadline_, limit);
        if (error) co_return IoResult{error, written};
    }
}

awaitable<IoResult> Transport::write(std::string_view bytes, milliseconds limit) {
    iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    std::span<iovec> parts(&part, 1);
    co_return co_await write(parts, limit);
}

void Transport::cancel() {
    ++cancels_;
    end_operations();
}

void Transport::end_operations() {
    if (carrier_) return carrier_->cancel();
    Error ignored;
    socket_.cancel(ignored);
}

void Transport::shutdown_send() {
    if (tls_) tls_->close_notify();
    if (tls_) send_ciphertext();   // a peer that does not even read this correctly sees a truncation
    if (outer_) outer_->close_notify(), send_bytes(outer_->output());
    if (carrier_) return carrier_->shutdown_send();
    Error ignored;
    socket_.shutdown(TcpSocket::shutdown_send, ignored);
}

void Transport::end_sending() {
    if (tls_ || carrier_) shutdown_send();
}

void Transport::close_with_reset() {
    if (carrier_) return carrier_->close_with_reset();
    Error ignored;
    socket_.set_option(asio::socket_base::linger(true, 0), ignored);
    socket_.close(ignored);
}

/// Not a copy: Asio would leave a descriptor that another process has open in its epoll set.
int Transport::release() {
    Error ignored;
    return socket_.release(ignored);
}

std::optional<microseconds> Transport::round_trip() {
    tcp_info info{};
    socklen_t length = sizeof info;
    if (::getsockopt(descriptor(), IPPROTO_TCP, TCP_INFO, &info, &length) != 0 || info.tcpi_rtt == 0) return std::nullopt;
    return microseconds(info.tcpi_rtt);
}

Bytes Transport::acknowledged() {
    int waiting = 0;
    if (::ioctl(descriptor(), SIOCOUTQ, &waiting) != 0) waiting = 0;
    return sent_ - std::min<Bytes>(sent_, waiting);
}

void Transport::expect_life(milliseconds silence) {
    int const on = 1;
    int const probe_every = 1;   // seconds
    int const probes = std::max(static_cast<int>(std::chrono::ceil<seconds>(silence).count()) - 1, 1);
    ::setsockopt(descriptor(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    ::setsockopt(descriptor(), IPPROTO_TCP, TCP_KEEPIDLE, &probe_every, sizeof probe_every);
    ::setsockopt(descriptor(), IPPROTO_TCP, TCP_KEEPINTVL, &probe_every, sizeof probe_every);
    ::setsockopt(descriptor(), IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    limit_unacknowledged(std::max(silence, milliseconds{2'000}));
}

void Transport::limit_unacknowledged(milliseconds limit) {
    auto const millis = static_cast<unsigned>(limit.count());
    ::setsockopt(descriptor(), IPPROTO_TCP, TCP_USER_TIMEOUT, &millis, sizeof millis);
}

Transport::Arrived Transport::arrived() {
    if (tls_) return arrived_tls();
    char byte;
    auto n = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n > 0) return Arrived::bytes;
    return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? Arrived::nothing : Arrived::end;
}

/// Without a drained socket it would end at once; with TLS, session tickets may come.
void Transport::watch_idle() {
    if (tls_ || carrier_ || !drained_) return;
    early_ = EarlyRead::start(socket_);
    is_watched_ = true;
}

bool Transport::stale() {
    if (!std::exchange(is_watched_, false)) return arrived() != Arrived::nothing;
    auto const early = early_.lock();
    return !early || !early->is_open();
}

std::string Transport::tls_fault() const { return tls_fault_; }

}   // namespace garner::net
