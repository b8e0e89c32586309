// One client connection: its requests in sequence, until one side closes.
#pragma once
#include <memory>
#include <optional>

#include "proxy/http1_stream.hpp"
#include "proxy/services.hpp"
#include "proxy/transaction.hpp"

namespace garner::proxy {

class Connection : public Link {
public:
    /// `client` is the address under which Shared::clients counts the connection.
    Connection(Services& services, std::unique_ptr<net::Transport> transport, IpEndpoint peer, IpAddress const& client,
               std::uint16_t listener, AcceleratedOrigin const* origin);
    ~Connection();

    /// Runs the connection to its end, detached.
    static void start(std::unique_ptr<Connection> connection);

    /// Ends the connection between requests: at once when it is idle, else after the current response.
    void drain();
    /// True while it waits for a request, for the rest of a head, or for the client to close.
    bool waits() const { return waits_; }
    IpAddress const& client() const { return client_; }
    /// Closes a waiting connection, to make room for another client.
    void give_way();
    /// Ends the connection now.
    void abort() {
        drain();
        if (transaction_) transaction_->abort();
    }

private:
    static net::awaitable<void> run_and_destroy(std::unique_ptr<Connection> connection);
    net::awaitable<void> run();
    net::awaitable<void> refuse(Http1Stream::Arrival arrival);
    net::awaitable<void> refuse_head(std::uint16_t status, std::string_view why);
    net::awaitable<void> linger();
    void begin_to_wait();

    Services& services_;
    Http1Stream stream_;
    AcceleratedOrigin const* accelerates_;
    Scratch scratch_;
    std::optional<Transaction> transaction_;   // while one runs; too large for a coroutine frame, which would then not be recycled
    IpAddress const client_;
    bool idle_ = false;
    bool waits_ = false;
};

/// Closes the longest waiting connection of the client with most connections, else of any client. Each worker
/// closes only its own connections, so the next worker is asked if this one has none.
void make_room(Services& services);

}   // namespace garner::proxy
