#include "admin/admin_client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <nlohmann/json.hpp>

#include "net/asio.hpp"
#include "util/text.hpp"

namespace garner::admin {

namespace asio = net::asio;
namespace beast = boost::beast;

namespace {

using ResponseParser = beast::http::response_parser<beast::http::string_body>;
using FormRequest = beast::http::request<beast::http::string_body>;

std::string form_encoded(std::string_view text) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    constexpr char digits[] = "0123456789ABCDEF";
    std::string out;
    for (char c : text) {
        auto const byte = static_cast<unsigned char>(c);
        if (plain.find(c) != plain.npos)
            out += c;
        else
            out += {'%', digits[byte >> 4], digits[byte & 15]};
    }
    return out;
}

FormRequest request_of(Question const& question) {
    FormRequest request(beast::http::string_to_verb(question.method), question.target, 11);
    request.set(beast::http::field::host, question.place.text());
    request.set("Garner-Admin", "1");
    if (!question.token.empty()) request.set(beast::http::field::authorization, "Bearer " + question.token);
    request.set(beast::http::field::content_type, "application/x-www-form-urlencoded");
    for (auto const& [name, value] : question.form)
        request.body().append(request.body().empty() ? "" : "&").append(name).append("=").append(form_encoded(value));
    request.keep_alive(false);
    request.prepare_payload();
    return request;
}

net::awaitable<net::Error> exchange(asio::io_context& io, Question const& question, ResponseParser& parser) {
    beast::basic_stream<asio::ip::tcp, net::Executor> stream(io);
    stream.expires_after(question.patience);
    net::TcpEndpoint const place(asio::ip::make_address(question.place.address.text()), question.place.port);
    auto [refused] = co_await stream.async_connect(place, net::as_values);
    if (refused) co_return refused;
    auto const request = request_of(question);
    auto [unsent, sent] = co_await beast::http::async_write(stream, request, net::as_values);
    if (unsent) co_return unsent;
    beast::flat_buffer buffer(256 * KiB);
    auto [unread, bytes] = co_await beast::http::async_read(stream, buffer, parser, net::as_values);
    (void)sent, (void)bytes;
    co_return unread;
}

Fault no_reply(net::Error const& error, std::string const& place, char const* remedy) {
    if (error != beast::error::timeout) return {"no Garner replies at " + place + ": " + lower_case(error.message()), remedy};
    return {"no Garner replies at " + place + " in time", "if it runs, it is stopped or overloaded: see its state with ps -o "
                                                          "pid,stat,cmd -C garner, and restart it if it does not recover"};
}

}   // namespace

Result<nlohmann::ordered_json> ask(Question const& question, std::string_view wanted, unsigned* status) {
    asio::io_context io(1);
    ResponseParser parser;
    parser.body_limit(question.body_max);
    net::Error error;
    auto asking = exchange(io, question, parser);
    asio::co_spawn(io.get_executor(), std::move(asking), [&error](std::exception_ptr, net::Error const& ended) { error = ended; });
    io.run();
    auto const place = question.place.text();
    constexpr auto remedy = "start it, or pass the --config FILE of the running proxy";
    if (error) return no_reply(error, place, remedy);
    auto const& response = parser.get();
    if (status) *status = response.result_int();
    if (response.result_int() != 200) {
        auto said = response.body().substr(0, 500);
        if (said.ends_with('\n')) said.pop_back();
        return Fault{place + " replied " + std::to_string(response.result_int()) + ": " + said};
    }
    auto json = nlohmann::ordered_json::parse(response.body(), nullptr, false);
    if (json.is_object() && json.contains(wanted)) return json;
    return Fault{"the server at " + place + " is not Garner", remedy};
}

Result<IpEndpoint> place_at(std::string const& address, std::uint16_t port) {
    auto parsed = parse_ip(address);
    if (!parsed) return Fault{"the admin address \"" + address + "\" is not an IP address", "write one such as 127.0.0.1"};
    if (parsed->is_unspecified()) parsed = parsed->is_v4() ? IpAddress::v4(127, 0, 0, 1) : *parse_ip("::1");
    return IpEndpoint{*parsed, port};
}

}   // namespace garner::admin
