#include "web/http_connection.hpp"

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>

#include <boost/asio/write.hpp>

#include "http/dates.hpp"
#include "util/least_rate.hpp"
#include "util/text.hpp"
#include "util/version.hpp"

namespace garner::web {

namespace asio = net::asio;
namespace beast = boost::beast;

namespace {

constexpr std::size_t piece_bytes = 64 * KiB;
constexpr std::size_t kept_bytes = 512 * KiB;   // a larger buffer is freed after its request

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

/// The status for a request that cannot be read; 0: the client has left.
unsigned status_of(net::Error const& error) {
    using Failed = beast::http::error;
    static auto const& of_http = make_error_code(Failed::bad_method).category();
    if (error.category() != of_http || error == Failed::end_of_stream || error == Failed::partial_message) return 0;
    if (error == Failed::body_limit) return 413;
    return error == Failed::header_limit || error == Failed::buffer_overflow ? 431 : 400;
}

}   // namespace

HttpConnection::HttpConnection(Limits const& limits, net::TcpSocket socket, IpEndpoint own, IpAddress client)
    : limits_(limits), stream_(std::move(socket)), buffer_(limits.head_bytes + piece_bytes) {
    request_.own = own;
    request_.client = client;
}

net::awaitable<bool> HttpConnection::receive() {
    if (last_ || limits_.draining) co_return false;
    auto& parser = parser_.emplace();
    parser.header_limit(limits_.head_bytes);
    parser.body_limit(limits_.body_bytes);
    idle_ = true;
    since_ = steady_now();
    stream_.expires_after(limits_.idle);
    auto [error, bytes] = co_await beast::http::async_read_header(stream_, buffer_, parser, net::as_values);
    (void)bytes;
    idle_ = false;
    refused_with_ = error ? status_of(error) : 0;
    if (error && refused_with_ == 0) co_return false;
    show_request();
    auto refusal = ambiguity();
    if (error) refusal = Reply{refused_with_, "The request cannot be read: " + error.message() + "\n"};
    if (!refusal) co_return true;
    refused_with_ = refusal->status;
    last_ = true;
    co_await send(*refusal);
    co_return false;
}

/// RFC 9112 3.2: also of the absolute form, which a server must accept.
void HttpConnection::show_request() {
    auto const& head = parser_->get();
    request_.fields = &head;
    request_.method = view(head.method_string());
    request_.target = view(head.target());
    request_.authority = {};
    auto rest = request_.target;
    constexpr std::string_view scheme = "http://";
    if (equals_ignoring_case(rest.substr(0, scheme.size()), scheme)) {
        rest.remove_prefix(scheme.size());
        request_.authority = rest.substr(0, rest.find_first_of("/?"));
        rest.remove_prefix(request_.authority.size());
    }
    auto const mark = std::min(rest.find('?'), rest.size());
    request_.path = mark == 0 && !request_.authority.empty() ? "/" : rest.substr(0, mark);
    request_.query = rest.substr(std::min(mark + 1, rest.size()));
}

/// RFC 9112 3.2, 6.1 and 6.3.
std::optional<Reply> HttpConnection::ambiguity() const {
    auto const hosts = request_.count("Host");
    if (hosts > 1 || (hosts == 0 && parser_->get().version() > 10)) return Reply{400, "The request must have one Host field.\n"};
    auto const codings = request_.count("Transfer-Encoding"), lengths = request_.count("Content-Length");
    bool const chunked = codings == 1 && equals_ignoring_case(request_.value("Transfer-Encoding"), "chunked");
    if (codings > 0 && (!chunked || lengths > 0 || parser_->get().version() < 11))
        return Reply{400, "The only Transfer-Encoding supported is chunked, without Content-Length, in HTTP/1.1.\n"};
    if (lengths > 1 || (lengths == 1 && !parse_decimal(request_.value("Content-Length"))))
        return Reply{400, "Content-Length must be one number.\n"};
    auto const coding = request_.value("Content-Encoding"), expected = request_.value("Expect");
    if (!coding.empty() && !equals_ignoring_case(coding, "identity")) return Reply{415, "Content-Encoding is not supported.\n"};
    if (!expected.empty() && !equals_ignoring_case(expected, "100-continue"))
        return Reply{417, "The only expectation supported is 100-continue.\n"};
    return std::nullopt;
}

net::awaitable<std::optional<Reply>> HttpConnection::read_body(TakePiece const& take) {
    if (parser_->is_done()) co_return std::nullopt;
    if (request_.count("Expect") > 0 && parser_->get().version() > 10) {
        bool const told = co_await write("HTTP/1.1 100 Continue\r\n\r\n");
        if (!told) co_return Reply{400};
    }
    reads_body_ = true;
    auto refusal = co_await read_pieces(take);
    reads_body_ = false;
    co_return refusal;
}

net::awaitable<std::optional<Reply>> HttpConnection::read_pieces(TakePiece const& take) {
    buffer_.reserve(piece_bytes);
    piece_.resize(piece_bytes);
    Pace pace;
    for (bool more = true; more && !parser_->is_done();) {
        auto& body = parser_->get().body();
        body.data = piece_.data();
        body.size = piece_.size();
        stream_.expires_after(limits_.progress);
        auto const begun = steady_now();
        auto [error, bytes] = co_await beast::http::async_read_some(stream_, buffer_, *parser_, net::as_values);
        if (error == beast::http::error::buffer_overflow)   // error in a chunk header, not in the data
            co_return Reply{400, "The body cannot be read: a chunk line, or the trailer section, is too long\n"};
        if (error && error != beast::http::error::need_buffer)
            co_return Reply{std::max(status_of(error), 400u), "The body cannot be read: " + error.message() + "\n"};
        more = take(std::string_view(piece_).substr(0, piece_.size() - body.size));
        pace.add(bytes, steady_now() - begun);
        if (pace.is_below({KiB, limits_.progress})) co_return Reply{408, "The body arrived too slowly: below 1 KiB per second.\n"};
    }
    co_return std::nullopt;
}

std::string HttpConnection::begin_reply(Reply const& reply, std::optional<std::uint64_t> length) {
    last_ = last_ || !length || limits_.draining || limits_.closing || !parser_->is_done() || !parser_->keep_alive();
    auto const reason = beast::http::obsolete_reason(static_cast<beast::http::status>(reply.status));
    auto head = "HTTP/1.1 " + std::to_string(reply.status) + " " + std::string(reason) + "\r\nServer: garner/" + version +
                "\r\nDate: " + http::format_http_date(unix_seconds(wall_now())) + "\r\nContent-Type: " + reply.type + "\r\n" +
                (length ? "Content-Length: " + std::to_string(*length) + "\r\n" : "") + reply.fields +
                "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\n"
                "Content-Security-Policy: ";
    head.append(reply.content_policy).append("\r\n");
    if (last_)
        head += "Connection: close\r\n";
    else if (parser_->get().version() == 10)
        head += "Connection: keep-alive\r\n";
    return head + "\r\n";
}

net::awaitable<void> HttpConnection::send(Reply const& reply) {
    auto const head = begin_reply(reply, reply.body.size());
    std::string_view const body = request_.method == "HEAD" ? std::string_view() : reply.body;
    bool const written = co_await write(head, body);
    co_await end_reply(written);
}

net::awaitable<void> HttpConnection::send(Reply const& reply, std::uint64_t length, NextPiece const& next) {
    auto const head = begin_reply(reply, length);
    next(piece_);
    bool written = co_await write(head, piece_);
    while (written && next(piece_)) written = co_await write(piece_);
    co_await end_reply(written);
}

net::awaitable<bool> HttpConnection::begin_stream(Reply const& head) {
    auto const text = begin_reply(head, std::nullopt);
    streams_ = true;
    bool const written = co_await write(text);
    sent_ = text.size();
    taken_at_ = steady_now();
    co_return written;
}

net::awaitable<bool> HttpConnection::send_piece(std::string_view piece) {
    if (limits_.draining || limits_.closing || !is_taken()) co_return false;
    bool const written = co_await write(piece);
    sent_ += piece.size();
    co_return written;
}

/// A stream of few bytes fills the buffers of the kernel only after hours, so write() does not show a client that reads nothing.
bool HttpConnection::is_taken() {
    int unsent = 0;
    ::ioctl(stream_.socket().native_handle(), SIOCOUTQ, &unsent);
    auto const taken = sent_ - std::min<Bytes>(sent_, static_cast<Bytes>(std::max(unsent, 0)));
    if (taken != taken_ || unsent == 0) taken_at_ = steady_now();
    taken_ = taken;
    return steady_now() - taken_at_ < limits_.progress;
}

net::awaitable<bool> HttpConnection::write(std::string_view head, std::string_view body) {
    stream_.expires_after(limits_.progress);
    std::array<asio::const_buffer, 2> const parts{asio::buffer(head), asio::buffer(body)};
    auto [error, sent] = co_await asio::async_write(stream_, parts, net::as_values);
    (void)sent;
    co_return !error;
}

/// Closing with bytes unread would reset the connection, and the client could lose the reply.
net::awaitable<void> HttpConnection::end_reply(bool written) {
    constexpr seconds patience{2};
    constexpr std::size_t most = 4 * MiB;
    if (piece_.capacity() > kept_bytes) std::string().swap(piece_);
    last_ = last_ || !written;
    if (!last_ || !written) co_return;
    net::Error error;
    stream_.socket().shutdown(asio::socket_base::shutdown_send, error);
    stream_.expires_after(patience);
    piece_.resize(piece_bytes);
    for (std::size_t total = 0; !error && total < most;) {
        auto const buffer = asio::buffer(piece_);
        auto [end, bytes] = co_await stream_.async_read_some(buffer, net::as_values);
        error = end;
        total += bytes;
    }
}

}   // namespace garner::web
