// The PROXY header that a listed load balancer sends before its client's bytes.
#pragma once
#include <string>

#include "net/proxy_protocol.hpp"
#include "proxy/connection.hpp"

namespace garner::proxy {

/// Reads the header, counts the connection as one of the client that it names, and passes the connection on. Closes it without a
/// byte if there is no valid header. Belongs to one worker.
class ProxyHeaderConnection : public Connection {
public:
    ProxyHeaderConnection(Services& services, Accepted accepted)
        : Connection(services, std::move(accepted)),
          drained_(
              services.worker.wheel, [](void* self) { static_cast<ProxyHeaderConnection*>(self)->abort(); }, this) {}

    void drain() override { drained_.arm(drain_patience()); }
    void abort() override { transport().cancel(); }
    void name_pending(std::vector<std::string>&) const override {}

private:
    net::awaitable<void> run() override;
    net::awaitable<net::ProxyHeaderParse> read_header();
    net::ProxyHeaderParse take_bytes();
    /// The client as the header names it; the sender for an address that only a local program can have.
    IpEndpoint client_of(net::ProxyHeader const&) const;

    std::string received_;   // while the header is incomplete
    net::Deadline drained_;
};

}   // namespace garner::proxy
