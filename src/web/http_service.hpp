// A small HTTP server on a thread of its own, for the admin address and the URL-seen service.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "net/asio.hpp"
#include "util/mutex.hpp"
#include "util/prepared.hpp"
#include "util/result.hpp"
#include "web/http_connection.hpp"

namespace garner::web {

class HttpService {
public:
    struct Options {
        std::string address = "127.0.0.1";   // an IP address; empty: listens nowhere
        std::uint16_t port = 0;              // 0: any that is free
        std::uint32_t connections = 128;     // when there are more, the one that waits for a request longest is closed
        bool closes_busy = false;   // also one that is busy, except with a stream; otherwise only one that sends a body, of a
                                    // client with more connections than the new one's. If there is none: the new one
        HttpConnection::Limits limits = {};
        char const* thread = "http";   // its name
    };
    /// Answers the requests of a connection until receive() returns false. Runs on the thread.
    using Serve = std::function<net::awaitable<void>(HttpConnection&)>;

    /// Listens. The fault's `where` is "127.0.0.1 port 3131".
    /// `handed`: a listening socket at the address, to use instead of a new one; the service owns it. -1: none.
    static Result<std::unique_ptr<HttpService>> open(Options const&, Serve, int handed = -1);
    /// Stops the service, too.
    ~HttpService() { stop(); }

    /// Runs on the thread. Coroutines beside the connections are spawned before start() and ended by `then` of stop().
    net::asio::io_context& io() { return io_; }
    /// The address that it listens on: "127.0.0.1:3131"; empty: none. From any thread.
    std::string address() const;
    /// Listens on another address, too; the fault is as in open(). The Prepared closes the former one: each of its connections
    /// may send one more request. Call it after start(), from another thread.
    Result<Prepared> prepare(std::string const& address, std::uint16_t port);

    void start();
    /// Another process accepts connections from the same socket until resume(). Each connection may send one more request.
    void pause();
    void resume();
    /// The listening socket; -1: none. From any thread, while it accepts.
    int descriptor() const;
    /// Closes idle connections; the others get `drain` to finish their request. Then calls `then` on the thread, and waits for
    /// the thread to end. It cannot be started again.
    void stop(milliseconds drain = {}, std::function<void()> const& then = {});

private:
    /// A listening socket, and the limits of its connections.
    struct OpenAddress;
    using OpenAddressPtr = std::shared_ptr<OpenAddress>;

    HttpService(Options const& options, Serve serve) : options_(options), serve_(std::move(serve)) {}

    Result<OpenAddressPtr> listen(std::string const& address, std::uint16_t port);
    Result<OpenAddressPtr> adopt(int handed);
    void note(OpenAddress*);
    void move_to(OpenAddressPtr);
    void begin_to_accept();
    net::awaitable<void> accept(OpenAddressPtr);
    void admit(net::TcpSocket, OpenAddressPtr const&);
    bool make_room(IpAddress const& client) const;
    template <class Condition>
    HttpConnection* longest(Condition const& may_end) const;
    net::awaitable<void> run(std::unique_ptr<HttpConnection>, OpenAddressPtr);
    net::awaitable<void> drain(milliseconds limit, std::function<void()> const& then);
    net::awaitable<void> pause(milliseconds time);

    Options const options_;
    Serve const serve_;
    mutable Mutex mutex_;
    IpEndpoint listening_ GUARDED_BY(mutex_){};   // port 0: nowhere
    int descriptor_ GUARDED_BY(mutex_) = -1;
    net::asio::io_context io_{1};
    OpenAddressPtr place_;   // null: listens nowhere
    bool stopping_ = false;
    net::Timer timer_{io_};
    List<HttpConnection> connections_;
    std::thread thread_;
};

}   // namespace garner::web
