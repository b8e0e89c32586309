// The TLS handshake with a client, which decides the protocol of its connection.
#pragma once
#include "net/tls_session.hpp"
#include "proxy/connection.hpp"

namespace garner::proxy {

/// Runs until the handshake ends, and then passes the connection on. Belongs to one worker.
class TlsHandshake : public Connection {
public:
    using Connection::Connection;

    void drain() override { transport().cancel(); }
    void abort() override { transport().cancel(); }

private:
    net::awaitable<void> run() override;
    void start_protocol();
    void note_failure(net::HandshakeFault fault);
};

}   // namespace garner::proxy
