// A client connection that was accepted: its socket, its place in the counts, and the listening address it came through.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "net/tls_server_context.hpp"
#include "net/transport.hpp"
#include "proxy/client.hpp"
#include "proxy/services.hpp"
#include "proxy/target.hpp"

namespace garner::proxy {

/// A listening address. Immutable: a reload makes a new one for later connections.
struct ListenPoint {
    std::uint16_t port = 0;
    std::shared_ptr<FixedOrigin const> origin = nullptr;          // null: a forward proxy
    std::shared_ptr<net::TlsServerContext const> tls = nullptr;   // null: plain TCP
    std::vector<IpNetwork> proxy_protocol = {};                   // connections from there begin with a PROXY header
    net::Intercept intercept = net::Intercept::off;               // connections to other addresses that the kernel diverts
    IpEndpoint endpoint = {};                                     // its own; the port is `port`
};

/// The place of a connection in Shared::connections and Shared::clients; its destructor frees it. Move-only.
class Seat {
public:
    /// `client`: the address under which Shared::clients has counted the connection.
    Seat(Shared& shared, IpAddress const& client) : shared_(&shared), client_(client) { shared.connections.enter(); }
    Seat(Seat&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)), client_(other.client_) {}
    Seat& operator=(Seat&&) = delete;
    ~Seat() {
        if (!shared_) return;
        shared_->clients.leave(client_);
        shared_->connections.leave();
    }
    /// For a connection inside a tunnel, which has the seat of the tunnel's connection.
    static Seat uncounted(IpAddress const& client) { return Seat(client); }
    IpAddress const& client() const { return client_; }
    /// Shared::clients has counted the connection as one of `client`, too.
    void move_to(IpAddress const& client) {
        shared_->clients.leave(client_);
        client_ = client;
    }

private:
    explicit Seat(IpAddress const& client) : shared_(nullptr), client_(client) {}
    Shared* shared_;
    IpAddress client_;
};

struct Accepted {
    std::shared_ptr<net::Transport> transport;
    IpEndpoint peer;
    Seat seat;
    std::shared_ptr<ListenPoint const> point;
    std::shared_ptr<Client const> outside = nullptr;            // inside a tunnel: the client of the tunnel
    std::shared_ptr<net::ProxyHeader const> header = nullptr;   // see Client::header
};

}   // namespace garner::proxy
