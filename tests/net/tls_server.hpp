// A certificate authority and TLS servers for scenes; each server runs on its own thread with blocking OpenSSL.
#pragma once
#include <openssl/ssl.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "net/listener.hpp"

namespace garner::net {

struct Identity {
    std::shared_ptr<X509> certificate;
    std::shared_ptr<EVP_PKEY> key;
};

struct CertificateWish {
    std::string alternative_names = "DNS:origin.test";   // in OpenSSL's syntax
    long valid_from = -3'600;                            // seconds from now
    long valid_until = 3'600;
};

class Authority {
public:
    Authority();
    ~Authority();
    Authority(Authority const&) = delete;
    Identity sign(CertificateWish const& wish) const;
    /// A PEM file with the authority's certificate.
    std::string const& file() const { return file_; }

private:
    Identity own_;
    std::string file_;
};

Identity self_signed(CertificateWish const& wish);

class TlsServer {
public:
    using Script = std::function<void(SSL*)>;
    struct Options {
        int max_version = TLS1_3_VERSION;
        std::string address = "127.0.0.1";
        bool session_context = true;   // false: OpenSSL refuses tickets of clients with a certificate by an alert
        std::string client_ca = "";    // PEM file; given: a client certificate is required
    };
    /// Runs `script` on each connection in turn after its handshake, then closes the socket without close_notify.
    TlsServer(Identity const& identity, Script script, Options const& options);
    TlsServer(Identity const& identity, Script script) : TlsServer(identity, std::move(script), Options{}) {}
    ~TlsServer();

    std::uint16_t port() const { return listener_.port(); }
    /// From the last finished handshake. The client's side of a TLS 1.3 handshake ends first, so wait for the script before.
    std::string server_name();
    std::string protocol();
    /// CN of the client's certificate; empty without one.
    std::string client_name();
    std::atomic<int> handshakes = 0;
    std::atomic<int> resumed = 0;
    std::atomic<int> failures = 0;   // handshakes

private:
    void serve();
    Listener listener_;
    Script script_;
    std::shared_ptr<SSL_CTX> context_;
    std::mutex mutex_;
    std::string server_name_;
    std::string protocol_;
    std::string client_name_;
    std::atomic<bool> stopping_ = false;
    std::thread thread_;
};

/// `count` bytes, or fewer if the connection ends or is silent for 5 s.
std::string receive(SSL* ssl, std::size_t count);
void send(SSL* ssl, std::string_view bytes);

}   // namespace garner::net
