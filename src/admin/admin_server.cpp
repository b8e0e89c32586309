#include "admin/admin_server.hpp"

#include <pthread.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <optional>
#include <thread>

#include "admin/routes.hpp"
#include "http/dates.hpp"
#include "net/address.hpp"
#include "net/asio.hpp"
#include "util/link.hpp"
#include "util/text.hpp"
#include "util/version.hpp"

namespace garner::admin {

namespace asio = net::asio;
namespace beast = boost::beast;
using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, net::Executor>;
using Stream = beast::basic_stream<asio::ip::tcp, net::Executor>;

namespace {

constexpr milliseconds no_descriptors_pause{100};

std::string head_of(Reply const& reply, bool keep) {
    auto const reason = beast::http::obsolete_reason(static_cast<beast::http::status>(reply.status));
    std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " " + std::string(reason) + "\r\n";
    auto field = [&head](std::string_view name, std::string_view value) {
        head.append(name).append(": ").append(value).append("\r\n");
    };
    field("Server", std::string("garner/") + version);
    field("Date", http::format_http_date(unix_seconds(wall_now())));
    field("Content-Type", reply.type);
    field("Content-Length", std::to_string(reply.body.size()));
    if (!reply.allow.empty()) field("Allow", reply.allow);
    field("Cache-Control", "no-store");
    field("X-Content-Type-Options", "nosniff");
    field("Cross-Origin-Resource-Policy", "same-origin");
    field("Content-Security-Policy", reply.content_policy);
    if (!keep) field("Connection", "close");
    return head + "\r\n";
}

/// What could not be read, in HTTP's terms; none when there is nobody to tell.
std::optional<Reply> reply_to(net::Error const& error) {
    using Fault = beast::http::error;
    static auto const& of_http = make_error_code(Fault::bad_method).category();
    if (error.category() != of_http || error == Fault::end_of_stream || error == Fault::partial_message)
        return std::nullopt;
    Reply reply;
    reply.status = error == Fault::body_limit                                        ? 413
                   : error == Fault::header_limit || error == Fault::buffer_overflow ? 431
                                                                                     : 400;
    reply.body = "The request cannot be read: " + error.message() + "\n";
    return reply;
}

}  // namespace

/// One connection; it is in the list while it may be served.
struct Client : Link {
    Client(Stream::socket_type socket, IpEndpoint own, IpAddress address, Options const& options)
        : stream(std::move(socket)), own(own), address(address), buffer(options.head_bytes + at_once) {}
    static constexpr std::size_t at_once = 64 * KiB;   // that is read beside a head

    Stream stream;
    IpEndpoint own;                          // our end of it
    IpAddress address;                       // the other end
    beast::flat_buffer buffer;
    std::optional<beast::http::request_parser<beast::http::string_body>> parser;
    std::string out;
};

struct AdminServer::Inside {
    Inside(Options const& given, proxy::Server& server) : options(given), routes(server, options.names) {}

    bool open(std::string& fault);
    void start();
    void stop();

    net::awaitable<void> accept();
    void admit(net::TcpSocket);
    net::awaitable<void> converse(std::unique_ptr<Client>);
    net::awaitable<bool> exchange(Client&);
    net::awaitable<Reply> answer(Client const&);
    net::awaitable<Reply> answer_apart(Request request);
    bool may_ask(IpAddress const& client) const;
    net::awaitable<void> say_goodbye(Client&);
    net::awaitable<void> sample();

    Options const options;
    Routes routes;
    std::string address;
    asio::io_context io{1};
    Acceptor acceptor{io};
    net::Timer pause{io};
    net::Timer tick{io};
    List<Client> clients;                    // the one that has been silent longest first
    bool stopped = false;
    std::thread thread;
    asio::thread_pool patient{1};            // for requests that may wait; joined before all that they use goes
};

std::unique_ptr<AdminServer> AdminServer::open(Options const& options, proxy::Server& server, std::string& fault) {
    auto inside = std::make_unique<Inside>(options, server);
    if (!inside->open(fault)) return nullptr;
    return std::unique_ptr<AdminServer>(new AdminServer(std::move(inside)));
}

AdminServer::AdminServer(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
AdminServer::~AdminServer() { stop(); }
void AdminServer::start() { inside_->start(); }
void AdminServer::stop() { inside_->stop(); }
std::string const& AdminServer::address() const { return inside_->address; }

bool AdminServer::Inside::open(std::string& fault) {
    net::Error error;
    net::TcpEndpoint const endpoint(asio::ip::make_address(options.address, error), options.port);
    if (!error) acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error && endpoint.protocol() == asio::ip::tcp::v6()) acceptor.set_option(asio::ip::v6_only(!endpoint.address().is_unspecified()), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
        fault = "the admin address cannot be " + options.address + " port " + std::to_string(options.port) + ": " +
                error.message();
        return false;
    }
    auto const local = acceptor.local_endpoint();
    address = IpEndpoint{net::to_ip(local.address()), local.port()}.text();
    return true;
}

void AdminServer::Inside::start() {
    auto accepting = accept(), sampling = sample();
    asio::co_spawn(io.get_executor(), std::move(accepting), asio::detached);
    asio::co_spawn(io.get_executor(), std::move(sampling), asio::detached);
    thread = std::thread([this] {
        ::pthread_setname_np(::pthread_self(), "admin");
        io.run();
    });
}

void AdminServer::Inside::stop() {
    if (!thread.joinable()) return;
    asio::post(io, [this] {
        stopped = true;
        net::Error ignored;
        acceptor.close(ignored);
        pause.cancel();
        tick.cancel();
        while (auto* client = clients.pop_front()) client->stream.close();
    });
    thread.join();
}

net::awaitable<void> AdminServer::Inside::accept() {
    while (!stopped) {
        auto [error, socket] = co_await acceptor.async_accept(net::as_values);
        if (stopped) break;
        if (!error) {
            admit(std::move(socket));
            continue;
        }
        pause.expires_after(no_descriptors_pause);
        auto [ended] = co_await pause.async_wait(net::as_values);
        (void)ended;
    }
}

void AdminServer::Inside::admit(net::TcpSocket socket) {
    net::Error error;
    auto const local = socket.local_endpoint(error);
    if (error) return;   // gone already
    auto const remote = socket.remote_endpoint(error);
    if (error) return;
    auto client = std::make_unique<Client>(std::move(socket), IpEndpoint{net::to_ip(local.address()), local.port()}, net::to_ip(remote.address()), options);
    clients.push_back(*client);
    std::uint32_t count = 0;
    for (auto at = clients.begin(); at != clients.end(); ++at) ++count;
    if (count > options.connections) clients.pop_front()->stream.close();
    auto conversation = converse(std::move(client));
    asio::co_spawn(io.get_executor(), std::move(conversation), asio::detached);
}

net::awaitable<void> AdminServer::Inside::converse(std::unique_ptr<Client> client) {
    while (client->linked()) {
        bool const more = co_await exchange(*client);   // g++ 12 traps on this await behind &&
        if (!more || !client->linked()) break;          // it had to make way, or all is over
        client->unlink();
        clients.push_back(*client);
    }
}

/// One request and its answer; false when it was the last.
net::awaitable<bool> AdminServer::Inside::exchange(Client& client) {
    auto& parser = client.parser.emplace();
    parser.header_limit(options.head_bytes);
    parser.body_limit(options.body_bytes);
    client.stream.expires_after(options.request);
    auto [error, bytes] = co_await beast::http::async_read(client.stream, client.buffer, parser, net::as_values);
    (void)bytes;
    auto const fault = error ? reply_to(error) : std::nullopt;
    if (error && !fault) co_return false;

    auto const& request = parser.get();
    bool const head_only = request.method() == beast::http::verb::head;
    // With a body that we and the client might measure differently, nothing that follows is a request.
    bool const bodiless = (request.method() == beast::http::verb::get || head_only) &&
                          request.count(beast::http::field::transfer_encoding) == 0;
    bool const keep = !fault && bodiless && request.keep_alive();
    Reply reply;
    if (fault)
        reply = *fault;
    else
        reply = co_await answer(client);
    client.out = head_of(reply, keep);
    if (!head_only) client.out += reply.body;
    client.stream.expires_after(options.answer);
    auto const buffer = asio::buffer(client.out);
    auto [trouble, sent] = co_await asio::async_write(client.stream, buffer, net::as_values);
    (void)sent;
    if (trouble) co_return false;
    if (!keep) co_await say_goodbye(client);
    co_return keep;
}

net::awaitable<Reply> AdminServer::Inside::answer(Client const& client) {
    if (!may_ask(client.address)) {
        Reply refused;
        refused.status = 403;
        refused.body = "The admin address does not serve " + client.address.text() + ": add its network to admin.allow.\n";
        co_return refused;
    }
    auto const& read = client.parser->get();
    Request request;
    request.method = {read.method_string().data(), read.method_string().size()};
    request.target = {read.target().data(), read.target().size()};
    auto const [first, last] = read.equal_range(beast::http::field::host);
    for (auto at = first; at != last; ++at) request.hosts.emplace_back(at->value().data(), at->value().size());
    request.meant = read["Garner-Admin"] == "1";
    request.body = read.body();
    request.own = client.own;
    if (Routes::shows_figures(request.target)) co_return routes.answer(request);
    co_return co_await answer_apart(std::move(request));
}

/// The client's bytes, which the request points into, stay as long as its coroutine, and that waits here.
net::awaitable<Reply> AdminServer::Inside::answer_apart(Request request) {
    auto const begin = [this, &request](auto handler) {
        asio::post(patient, [this, &request, handler = std::move(handler)]() mutable {
            auto reply = routes.answer(request);
            asio::post(io, [handler = std::move(handler), reply = std::move(reply)]() mutable {
                std::move(handler)(std::move(reply));
            });
        });
    };
    auto token = net::as_values;
    auto [reply] = co_await asio::async_initiate<decltype(token), void(Reply)>(begin, token);
    co_return reply;
}

bool AdminServer::Inside::may_ask(IpAddress const& client) const {
    return client.is_loopback() || is_among(client, options.allow);
}

/// Closing with bytes unread would be a reset, which may take the answer with it.
net::awaitable<void> AdminServer::Inside::say_goodbye(Client& client) {
    constexpr seconds patience{2};
    constexpr std::size_t most = 256 * KiB;
    net::Error error;
    client.stream.socket().shutdown(asio::socket_base::shutdown_send, error);
    client.stream.expires_after(patience);
    client.out.resize(4 * KiB);
    for (std::size_t total = 0; !error && total < most;) {
        auto const buffer = asio::buffer(client.out);
        auto [end, bytes] = co_await client.stream.async_read_some(buffer, net::as_values);
        error = end;
        total += bytes;
    }
}

net::awaitable<void> AdminServer::Inside::sample() {
    while (!stopped) {
        tick.expires_after(Samples::interval);
        auto [error] = co_await tick.async_wait(net::as_values);
        if (!error) routes.sample();
    }
}

}  // namespace garner::admin
