// Sends the request's body to the next server while the response is awaited.
#pragma once
#include <functional>

#include "client/exchange.hpp"
#include "proxy/request.hpp"
#include "util/least_rate.hpp"

namespace garner::proxy {

/// Belongs to one request.
class Upload {
public:
    /// Why the body is incomplete: the client's error; status 0: the client is gone; 429: its quota is used up.
    struct Fault {
        std::uint16_t status = 0;
        std::string reason;
    };
    explicit Upload(Request& request) : request_(request) {}

    /// Sends the client's body as it arrives, detached. `faulty` is called before the exchange is cancelled because the
    /// body is incomplete, and `moved` after each piece. All outlive the upload: see join().
    void start(client::Exchange& exchange, std::function<void(Fault)> faulty, std::function<void()> moved);
    /// The exchange is over: the rest of the body is useless. Ends the upload, and with it the client's connection.
    net::awaitable<void> join();

    bool running() const { return request_.uploading; }
    /// Some of the body may have been sent: the request is not repeated at another source.
    bool started() const { return started_; }
    /// The next server was sent the whole request.
    bool sent_whole() const { return !started_ || whole_; }

private:
    net::awaitable<void> run(std::function<void(Fault)> faulty);
    std::optional<Fault> fault_of(ClientStream::Piece const& piece, Bytes received, SteadyTime asked);
    net::awaitable<bool> pass_on(std::string_view piece);
    void give_up();

    Request& request_;
    client::Exchange* exchange_ = nullptr;
    std::function<void()> moved_;
    Pace pace_;
    bool started_ = false;
    bool joining_ = false;
    bool whole_ = false;   // the next server has the whole body
    net::WakeHandle joined_;
};

}   // namespace garner::proxy
