// A TLS client and a server session, connected in memory.
#pragma once
#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/tls_server_context.hpp"
#include "support/issued_certificate.hpp"

namespace garner::net {

using TlsTicket = std::shared_ptr<SSL_SESSION>;

/// The parameters of a client. Its security level is 0, so that only the server refuses.
struct ClientWish {
    std::string server_name;
    std::string protocols;   // ALPN as on the wire: "\x02h2"
    int min_version = TLS1_VERSION;
    int max_version = TLS1_3_VERSION;
    std::string ciphers;   // up to TLS 1.2
    std::string suites;    // for TLS 1.3
    std::string groups;
    test::IssuedCertificate const* certificate = nullptr;
    TlsTicket ticket;   // to resume
};

class TlsPair {
public:
    TlsPair(TlsServerContext const& server_context, ClientWish const& wish);
    TlsPair(TlsPair const&) = delete;

    /// Both ends completed the handshake.
    bool done() const { return done_; }
    /// The alert that the client received; 0: none.
    int alert() const { return alert_; }
    bool resumed() const { return SSL_session_reused(server_.get()) == 1; }
    int version() const { return SSL_version(server_.get()); }
    std::string cipher() const { return SSL_get_cipher_name(server_.get()); }
    /// CN of the server's certificate; empty after a resumption under TLS 1.3.
    std::string server_common_name() const;
    /// By ALPN; empty: none.
    std::string protocol() const;
    /// Names in the client's certificate.
    std::vector<std::string> identity() const;
    /// Those that the client received, the latest last; under TLS 1.2 not those of a resumed session.
    std::vector<TlsTicket> const& tickets() const { return tickets_; }
    /// The latest ticket; nullptr if there is none.
    TlsTicket ticket() const;

    SSL* client() const { return client_.get(); }
    SSL* server() const { return server_.get(); }

private:
    void prepare_client(ClientWish const& wish);
    void connect();
    void shake_hands();
    std::shared_ptr<SSL_CTX> client_context_;
    std::shared_ptr<SSL> server_;
    std::shared_ptr<SSL> client_;
    std::vector<TlsTicket> tickets_;
    bool done_ = false;
    int alert_ = 0;
};

}   // namespace garner::net
