// The TLS handshake with a client, which decides the protocol of its connection.
#pragma once
#include "net/tls_session.hpp"
#include "proxy/connection.hpp"

namespace garner::proxy {

/// Runs until the handshake ends, and then passes the connection on. Belongs to one worker.
class TlsHandshake : public Connection {
public:
    TlsHandshake(Services& services, Accepted accepted)
        : Connection(services, std::move(accepted)),
          drained_(
              services.worker.wheel, [](void* self) { static_cast<TlsHandshake*>(self)->end_if_silent(); }, this) {}

    void drain() override { drained_.arm(drain_patience()); }
    void abort() override { transport().cancel(); }
    void name_pending(std::vector<std::string>&) const override {}

private:
    net::awaitable<void> run() override;
    void end_if_silent();
    void start_protocol();
    void note_failure(net::HandshakeFault fault);

    net::Deadline drained_;
};

}   // namespace garner::proxy
