// A client connection that was accepted: its socket, its place in the counts, and the listening address it came through.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "net/tls_server_context.hpp"
#include "net/transport.hpp"
#include "proxy/client.hpp"
#include "proxy/origin_seats.hpp"
#include "proxy/services.hpp"
#include "proxy/target.hpp"
#include "util/recycled_memory.hpp"

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
    Seat(Services& services, IpAddress const& client)
        : seats_(std::allocate_shared<OriginSeats>(RecyclingAllocator<OriginSeats>(), services, client)) {}
    /// For a connection inside a tunnel, which has the seat of the tunnel's connection.
    static Seat inside(OriginSeats& outer) { return Seat(outer.shared_from_this()); }
    Seat(Seat&& other) noexcept : seats_(other.seats_), is_own_(std::exchange(other.is_own_, false)) {}
    Seat& operator=(Seat&&) = delete;
    ~Seat() {
        if (is_own_) seats_->end_connection();
    }
    IpAddress const& client() const { return seats_->client(); }
    /// Shared::clients has counted the connection as one of `client`, too.
    void move_to(IpAddress const& client) { seats_->move_to(client); }
    /// For the connections to origins.
    OriginSeats& origins() const { return *seats_; }

private:
    explicit Seat(std::shared_ptr<OriginSeats> outer) : seats_(std::move(outer)), is_own_(false) {}
    std::shared_ptr<OriginSeats> seats_;
    bool is_own_ = true;   // it frees the seat
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
