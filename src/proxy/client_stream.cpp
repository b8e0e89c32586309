#include "proxy/client_stream.hpp"

#include <sys/socket.h>

#include <boost/asio/error.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "util/check.hpp"

namespace garner::proxy {

namespace asio = net::asio;

namespace {
constexpr std::size_t body_buffer_size = 64 * KiB;
constexpr std::size_t idle_buffer = 4 * KiB;

/// The refusal of a client that speaks TLS or SOCKS to this port, as its first byte tells. A SOCKS hello may have no line
/// end, so that the parser would wait for one. Null: it may be HTTP.
char const* other_protocol(char first) {
    switch (first) {
    case 0x16: return "this port speaks plain HTTP, not TLS: give the proxy's address as http://";   // RFC 8446 5.1
    case 0x04:
    case 0x05: return "this port is an HTTP proxy, not a SOCKS server: set the client's proxy type to HTTP";   // RFC 1928 3
    default: return nullptr;
    }
}

}  // namespace

ClientStream::ClientStream(std::string_view request, IpEndpoint peer, std::uint16_t listener, net::DeadlineWheel& wheel)
    : ClientStream(std::unique_ptr<net::Transport>(), peer, listener, wheel) {
    buffer_.assign(request.begin(), request.end());
    begin_ = end_ = buffer_.size();
    parse_ = http::parse_request_head({buffer_.data(), buffer_.size()}, http::HeadLimits::none(), scanned_, head_);
    garner::check(parse_.kind == http::HeadParse::Kind::complete);
}

void ClientStream::make_room() {
    if (begin_ == end_) begin_ = end_ = 0;
    if (end_ < buffer_.size()) return;
    if (begin_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    } else {
        buffer_.resize(2 * buffer_.size());   // bounded: the parser refuses heads beyond its limit
    }
}

net::awaitable<net::Error> ClientStream::fill(milliseconds limit) {
    std::span<char> free(buffer_.data() + end_, buffer_.size() - end_);
    auto read = co_await transport_->read_some(free, limit);
    end_ += read.bytes;
    co_return read.error;
}

net::awaitable<ClientStream::Arrival> ClientStream::read_head(http::HeadLimits const& limits, HeadWaits waits, HeadBudget& budget) {
    scanned_ = 0;
    HeadBudget::Part part(budget, [](void* self) { static_cast<ClientStream*>(self)->cancel(); }, this);
    SteadyTime give_up{};   // set when a first read did not bring a whole head: rare, so the clock is rarely asked
    for (;;) {
        if (begin_ != end_) {
            parse_ = http::parse_request_head({input() + begin_, end_ - begin_}, limits, scanned_, head_);
            if (parse_.kind == http::HeadParse::Kind::complete) {
                begin_ += parse_.bytes;
                co_return Arrival::request;
            }
            if (auto const* why = other_protocol(input()[begin_])) parse_ = {http::HeadParse::Kind::refused, 0, 400, why};
            if (parse_.kind == http::HeadParse::Kind::refused) co_return Arrival::refused;
            if (give_up == SteadyTime{}) give_up = steady_now() + waits.head;
        }
        auto limit = waits.idle;
        if (begin_ != end_) {
            limit = std::chrono::duration_cast<milliseconds>(give_up - steady_now());
            if (limit <= milliseconds{0}) co_return Arrival::timed_out;
        }
        make_room();
        if (buffer_.size() > idle_buffer && !part.resize(buffer_.size() - idle_buffer)) co_return refuse_large_head();
        auto error = co_await fill(limit);
        if (part.refused()) co_return refuse_large_head();
        if (error == asio::error::timed_out) co_return Arrival::timed_out;
        if (error) co_return Arrival::closed;
    }
}

/// The memory is given back at once: the client may take its time to read the answer.
ClientStream::Arrival ClientStream::refuse_large_head() {
    std::vector<char>(idle_buffer).swap(buffer_);
    begin_ = end_ = 0;
    parse_ = {http::HeadParse::Kind::refused, 0, 431, "too many bytes of unfinished heads: this one is the largest"};
    return Arrival::refused;
}

http::Framing const& ClientStream::begin_body() {
    framing_ = http::request_framing(head_);
    decoder_ = http::BodyDecoder(framing_);
    body_begin_ = body_end_ = 0;
    return framing_;
}

net::awaitable<ClientStream::Piece> ClientStream::read_body(milliseconds limit) {
    for (;;) {
        if (decoder_.done()) co_return Piece{};
        // First what came with the head, then what is read into the body's own buffer.
        bool in_head_buffer = begin_ != end_;
        auto* bytes = in_head_buffer ? buffer_.data() + begin_ : body_buffer_.data() + body_begin_;
        auto step = decoder_.step({bytes, in_head_buffer ? end_ - begin_ : body_end_ - body_begin_});
        (in_head_buffer ? begin_ : body_begin_) += step.consumed;
        Piece piece;
        switch (step.kind) {
        case http::BodyDecoder::Step::Kind::refused:
            piece.refusal = decoder_.refusal();
            co_return piece;
        case http::BodyDecoder::Step::Kind::done:
            co_return piece;
        case http::BodyDecoder::Step::Kind::data:
            if (step.data.empty()) continue;
            piece.data = step.data;
            co_return piece;
        case http::BodyDecoder::Step::Kind::need_more:
            break;
        }
        if (body_buffer_.empty()) body_buffer_.resize(body_buffer_size);
        auto read = co_await transport_->read_some(body_buffer_, limit);
        if (read.error) {
            piece.error = read.error;
            co_return piece;
        }
        body_begin_ = 0;
        body_end_ = read.bytes;
    }
}

void ClientStream::finish_request() {
    if (body_begin_ != body_end_) {
        // The next request begins in the body's buffer.
        auto left = body_end_ - body_begin_;
        if (buffer_.size() < left) buffer_.resize(left);
        std::memcpy(buffer_.data(), body_buffer_.data() + body_begin_, left);
        begin_ = 0;
        end_ = left;
        body_begin_ = body_end_ = 0;
    }
    if (!body_buffer_.empty()) std::vector<char>().swap(body_buffer_);
    // An idle connection keeps little, however large its last head was.
    if (begin_ == end_ && buffer_.size() > idle_buffer) std::vector<char>(idle_buffer).swap(buffer_), begin_ = end_ = 0;
}

ClientStream::Traffic ClientStream::take_traffic() {
    if (nobody()) return {};
    auto const before = std::exchange(taken_, {transport_->received(), transport_->sent()});
    return {taken_.received - before.received, taken_.sent - before.sent};
}

void ClientStream::watch(std::function<void()> gone) {
    if (nobody()) return;
    watch_->gone = std::move(gone);
    watch_after_.arm(milliseconds{100});
}

void ClientStream::begin_watching() {
    watching_ = true;
    int descriptor = transport_->descriptor();
    transport_->socket().async_wait(net::TcpSocket::wait_read, [watch = watch_, descriptor](net::Error error) {
        if (error || !watch->gone) return;
        char byte;
        // A pipelined request is no hang-up; the watch ends then, and a later hang-up shows at the next write.
        auto n = ::recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        bool gone = n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
        if (gone) std::exchange(watch->gone, nullptr)();
    });
}

void ClientStream::unwatch() {
    watch_->gone = nullptr;
    watch_after_.disarm();
    if (std::exchange(watching_, false)) transport_->cancel();
}

}  // namespace garner::proxy
