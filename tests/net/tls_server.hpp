// A certificate authority and TLS servers for scenes; each server runs on a thread of its own with blocking OpenSSL.
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
    std::string alternative_names = "DNS:origin.test";   // OpenSSL's form
    long valid_from = -3'600;                            // seconds from now
    long valid_until = 3'600;
};

class Authority {
public:
    Authority();
    ~Authority();
    Authority(Authority const&) = delete;
    Identity sign(CertificateWish const& wish) const;
    /// A PEM file with the authority's own certificate.
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
    };
    /// Runs `script` on each connection in turn once its handshake is done, then closes the socket without more ado.
    TlsServer(Identity const& identity, Script script, Options const& options);
    TlsServer(Identity const& identity, Script script) : TlsServer(identity, std::move(script), Options{}) {}
    ~TlsServer();

    std::uint16_t port() const { return listener_.port(); }
    /// Of the last finished handshake; under TLS 1.3 the client's end is done first: hear from the script before.
    std::string server_name();
    std::string protocol();
    std::atomic<int> handshakes = 0;
    std::atomic<int> resumed = 0;

private:
    void serve();
    Listener listener_;
    Script script_;
    std::shared_ptr<SSL_CTX> context_;
    std::mutex mutex_;
    std::string server_name_;
    std::string protocol_;
    std::atomic<bool> stopping_ = false;
    std::thread thread_;
};

/// All of these bytes, or as many as came before the end or 5 s of silence.
std::string receive(SSL* ssl, std::size_t count);
void send(SSL* ssl, std::string_view bytes);

}   // namespace garner::net
