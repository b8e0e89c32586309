// The request's body on its way to the next server, beside the wait for the response.
#pragma once
#include <functional>

#include "client/exchange.hpp"
#include "proxy/request.hpp"
#include "util/least_rate.hpp"

namespace garner::proxy {

/// Belongs to one request.
class Upload {
public:
    /// Why the body does not come whole: the client's fault; status 0: the client is gone.
    struct Fault {
        std::uint16_t status = 0;
        std::string reason;
    };
    explicit Upload(Request& request) : request_(request) {}

    /// Sends what comes of the client's body, detached. `faulty` is called before the exchange is cancelled because the body
    /// does not come whole. Both outlive the upload: see join().
    void start(client::Exchange& exchange, std::function<void(Fault)> faulty);
    /// The response is there: the rest of the body is of no use. Ends the upload and, with it, the client's connection.
    net::awaitable<void> join();

    bool running() const { return request_.uploading; }
    /// Some of the body may have gone out: the request is not repeated elsewhere.
    bool started() const { return started_; }
    /// Nothing of the request was kept from the next server.
    bool sent_whole() const { return !started_ || whole_; }

private:
    net::awaitable<void> run(std::function<void(Fault)> faulty);
    std::optional<Fault> fault_of(ClientStream::Piece const& piece, Bytes received, SteadyTime asked);
    net::awaitable<bool> pass_on(std::string_view piece);

    Request& request_;
    client::Exchange* exchange_ = nullptr;
    Pace pace_;
    bool started_ = false;
    bool joining_ = false;
    bool whole_ = false;               // the next server has all of it
    net::WakeHandle joined_;
};

}  // namespace garner::proxy
