#include "net/transport.hpp"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <cerrno>
#include <cstring>

#include "net/tls.hpp"
#include "util/check.hpp"

namespace garner::net {

namespace {

Error last_error() { return Error(errno, boost::system::system_category()); }

/// Drops the first `bytes` of `parts`, and then leading empty parts.
void drop_front(std::span<iovec>& parts, std::size_t bytes) {
    while (bytes > 0 && bytes >= parts.front().iov_len) {
        bytes -= parts.front().iov_len;
        parts = parts.subspan(1);
    }
    if (bytes > 0) {
        parts.front().iov_base = static_cast<char*>(parts.front().iov_base) + bytes;
        parts.front().iov_len -= bytes;
    }
    while (!parts.empty() && parts.front().iov_len == 0) parts = parts.subspan(1);
}

constexpr std::size_t most_parts = 64;                   // per sendmsg; below every kernel's IOV_MAX
constexpr std::size_t ciphertext_per_send = 60 * 1024;   // one more record still fits in a TlsBuffer
constexpr std::size_t unsent_answers_max = 256 * 1024;   // for a peer that causes replies and reads nothing
constexpr int ticket_batches_max = 8;

/// The next record's plaintext: a view of the first part if that fills a record, else a copy of several parts, valid until
/// the next call on this thread. The first part is not empty.
std::string_view next_record(std::span<iovec> parts) {
    thread_local std::array<char, TlsSession::record_max> gathered;
    auto const& first = parts.front();
    if (parts.size() == 1 || first.iov_len >= gathered.size())
        return {static_cast<char const*>(first.iov_base), std::min(first.iov_len, gathered.size())};
    std::size_t size = 0;
    for (auto const& part : parts) {
        auto count = std::min(part.iov_len, gathered.size() - size);
        if (count > 0) std::memcpy(gathered.data() + size, part.iov_base, count);
        size += count;
    }
    return {gathered.data(), size};
}

}   // namespace

Transport::Transport(TcpSocket socket, DeadlineWheel& wheel)
    : socket_(std::move(socket)), read_deadline_(
                                      wheel, [](void* self) { static_cast<Transport*>(self)->end_operations(); }, this),
      write_deadline_(
          wheel, [](void* self) { static_cast<Transport*>(self)->end_operations(); }, this) {}

Transport::~Transport() = default;

awaitable<IoResult> Transport::read_socket(std::span<char> into, milliseconds limit) {
    auto cancels = cancels_;
    asio::mutable_buffer buffer(into.data(), into.size());
    read_deadline_.arm(limit);
    for (;;) {
        auto [error, bytes] = co_await socket_.async_read_some(buffer, as_values);
        if (sat_out(error, cancels)) {
            if (read_deadline_.expired()) co_return IoResult{asio::error::timed_out, 0};
            continue;
        }
        read_deadline_.disarm();
        // The kernel has timed out the connection. A caller could mistake this for its own deadline, read on, and see an
        // orderly end.
        if (error == asio::error::timed_out) error = asio::error::connection_reset;
        received_ += bytes;
        co_return IoResult{error, bytes};
    }
}

awaitable<IoResult> Transport::write_socket(std::span<iovec> parts, milliseconds limit) {
    std::size_t written = 0;
    for (;;) {
        auto result = try_write(parts);
        written += result.bytes;
        if (result.error != asio::error::would_block) co_return IoResult{result.error, written};
        Error error = co_await ready(TcpSocket::wait_write, write_deadline_, limit);
        if (error) co_return IoResult{error, written};
    }
}

awaitable<Error> Transport::ready(TcpSocket::wait_type direction, Deadline& deadline, milliseconds limit) {
    auto cancels = cancels_;
    deadline.arm(limit);
    for (;;) {
        auto [error] = co_await socket_.async_wait(direction, as_values);
        if (sat_out(error, cancels)) {
            if (deadline.expired()) co_return Error(asio::error::timed_out);
            continue;
        }
        deadline.disarm();
        co_return error;
    }
}

bool Transport::sat_out(Error const& error, std::uint64_t cancels) const {
    return error == asio::error::operation_aborted && cancels == cancels_ && socket_.is_open();
}

IoResult Transport::try_write(std::span<iovec>& parts) {
    while (!parts.empty() && parts.front().iov_len == 0) parts = parts.subspan(1);
    if (tls_) return {asio::error::would_block, 0};
    std::size_t written = 0;
    while (!parts.empty()) {
        msghdr message{};
        message.msg_iov = parts.data();
        message.msg_iovlen = std::min(parts.size(), most_parts);
        auto n = ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
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

awaitable<IoResult> Transport::read_some(std::span<char> into, milliseconds limit) {
    return tls_ ? read_tls(into, limit) : read_socket(into, limit);
}

awaitable<IoResult> Transport::write(std::span<iovec> parts, milliseconds limit) {
    return tls_ ? write_tls(parts, limit) : write_socket(parts, limit);
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
    Error ignored;
    socket_.cancel(ignored);
}

void Transport::shutdown_send() {
    if (tls_) {
        tls_->close_notify();
        send_ciphertext();   // a peer that does not even read this correctly sees a truncation
    }
    Error ignored;
    socket_.shutdown(TcpSocket::shutdown_send, ignored);
}

void Transport::close_with_reset() {
    Error ignored;
    socket_.set_option(asio::socket_base::linger(true, 0), ignored);
    socket_.close(ignored);
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

bool Transport::stale() {
    if (tls_) return stale_tls();
    char byte;
    auto n = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return !(n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK));
}

bool Transport::stale_tls() {
    for (int batch = 0; batch < ticket_batches_max; ++batch) {
        auto step = tls_->peek();
        send_ciphertext();
        if (step != TlsSession::Step::wants_input) return true;
        Error error = receive_ciphertext();
        if (error) return error != asio::error::would_block;
    }
    return true;
}

awaitable<Error> Transport::start_tls(TlsContext& context, std::string const& server_name, milliseconds limit) {
    check(!tls_);
    tls_ = std::make_unique<TlsSession>(context.shared_from_this(), server_name);
    auto give_up = steady_now() + limit;
    auto cancels = cancels_;
    for (;;) {
        auto step = tls_->handshake();
        auto left = std::max(std::chrono::ceil<milliseconds>(give_up - steady_now()), milliseconds{1});
        if (step == TlsSession::Step::failed) {
            send_ciphertext();   // the alert
            co_return tls_error();
        }
        Error error = co_await flush_ciphertext(left);
        if (error || step == TlsSession::Step::done) co_return error;
        error = receive_ciphertext();
        if (error == asio::error::would_block) error = co_await ready(TcpSocket::wait_read, read_deadline_, left);
        if (cancels != cancels_) error = asio::error::operation_aborted;
        if (error == asio::error::connection_reset) tls_fault_ = "connection closed during the TLS handshake";
        if (error) co_return error;
    }
}

awaitable<IoResult> Transport::read_tls(std::span<char> into, milliseconds limit) {
    for (;;) {
        auto got = tls_->read(into);
        // The session's own replies (key updates) are sent now if possible, else with the next write or read.
        send_ciphertext();
        if (got.step == TlsSession::Step::done) co_return IoResult{{}, got.bytes};
        if (got.step == TlsSession::Step::closed) co_return IoResult{asio::error::eof, 0};
        if (got.step == TlsSession::Step::failed) co_return IoResult{tls_error(), 0};
        if (tls_->output().bytes().size() > unsent_answers_max) co_return IoResult{asio::error::connection_reset, 0};

        Error error = receive_ciphertext();
        if (error == asio::error::would_block) error = co_await ready(TcpSocket::wait_read, read_deadline_, limit);
        if (error) co_return IoResult{error, 0};
    }
}

awaitable<IoResult> Transport::write_tls(std::span<iovec> parts, milliseconds limit) {
    std::size_t written = 0;
    drop_front(parts, 0);
    while (!parts.empty()) {
        while (!parts.empty() && tls_->output().bytes().size() < ciphertext_per_send) {
            auto record = next_record(parts);
            auto progress = tls_->write(record);
            if (progress.step != TlsSession::Step::done) co_return IoResult{tls_error(), written};
            written += progress.bytes;
            drop_front(parts, progress.bytes);
        }
        Error error = co_await flush_ciphertext(limit);
        if (error) co_return IoResult{error, written};
    }
    co_return IoResult{{}, written};
}

awaitable<Error> Transport::flush_ciphertext(milliseconds limit) {
    for (;;) {
        Error error = send_ciphertext();
        if (error != asio::error::would_block) co_return error;
        error = co_await ready(TcpSocket::wait_write, write_deadline_, limit);
        if (error) co_return error;
    }
}

Error Transport::receive_ciphertext() {
    auto& input = tls_->input();
    auto room = input.room();
    ssize_t n;
    do n = ::recv(socket_.native_handle(), room.data(), room.size(), MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    input.added(n > 0 ? static_cast<std::size_t>(n) : 0);
    if (n > 0) received_ += static_cast<Bytes>(n);
    if (n > 0) return {};
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? Error(asio::error::would_block) : last_error();
    // Without close_notify the received data may be truncated (RFC 8446 6.1).
    tls_fault_ = "connection closed without TLS close_notify";
    return asio::error::connection_reset;
}

Error Transport::send_ciphertext() {
    auto& output = tls_->output();
    while (!output.empty()) {
        auto bytes = output.bytes();
        auto n = ::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0) {
            if (errno == EINTR) continue;
            if (errno == EAGAIN || errno == EWOULDBLOCK) return asio::error::would_block;
            return last_error();
        }
        sent_ += static_cast<Bytes>(n);
        output.consume(static_cast<std::size_t>(n));
    }
    return {};
}

Error Transport::tls_error() {
    tls_fault_ = tls_->fault();
    return Error(EPROTO, boost::system::system_category());
}

std::string Transport::tls_fault() const { return tls_fault_; }

}   // namespace garner::net
