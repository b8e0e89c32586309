#include "proxy/http1_stream.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <cstring>
#include <utility>

#include "net/address.hpp"
#include "net/carrier.hpp"
#include "net/client_hello.hpp"
#include "net/proxy_protocol.hpp"

namespace garner::proxy {

namespace asio = net::asio;

namespace {
constexpr std::size_t idle_buffer = net::HeadBuffer::usual;

/// The refusal for a client that speaks TLS or SOCKS to this port, recognised by the first byte, or sends a PROXY header. A SOCKS
/// hello may contain no line end, so the parser would wait for one. Null: it may be HTTP.
char const* other_protocol(std::string_view begin) {
    if (net::begins_with_proxy_header(begin))
        return "the connection begins with a PROXY header, but not at a load balancer that this port knows: add the address of the "
               "sender to listen[].proxy_protocol";
    switch (begin.front()) {
    case net::tls_handshake: return "this port accepts plain HTTP, not TLS: use http:// in the address of the proxy";
    case 0x04:
    case 0x05: return "this port is an HTTP proxy, not a SOCKS server: set the client's proxy type to HTTP";   // RFC 1928 3
    default: return nullptr;
    }
}

/// RFC 9112 2.2: some clients send an empty line behind a body. It begins no request.
bool is_only_empty_lines(std::string_view received) {
    if (!received.starts_with("\r\n")) return false;
    while (received.starts_with("\r\n")) received.remove_prefix(2);
    return received.empty();
}

}   // namespace

bool Http1Stream::speaks_other_protocol() const { return begun() && other_protocol(leftover()); }

bool Http1Stream::speaks_tls() const { return begun() && leftover().front() == net::tls_handshake; }

void Http1Stream::make_room() {
    if (end_ < buffer_.size()) return;
    if (begin_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    } else {
        buffer_.grow(std::max(2 * buffer_.size(), idle_buffer));   // bounded: the parser refuses heads beyond its limit
    }
}

/// Holds no memory for bytes until some come.
void Http1Stream::rest() {
    begin_ = end_ = 0;
    buffer_.release();
}

net::awaitable<net::IoResult> Http1Stream::read_first(milliseconds limit) {
    rest();
    return transport_.read_first(buffer_, limit);
}

std::optional<Http1Stream::Arrival> Http1Stream::take(net::IoResult const& read, http::HeadLimits const& limits) {
    end_ += read.bytes;
    if (read.error) return read.error == asio::error::timed_out ? Arrival::timed_out : Arrival::closed;
    if (is_only_empty_lines(leftover())) begin_ = end_ = scanned_ = 0;
    if (!begun()) return std::nullopt;
    parse_ = http::parse_request_head(leftover(), limits, scanned_, head_);
    if (parse_.kind == http::HeadParse::Kind::complete) {
        begin_ += parse_.bytes;
        scanned_ = 0;
        return Arrival::request;
    }
    if (speaks_other_protocol()) parse_ = {http::HeadParse::Kind::refused, 0, 400, other_protocol(leftover())};
    if (parse_.kind == http::HeadParse::Kind::refused) return Arrival::refused;
    return std::nullopt;
}

net::awaitable<Http1Stream::Arrival> Http1Stream::read_rest(http::HeadLimits const& limits, HeadWaits waits, HeadBudget& budget) {
    HeadBudget::Part part(
        budget, [](void* self) { static_cast<Http1Stream*>(self)->cancel(); }, this);
    auto give_up = steady_now() + (begun() ? waits.head : waits.idle);
    // Empty lines in pieces begin a head again and again.
    auto const latest = steady_now() + waits.idle + waits.head;
    for (;;) {
        auto const left = std::chrono::duration_cast<milliseconds>(give_up - steady_now());
        if (left <= milliseconds{0}) co_return Arrival::timed_out;
        bool const had_begun = begun();
        net::IoResult read;
        if (had_begun) {
            make_room();
            if (buffer_.size() > idle_buffer && !part.resize(buffer_.size() - idle_buffer)) co_return refuse_large_head();
            std::span<char> const into(buffer_.data() + end_, buffer_.size() - end_);
            read = co_await transport_.read_some(into, left);
        } else {
            read = co_await read_first(left);
        }
        if (part.refused()) co_return refuse_large_head();
        if (auto const arrival = take(read, limits)) co_return *arrival;
        if (begun() && !had_begun) give_up = std::min(latest, steady_now() + waits.head);
    }
}

/// Frees the memory at once: the client may read the response slowly.
Http1Stream::Arrival Http1Stream::refuse_large_head() {
    rest();
    parse_ = {http::HeadParse::Kind::refused, 0, 431, "incomplete heads exceed limits.heads_max, and this head is the largest"};
    return Arrival::refused;
}

void Http1Stream::begin_request() {
    decoder_.begin(framing_);
    body_begin_ = body_end_ = 0;
    chunked_ = false;
}

IpAddress Http1Stream::own_address() const {
    net::Error ignored;
    return net::to_ip(transport_.socket().local_endpoint(ignored).address());
}

net::awaitable<Http1Stream::Piece> Http1Stream::read_body(milliseconds limit) {
    for (;;) {
        if (decoder_.done()) co_return Piece{};
        // The bytes that came with the head come first, then those read into the body's own buffer.
        bool in_head_buffer = begin_ != end_;
        auto* bytes = in_head_buffer ? buffer_.data() + begin_ : body_buffer_.get() + body_begin_;
        auto step = decoder_.step({bytes, in_head_buffer ? end_ - begin_ : body_end_ - body_begin_});
        (in_head_buffer ? begin_ : body_begin_) += step.consumed;
        Piece piece;
        switch (step.kind) {
        case http::BodyDecoder::Step::Kind::refused: piece.refusal = decoder_.refusal(); co_return piece;
        case http::BodyDecoder::Step::Kind::done: co_return piece;
        case http::BodyDecoder::Step::Kind::data:
            if (step.data.empty()) continue;
            piece.data = step.data;
            co_return piece;
        case http::BodyDecoder::Step::Kind::need_more: break;
        }
        if (!body_buffer_) body_buffer_ = buffers_.take();
        std::span<char> const into(body_buffer_.get(), net::BufferPool::size);
        auto read = co_await transport_.read_some(into, limit);
        if (read.error) {
            piece.error = read.error;
            co_return piece;
        }
        body_begin_ = 0;
        body_end_ = read.bytes;
    }
}

// ---- the response ----

/// RFC 9112 6.3, 7.1: chunked, or to HTTP/1.0 until the connection closes.
bool Http1Stream::begin_without_length(Patch& patch) {
    bool const until_close = head_.version == http::Version::http_1_0;
    patch.chunked = !until_close;
    chunked_ = patch.chunked && head_.method != http::Method::head;
    return until_close;
}

std::string_view Http1Stream::before_piece(Bytes bytes) {
    if (!chunked_) return {};
    return {chunk_header_, http::write_chunk_header(bytes, chunk_header_)};
}

std::string_view Http1Stream::behind_body(std::string_view trailers) {
    if (!chunked_) return {};
    last_chunk_.assign("0\r\n").append(trailers).append("\r\n");
    return last_chunk_;
}

/// With HTTP/1.1 the framing shows the truncation; a body delimited by the connection's end needs a reset.
void Http1Stream::show_truncation() {
    if (head_.version == http::Version::http_1_0) transport_.close_with_reset();
}

// ---- the connection ----

void Http1Stream::finish_request() {
    if (body_begin_ != body_end_) {
        // The next request begins in the body buffer.
        auto left = body_end_ - body_begin_;
        buffer_.grow(left);
        std::memcpy(buffer_.data(), body_buffer_.get() + body_begin_, left);
        begin_ = 0;
        end_ = left;
        body_begin_ = body_end_ = 0;
    }
    body_buffer_ = {};
    // An idle connection keeps little memory, however large its last request was.
    head_.fields.drop_large();
    if (decoder_.framing().kind == http::Framing::Kind::chunked) {
        http::BodyDecoder without_trailers;
        std::swap(decoder_, without_trailers);
    }
    if (last_chunk_.capacity() > idle_buffer) std::string().swap(last_chunk_);
}

void Http1Stream::begin_with(std::string_view bytes) {
    begin_ = 0;
    end_ = bytes.size();
    if (bytes.empty()) return;
    buffer_.grow(bytes.size());
    std::memcpy(buffer_.data(), bytes.data(), bytes.size());
}

bool Http1Stream::begin_with_head(std::string_view head) {
    begin_with(head);
    scanned_ = 0;
    parse_ = http::parse_request_head(leftover(), http::HeadLimits::none(), scanned_, head_);
    begin_ = parse_.bytes;
    return parse_.kind == http::HeadParse::Kind::complete;
}

/// The state of TLS cannot be passed on.
bool Http1Stream::may_move() const { return !stays_ && transport_.can_splice() && transport_.is_open(); }

bool Http1Stream::more_received() {
    if (!body_done()) return false;
    return begin_ != end_ || body_begin_ != body_end_ || transport_.arrived() == net::Transport::Arrived::bytes;
}

Http1Stream::Traffic Http1Stream::take_traffic() {
    auto const before = std::exchange(taken_, {transport_.received(), transport_.sent()});
    return {taken_.received - before.received, taken_.sent - before.sent};
}

void Http1Stream::watch(std::function<void()> gone) {
    watch_->gone = std::move(gone);
    watch_after_.arm(milliseconds{100});
}

/// A pipelined request is no disconnect. The watch ends then, and a later disconnect shows at the next write.
void Http1Stream::begin_watching() {
    watching_ = true;
    auto const look = [watch = watch_, this](net::Error const& error) {
        if (!error && watch->gone) look_for_end();   // after unwatch() this object may be gone
    };
    if (auto* const carrier = transport_.carrier())
        carrier->on_arrival([look] { look(net::Error()); });
    else
        transport_.socket().async_wait(net::TcpSocket::wait_read, look);
}

void Http1Stream::look_for_end() {
    auto const arrived = transport_.arrived();
    if (arrived == net::Transport::Arrived::end) std::exchange(watch_->gone, nullptr)();
    if (arrived == net::Transport::Arrived::nothing) begin_watching();   // part of a TLS record
}

void Http1Stream::unwatch() {
    watch_->gone = nullptr;
    watch_after_.disarm();
    if (std::exchange(watching_, false)) transport_.cancel();
}

}   // namespace garner::proxy
