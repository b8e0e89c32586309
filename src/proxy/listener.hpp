// Listening sockets: opened in one place, each accepting on one worker.
#pragma once
#include <memory>
#include <string>

#include "net/acceptor.hpp"
#include "proxy/accepted.hpp"
#include "util/result.hpp"

namespace garner::proxy {

using net::Acceptor;

/// Accepts clients on one worker. Functions are for any thread. Without an owner it runs until close().
class Listener : public std::enable_shared_from_this<Listener> {
public:
    /// `inherited`: the service manager has the same socket, for the next process too.
    Listener(Services& services, Acceptor acceptor, std::shared_ptr<ListenPoint const> point, bool inherited)
        : services_(services), acceptor_(std::move(acceptor)), inherited_(inherited), endpoint_(acceptor_.local_endpoint()),
          on_loopback_(endpoint_.address().is_loopback()), pause_(services.worker.io), point_(std::move(point)) {}

    ~Listener();
    /// Starts accepting.
    void start();
    /// For later connections.
    void use(std::shared_ptr<ListenPoint const> point);
    /// The limit of connections has become lower: it applies to the next connection.
    void apply_limit();
    /// From now on the kernel drops new connections of clients, which try again for a while. Handshakes in progress continue.
    /// An inherited socket queues them for the next process.
    void drop_new();
    /// The time that these handshakes get.
    milliseconds handshake_time() const;
    /// Accepts the connections that are established, unless the socket is inherited, and closes it.
    void close();
    /// Does drop_new(), and close() after handshake_time().
    void retire();

    /// Accepts no connection until resume(): another process accepts them from the same socket, which stays open.
    void pause();
    void resume();
    /// While it accepts.
    int descriptor() const { return const_cast<Acceptor&>(acceptor_).native_handle(); }
    bool inherited() const { return inherited_; }

private:
    net::awaitable<void> run(std::shared_ptr<Listener> self);
    net::awaitable<void> close_later(std::shared_ptr<Listener> self);
    void close_now();
    bool accepts() const { return !stopped_ && kept_ < 0; }
    net::awaitable<void> pause(milliseconds time);
    net::awaitable<void> find_descriptors();
    void admit(net::TcpSocket socket, net::TcpEndpoint const& remote);
    /// Each client of this address speaks HTTP.
    bool speaks_clear() const { return !point_->tls && point_->intercept == net::Intercept::off; }
    Bytes refuse_in_clear(net::TcpSocket& socket) const;

    Services& services_;
    Acceptor acceptor_;
    bool const inherited_;
    net::TcpEndpoint const endpoint_;
    bool const on_loopback_;
    net::Timer pause_;
    std::shared_ptr<ListenPoint const> point_;
    bool stopped_ = false;
    int kept_ = -1;   // the socket between pause() and resume()
};

/// A fault if another process listens there: SO_REUSEPORT alone would let a second proxy of the same user share the port
/// unnoticed.
Result<void> port_is_free(net::TcpEndpoint const& endpoint);

/// A bound, listening socket with SO_REUSEPORT.
Result<Acceptor> listen_on(net::asio::io_context& io, net::TcpEndpoint const& endpoint);

}   // namespace garner::proxy
