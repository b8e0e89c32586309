// A small HTTP server on a thread of its own, for the admin address and the URL-seen service.
#pragma once
#include <boost/asio/basic_socket_acceptor.hpp>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "net/asio.hpp"
#include "util/result.hpp"
#include "web/http_connection.hpp"

namespace garner::web {

class HttpService {
public:
    struct Options {
        std::string address = "127.0.0.1";   // an IP address
        std::uint16_t port = 0;              // 0: any that is free
        std::uint32_t connections = 128;     // when there are more, the one that waits for a request longest is closed
        bool closes_busy = false;            // also one that is busy; otherwise only one that sends a body, of a client with more
                                             // connections than the new one's, and the new one if there is none
        HttpConnection::Limits limits = {};
        char const* thread = "http";   // its name
    };
    /// Answers the requests of a connection until receive() returns false. Runs on the thread.
    using Serve = std::function<net::awaitable<void>(HttpConnection&)>;

    /// Listens. The fault's `where` is "127.0.0.1 port 3131".
    static Result<std::unique_ptr<HttpService>> open(Options const&, Serve);
    /// Stops the service, too.
    ~HttpService() { stop(); }

    /// Runs on the thread. Coroutines beside the connections are spawned before start() and ended by `then` of stop().
    net::asio::io_context& io() { return io_; }
    /// The address that it listens on: "127.0.0.1:3131".
    std::string const& address() const { return address_; }

    void start();
    /// Closes idle connections; the others get `drain` to finish their request. Then calls `then` on the thread, and waits for
    /// the thread to end. It cannot be started again.
    void stop(milliseconds drain = {}, std::function<void()> const& then = {});

private:
    HttpService(Options const& options, Serve serve) : options_(options), limits_(options.limits), serve_(std::move(serve)) {}

    net::Error listen();
    net::awaitable<void> accept();
    void admit(net::TcpSocket);
    bool make_room(IpAddress const& client) const;
    template <class Condition>
    HttpConnection* longest(Condition const& may_end) const;
    net::awaitable<void> run(std::unique_ptr<HttpConnection>);
    net::awaitable<void> drain(milliseconds limit, std::function<void()> const& then);
    net::awaitable<void> pause(milliseconds time);

    Options const options_;
    HttpConnection::Limits limits_;
    Serve const serve_;
    std::string address_;
    net::asio::io_context io_{1};
    net::asio::basic_socket_acceptor<net::asio::ip::tcp, net::Executor> acceptor_{io_};
    net::Timer timer_{io_};
    List<HttpConnection> connections_;
    std::thread thread_;
};

}   // namespace garner::web
