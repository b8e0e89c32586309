#include "admin/ask.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "net/asio.hpp"
#include "util/text.hpp"

namespace garner::admin {

namespace asio = net::asio;
namespace beast = boost::beast;

namespace {

std::string text_of(Question const& question) {
    std::string out = question.method + " " + question.target + " HTTP/1.1\r\nHost: " + question.place.text() +
                      "\r\nGarner-Admin: 1\r\nConnection: close\r\n";
    if (question.method == "POST")
        out += "Content-Type: application/x-www-form-urlencoded\r\n"
               "Content-Length: " + std::to_string(question.body.size()) + "\r\n";
    return out + "\r\n" + question.body;
}

std::string told(net::Error const& error) {
    if (error == beast::error::timeout) return "no answer in time";
    return lower_case(error.message());
}

class Asking {
public:
    Asking(Question const& question, asio::io_context& io)
        : question_(question), text_(text_of(question)), stream_(io) {
        parser_.body_limit(question.body_max);
    }

    net::awaitable<void> run() {
        net::TcpEndpoint const place(asio::ip::make_address(question_.place.address.text()), question_.place.port);
        stream_.expires_after(question_.patience);
        auto [refused] = co_await stream_.async_connect(place, net::as_values);
        if (refused) co_return fail(refused);
        auto const buffer = asio::buffer(text_);
        auto [unsent, sent] = co_await asio::async_write(stream_, buffer, net::as_values);
        (void)sent;
        if (unsent) co_return fail(unsent);
        auto [unread, bytes] = co_await beast::http::async_read(stream_, buffer_, parser_, net::as_values);
        (void)bytes;
        if (unread) co_return fail(unread);
        answered_.status = parser_.get().result_int();
        answered_.body = std::move(parser_.get().body());
    }

    Answered take() { return std::move(answered_); }

private:
    void fail(net::Error const& error) { answered_.trouble = told(error); }

    Question const& question_;
    std::string text_;
    beast::basic_stream<asio::ip::tcp, net::Executor> stream_;
    beast::flat_buffer buffer_{256 * KiB};
    beast::http::response_parser<beast::http::string_body> parser_;
    Answered answered_;
};

}  // namespace

Answered ask(Question const& question) {
    asio::io_context io(1);
    Asking asking(question, io);
    auto running = asking.run();
    asio::co_spawn(io.get_executor(), std::move(running), asio::detached);
    io.run();
    return asking.take();
}

std::string form_encoded(std::string_view text) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    std::string out;
    for (char c : text) {
        if (plain.find(c) != plain.npos) {
            out += c;
            continue;
        }
        constexpr char digits[] = "0123456789ABCDEF";
        auto const byte = static_cast<unsigned char>(c);
        out += {'%', digits[byte >> 4], digits[byte & 15]};
    }
    return out;
}

std::optional<IpEndpoint> place_at(std::string const& address, std::uint16_t port) {
    auto parsed = parse_ip(address);
    if (!parsed) return std::nullopt;
    if (parsed->is_unspecified()) parsed = parsed->is_v4() ? IpAddress::v4(127, 0, 0, 1) : *parse_ip("::1");
    return IpEndpoint{*parsed, port};
}

}  // namespace garner::admin
