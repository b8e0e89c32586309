#include "proxy/http2_stream.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <cstring>
#include <utility>

#include "net/iovecs.hpp"

namespace garner::proxy {

namespace asio = net::asio;

namespace {

constexpr milliseconds for_ever{24 * 3'600'000};   // a deadline or a cancellation ends the wait

Bytes size_of(std::span<iovec const> parts) {
    Bytes size = 0;
    for (auto const& part : parts) size += part.iov_len;
    return size;
}

}   // namespace

Http2Stream::Http2Stream(Http2Wire& wire, h2::Stream& stream, std::shared_ptr<Client const> client)
    : ClientStream(std::move(client)), wire_(wire), stream_(stream) {
    std::swap(head_, stream.head());
}

Http2Stream::~Http2Stream() {
    std::swap(head_, stream_.head());   // its memory serves the next request
    if (lost_) return;
    if (tunnel_ && !ended_) wire_.session().reset(stream_, h2::ErrorCode::connect);
    wire_.session().release(stream_);
}

// ---- the request ----

void Http2Stream::consume_read() {
    if (unread_ > 0 && !lost_) wire_.session().consume(stream_, unread_);
    unread_ = 0;
}

net::awaitable<Http2Stream::Piece> Http2Stream::read_body(milliseconds limit) {
    consume_read();
    wire_.flush();   // the window that the consumed bytes opened
    for (;;) {
        Piece piece;
        if (is_gone()) {
            piece.error = asio::error::connection_reset;
            co_return piece;
        }
        piece.data = stream_.body();
        unread_ = piece.data.size();
        if (unread_ > 0) co_return piece;
        if (stream_.body_done()) {
            piece.refusal = stream_.body_refusal();
            co_return piece;
        }
        auto const cancels = cancels_;
        auto const wake = co_await wait_for(readable_, limit);
        if (cancels != cancels_) piece.error = asio::error::operation_aborted;
        if (!piece.error && wake == net::Wake::deadline) piece.error = asio::error::timed_out;
        if (piece.error) co_return piece;
    }
}

net::awaitable<net::Wake> Http2Stream::wait_for(net::WakeHandle& handle, milliseconds limit) {
    net::Waiter waiter(wire_.executor());
    handle = waiter.handle();
    auto const wake = co_await waiter.wait(limit);
    handle = {};
    co_return wake;
}

// ---- the response ----

std::string_view Http2Stream::behind_body(std::string_view trailers) {
    ended_ = true;
    if (!lost_) wire_.session().end(stream_, trailers);
    return {};
}

void Http2Stream::show_truncation() {
    if (!is_gone()) wire_.session().reset(stream_, h2::ErrorCode::internal);
    wire_.flush();
}

net::IoResult Http2Stream::try_frame(std::span<iovec>& parts, bool more) {
    if (is_gone()) return {asio::error::connection_reset, 0};
    auto const size = size_of(parts);
    wire_.session().send(stream_, parts);
    wire_.flush(more);
    if (is_gone()) return {asio::error::connection_reset, 0};
    parts = wire_.session().withdraw(stream_);
    auto const left = size_of(parts);
    return {left > 0 ? net::Error(asio::error::would_block) : net::Error(), static_cast<std::size_t>(size - left)};
}

/// `limit` is the longest time without progress.
net::awaitable<net::IoResult> Http2Stream::send(std::span<iovec> parts, milliseconds limit) {
    net::IoResult result;
    for (;;) {
        auto const tried = try_send(parts);
        result.bytes += tried.bytes;
        result.error = tried.error;
        if (result.error != asio::error::would_block) co_return result;
        auto const cancels = cancels_;
        auto const before = stream_.sent();
        wire_.session().send(stream_, parts);
        auto const wake = co_await wait_for(writable_, limit);
        auto const left = lost_ ? parts : wire_.session().withdraw(stream_);
        result.bytes += size_of(parts) - size_of(left);
        parts = left;
        if (cancels != cancels_) result.error = asio::error::operation_aborted;
        if (wake == net::Wake::deadline && (lost_ || stream_.sent() == before)) result.error = asio::error::timed_out;
        if (result.error != asio::error::would_block) co_return result;
    }
}

// ---- the connection ----

void Http2Stream::cancel() {
    ++cancels_;
    arrived_ = nullptr;
    readable_.wake(net::Wake::shutdown);
    writable_.wake(net::Wake::shutdown);
}

void Http2Stream::on_gone() {
    readable_.wake(net::Wake::client_gone);
    writable_.wake(net::Wake::client_gone);
    tell_arrival();
    if (gone_) std::exchange(gone_, nullptr)();
}

Http2Stream::Traffic Http2Stream::take_traffic() {
    auto const before = std::exchange(taken_, {stream_.received(), stream_.sent()});
    return {taken_.received - before.received, taken_.sent - before.sent};
}

// ---- a tunnel ----

net::Transport& Http2Stream::transport() {
    tunnel_ = true;
    if (!transport_) transport_.emplace(static_cast<net::Carrier&>(*this), wire_.executor(), wire_.wheel());
    return *transport_;
}

/// Keeps some bytes that cannot be framed yet: the session tells when they are, and so when the next ones may be sent.
net::IoResult Http2Stream::try_send(std::span<iovec>& parts, bool more) {
    constexpr std::size_t held_max = 64 * KiB;
    if (is_gone()) return {asio::error::connection_reset, 0};
    if (!stream_.is_sent()) {
        if (!more) wire_.flush();
        return {asio::error::would_block, 0};
    }
    auto result = try_frame(parts, more);
    if (result.error != asio::error::would_block) return result;
    held_.clear();
    while (!parts.empty() && held_.size() < held_max) {
        auto const count = std::min(parts.front().iov_len, held_max - held_.size());
        held_.append(static_cast<char const*>(parts.front().iov_base), count);
        net::drop_front(parts, count);
    }
    held_part_ = {held_.data(), held_.size()};
    wire_.session().send(stream_, std::span<iovec>(&held_part_, 1));
    result.bytes += held_.size();
    if (parts.empty()) result.error = {};
    return result;
}

net::IoResult Http2Stream::try_receive(std::span<char> into) {
    if (is_gone()) return {asio::error::connection_reset, 0};
    auto free = into;
    while (!free.empty() && !stream_.body().empty()) {
        auto const count = stream_.body().copy(free.data(), free.size());
        wire_.session().consume(stream_, count);
        free = free.subspan(count);
    }
    wire_.flush();   // the window that the consumed bytes opened
    auto const count = into.size() - free.size();
    if (count > 0) return {{}, count};
    return {stream_.body_done() ? net::Error(asio::error::eof) : net::Error(asio::error::would_block), 0};
}

net::awaitable<net::Error> Http2Stream::ready(Direction direction) {
    if (is_gone()) co_return asio::error::connection_reset;
    auto const cancels = cancels_;
    auto const receives = direction == Direction::receive;
    if (receives ? may_receive() : stream_.is_sent()) co_return net::Error();
    auto& handle = receives ? readable_ : writable_;
    co_await wait_for(handle, for_ever);
    co_return cancels != cancels_ ? net::Error(asio::error::operation_aborted) : net::Error();
}

void Http2Stream::on_arrival(std::function<void()> changed) {
    arrived_ = std::move(changed);
    if (may_receive()) tell_arrival();
}

void Http2Stream::shutdown_send() {
    behind_body({});
    wire_.flush();
}

void Http2Stream::close_with_reset() {
    if (!is_gone()) wire_.session().reset(stream_, h2::ErrorCode::connect);
    wire_.flush();
}

}   // namespace garner::proxy
