// A client's connection, whatever protocol it speaks.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/accepted.hpp"
#include "proxy/client.hpp"
#include "util/clock.hpp"
#include "util/intrusive_list.hpp"

namespace garner::proxy {

/// Belongs to one worker, and to itself once it runs.
class Connection : public Link {
public:
    Connection(Services& services, Accepted accepted);
    virtual ~Connection() = default;

    /// Runs the connection to its end, detached.
    static void start(std::unique_ptr<Connection> connection);

    /// Runs the connection to its end; for a connection inside a tunnel.
    static net::awaitable<void> run_to_end(std::unique_ptr<Connection> connection);

    /// Services::drain has begun: the last request in the input is answered with `Connection: close`. An idle connection has
    /// deadlines.drain_idle for one more request.
    virtual void drain() = 0;
    /// Ends the connection now.
    virtual void abort() = 0;
    /// Appends a line for each request that is not answered completely: "GET http://example.com/ for 10.0.0.7, for 3 s".
    virtual void name_pending(std::vector<std::string>& lines) const = 0;
    /// True while it waits for a request, for the rest of a head, or for the client to close.
    bool waits() const { return waits_; }
    IpAddress const& client() const { return accepted_.seat.client(); }
    /// True if it waits, and has waited for `patience` since the first call of this wait.
    bool gives_way(SteadyTime now, milliseconds patience);
    /// Closes a waiting connection, to make room for another client.
    void give_way();

protected:
    virtual net::awaitable<void> run() = 0;
    net::Transport& transport() { return *accepted_.transport; }
    std::shared_ptr<Client const> describe_client() const;
    ListenPoint const& point() const { return *accepted_.point; }
    std::shared_ptr<ListenPoint const> const& shared_point() const { return accepted_.point; }
    OriginSeats& origin_seats() const { return accepted_.seat.origins(); }
    /// See Client::header.
    net::ProxyHeader const* header() const { return accepted_.header.get(); }
    IpEndpoint const& peer() const { return accepted_.peer; }
    /// The local address that the client connected to.
    IpEndpoint own_endpoint() const;
    /// Hands the connection to another object. The transport stays where it is in memory.
    Accepted hand_over() { return std::move(accepted_); }
    void begin_to_wait();
    void end_wait() { waits_ = false; }
    /// During a drain: the limit for a client's next step in a TLS handshake, or for its answer to GOAWAY. The client sends it
    /// at once, but a busy client needs time; at least one second, else deadlines.drain_idle.
    milliseconds drain_patience() const;
    /// RFC 9112 9.6: after the last response the client's bytes are read a little longer. A reset could destroy the response.
    net::awaitable<void> linger();

    Services& services_;

private:
    Accepted accepted_;
    bool waits_ = false;
    std::optional<SteadyTime> asked_;   // to give way, during this wait
};

/// Closes the longest waiting connection of the client with most connections, else of any client. Each worker closes only its
/// own connections, so the next worker is asked if this one has none. While few connections wait, each has a second for its
/// request.
void make_room(Services& services);

}   // namespace garner::proxy
