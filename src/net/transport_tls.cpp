// TLS on a connection, and TLS in TLS.
#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <cerrno>
#include <cstring>

#include "net/client_hello.hpp"
#include "net/iovecs.hpp"
#include "net/tls_context.hpp"
#include "net/tls_session.hpp"
#include "net/transport.hpp"
#include "util/check.hpp"

namespace garner::net {

namespace {

constexpr int ticket_batches_max = 8;
constexpr std::size_t unsent_answers_max = 256 * 1024;   // for a peer that causes replies and reads nothing
constexpr std::size_t record_overhead = 64;              // at most: header, nonce, tag and type (RFC 8446 5.2, RFC 5288 3)

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

/// Memory for the records of these parts, and for later ones if `more` follows.
void reserve(TlsBuffer& output, std::span<iovec const> parts, bool more) {
    std::size_t size = 0;
    for (auto const& part : parts) size += part.iov_len;
    auto const records = size / TlsSession::record_max;
    if (records == 0) return;
    output.reserve(more ? output.batch_max() : output.bytes().size() + size + (records + 1) * record_overhead);
}

}   // namespace

Transport::Arrived Transport::arrived_tls() {
    for (int batch = 0; batch < ticket_batches_max; ++batch) {
        auto step = tls_->peek();
        send_ciphertext();
        if (step == TlsSession::Step::done) return Arrived::bytes;
        if (step != TlsSession::Step::wants_input) return Arrived::end;
        Error error = receive_ciphertext();
        if (error) return error == asio::error::would_block ? Arrived::nothing : Arrived::end;
    }
    return Arrived::end;
}

void Transport::add_session(std::unique_ptr<TlsSession> session) {
    check(!outer_);
    outer_ = std::move(tls_);
    tls_ = std::move(session);
}

awaitable<Error> Transport::start_tls(TlsContext& context, std::string const& server_name, milliseconds limit,
                                      Verification verification) {
    add_session(std::make_unique<TlsSession>(context.shared_from_this(), server_name, verification));
    return shake_hands(limit);
}

awaitable<Error> Transport::accept_tls(std::shared_ptr<TlsServerContext const> context, std::string_view received,
                                       milliseconds limit, SessionIdentity const* identity) {
    add_session(std::make_unique<TlsSession>(std::move(context), identity));
    if (!received.empty()) tls_->input().append(received);
    auto const give_up = steady_now() + limit;
    Error error;
    while (tls_->input().empty() && !error) error = co_await wait_for_ciphertext(limit);
    if (error) co_return error;
    if (is_clear_text()) {
        tls_ = std::move(outer_);
        tls_fault_ = "the client does not speak TLS";
        co_return Error(EPROTO, boost::system::system_category());
    }
    auto const left = std::max(std::chrono::ceil<milliseconds>(give_up - steady_now()), milliseconds{1});
    co_return co_await shake_hands(left);
}

bool Transport::is_clear_text() { return tls_->input().bytes().front() != tls_handshake; }

awaitable<Error> Transport::shake_hands(milliseconds limit) {
    auto give_up = steady_now() + limit;
    auto cancels = cancels_;
    for (;;) {
        auto step = tls_->handshake();
        auto left = std::max(std::chrono::ceil<milliseconds>(give_up - steady_now()), milliseconds{1});
        if (step == TlsSession::Step::failed) {
            send_ciphertext();   // the alert
            co_return tls_error(*tls_);
        }
        // A server's tickets are sent with its first response, or before it waits for a request: one system call less.
        if (step == TlsSession::Step::done && tls_->is_server()) co_return Error{};
        Error error = co_await flush_ciphertext(left);
        if (error || step == TlsSession::Step::done) co_return error;
        error = co_await wait_for_ciphertext(left);
        if (cancels != cancels_) error = asio::error::operation_aborted;
        if (error == asio::error::connection_reset) tls_fault_ = "connection closed during the TLS handshake";
        if (error) co_return error;
    }
}

awaitable<IoResult> Transport::read_tls(std::span<char> into, milliseconds limit) {
    for (;;) {
        auto const got = decrypt(into);
        if (got.error != asio::error::would_block) co_return got;
        Error error = co_await wait_for_ciphertext(limit);
        if (error) co_return IoResult{error, 0};
    }
}

/// The plaintext of the received ciphertext; would_block if there is none.
IoResult Transport::decrypt(std::span<char> into) {
    auto const got = tls_->read(into);
    switch (got.step) {
    case TlsSession::Step::done: return {{}, got.bytes};
    case TlsSession::Step::closed: return {asio::error::eof, 0};
    case TlsSession::Step::failed: send_ciphertext(); return {tls_error(*tls_), 0};
    case TlsSession::Step::wants_input: break;
    }
    bool const reads_none = tls_->output().bytes().size() > unsent_answers_max;
    return {reads_none ? asio::error::connection_reset : asio::error::would_block, 0};
}

IoResult Transport::try_write_tls(std::span<iovec>& parts, bool more) {
    reserve(tls_->output(), parts, more);
    std::size_t written = 0;
    for (;;) {
        while (!parts.empty() && tls_->output().bytes().size() < tls_->output().batch_max()) {
            auto record = next_record(parts);
            auto progress = tls_->write(record);
            if (progress.step != TlsSession::Step::done) return {tls_error(*tls_), written};
            written += progress.bytes;
            drop_front(parts, progress.bytes);
        }
        if (more && parts.empty() && tls_->output().bytes().size() < tls_->output().batch_max()) return {{}, written};
        Error error = send_ciphertext();
        if (error || parts.empty()) return {error, written};
    }
}

awaitable<Error> Transport::flush_ciphertext(milliseconds limit) {
    for (;;) {
        Error error = send_ciphertext();
        if (error != asio::error::would_block) co_return error;
        error = co_await ready(TcpSocket::wait_write, write_deadline_, limit);
        if (error) co_return error;
    }
}

/// Returns without an error when there is some. A wait that begins with a read of few bytes saves the system call that
/// re-arms the socket; after much ciphertext there is probably more, and it is received at once.
/// The session's own output, such as tickets and answers to key updates, is sent before the wait.
awaitable<Error> Transport::wait_for_ciphertext(milliseconds limit) {
    bool const through_socket = !outer_ && !carrier_;
    if (!through_socket || much_arrives_ || !tls_->output().empty()) {
        Error error = receive_ciphertext();
        if (error != asio::error::would_block) co_return error;
        send_ciphertext();
    }
    if (!through_socket) co_return co_await ready(TcpSocket::wait_read, read_deadline_, limit);
    auto const arrival = tls_->arrival();
    auto const read = co_await read_socket(arrival, nullptr, limit);
    if (read.error == asio::error::eof) co_return end_without_notify();
    if (read.error) co_return read.error;
    tls_->input().append({arrival.data(), read.bytes});
    much_arrives_ = read.bytes == arrival.size();
    if (much_arrives_) receive_ciphertext();   // an error is met again by the next wait
    co_return Error{};
}

Error Transport::receive_ciphertext() {
    if (outer_) return receive_through_outer();
    auto& input = tls_->input();
    auto const received = try_receive(input.room());
    input.added(received.bytes);
    much_arrives_ = received.bytes > tls_->arrival().size();
    return received.error == asio::error::eof ? end_without_notify() : received.error;
}

Error Transport::receive_through_outer() {
    for (;;) {
        auto& input = tls_->input();
        auto const got = outer_->read(input.room());
        input.added(got.step == TlsSession::Step::done ? got.bytes : 0);
        send_bytes(outer_->output());
        if (got.step == TlsSession::Step::done) return {};
        if (got.step == TlsSession::Step::closed) return end_without_notify();
        if (got.step == TlsSession::Step::failed) return tls_error(*outer_);
        auto& ciphertext = outer_->input();
        auto const received = try_receive(ciphertext.room());
        ciphertext.added(received.bytes);
        if (received.error) return received.error == asio::error::eof ? end_without_notify() : received.error;
    }
}

/// Without close_notify the received data may be truncated (RFC 8446 6.1).
Error Transport::end_without_notify() {
    tls_fault_ = "connection closed without TLS close_notify";
    return asio::error::connection_reset;
}

Error Transport::send_ciphertext() { return outer_ ? send_through_outer() : send_bytes(tls_->output()); }

Error Transport::send_through_outer() {
    auto& output = tls_->output();
    for (;;) {
        while (!output.empty() && outer_->output().bytes().size() < outer_->output().batch_max()) {
            auto const progress = outer_->write(output.bytes());
            if (progress.step != TlsSession::Step::done) return tls_error(*outer_);
            output.consume(progress.bytes);
        }
        Error error = send_bytes(outer_->output());
        if (error || output.empty()) return error;
    }
}

Error Transport::send_bytes(TlsBuffer& from) {
    if (from.empty()) return {};   // saves a system call
    iovec part{const_cast<char*>(from.bytes().data()), from.bytes().size()};
    std::span<iovec> parts(&part, 1);
    auto const sent = try_write_socket(parts, false);
    if (sent.bytes > 0) from.consume(sent.bytes);
    return sent.error;
}

/// `session` has failed.
Error Transport::tls_error(TlsSession const& session) {
    tls_fault_ = session.fault();
    return Error(EPROTO, boost::system::system_category());
}

}   // namespace garner::net
