// A client's HTTP/1.1 connection: its requests in sequence, until one side closes.
#pragma once
#include <memory>

#include "proxy/connection.hpp"
#include "proxy/departures.hpp"
#include "proxy/http1_stream.hpp"
#include "proxy/request_places.hpp"

namespace garner::proxy {

class Http1Connection : public Connection {
public:
    /// `refusal`: null, or why the client's first request is answered with 400 without being read, a literal.
    Http1Connection(Services& services, Accepted accepted, char const* refusal = nullptr);
    /// A connection that another process has served. `accepted` has its descriptor.
    Http1Connection(Services& services, Accepted accepted, MovingClient client, Departures::Next next);
    ~Http1Connection() override;

    void drain() override;
    void abort() override;
    void name_pending(std::vector<std::string>& lines) const override;

private:
    net::awaitable<void> run() override;
    net::awaitable<void> serve();
    Http1Stream::HeadWaits begin_waiting(Options const& options);
    bool waits_again(Http1Stream::Arrival arrival);
    net::awaitable<void> refuse(Http1Stream::Arrival arrival);
    net::awaitable<void> refuse_and_linger();
    net::awaitable<void> refuse_protocol(std::string_view why);
    net::awaitable<void> refuse_head(std::uint16_t status, std::string_view why, std::string_view logged = {});
    bool moves() const;
    void leave(std::unique_ptr<MovingTunnel> tunnel = nullptr);
    net::awaitable<void> go_on_with_tunnel();
    takeover::HandedClient state() const;
    Transaction& begin_request(std::shared_ptr<Options const> const& options);

    Http1Stream stream_;
    char const* const refusal_;
    RequestPlaces::Lease place_;             // while a request runs
    std::unique_ptr<MovingTunnel> tunnel_;   // of another process; null once it goes on
    bool is_new_ = true;                     // no request has begun
    bool reads_head_ = false;
    bool restarts_ = false;   // drain() has interrupted the wait for a request
};

}   // namespace garner::proxy
