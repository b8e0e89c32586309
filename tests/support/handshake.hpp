// A TLS handshake by hand, so that its bytes can be sent in pieces.
#pragma once
#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "support/wire.hpp"

namespace garner::test {

/// A client of TLS whose bytes the test sends itself.
class Handshake {
public:
    explicit Handshake(std::string const& name, std::size_t protocols = 0) {
        if (!name.empty()) SSL_set_tlsext_host_name(ssl_.get(), name.c_str());
        std::string offered;
        for (std::size_t i = 0; i < protocols; ++i)
            offered += std::string(1, 20) + "protocol-" + std::to_string(10'000'000'000 + i);
        auto const* const bytes = reinterpret_cast<unsigned char const*>(offered.data());
        if (protocols > 0) SSL_set_alpn_protos(ssl_.get(), bytes, static_cast<unsigned>(offered.size()));
        SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
        SSL_set_connect_state(ssl_.get());
    }
    /// Offers these protocols by ALPN.
    void offer(std::initializer_list<std::string_view> protocols) {
        std::string offered;
        for (auto const protocol : protocols) offered.append(1, static_cast<char>(protocol.size())).append(protocol);
        SSL_set_alpn_protos(ssl_.get(), reinterpret_cast<unsigned char const*>(offered.data()),
                            static_cast<unsigned>(offered.size()));
    }
    /// The next bytes to send; empty when the handshake is over.
    std::string next() {
        SSL_do_handshake(ssl_.get());
        char bytes[32 * 1024];
        int const count = BIO_read(SSL_get_wbio(ssl_.get()), bytes, sizeof bytes);
        return count > 0 ? std::string(bytes, static_cast<std::size_t>(count)) : std::string();
    }
    void receive(std::string const& bytes) { BIO_write(SSL_get_rbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size())); }
    bool is_done() const { return SSL_is_init_finished(ssl_.get()) != 0; }

private:
    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_{SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
    std::unique_ptr<SSL, decltype(&SSL_free)> ssl_{SSL_new(context_.get()), SSL_free};
};

/// Sends the ClientHello in pieces of this size; true when the handshake is done.
inline bool shakes_hands(Wire wire, Handshake client, std::size_t piece) {
    auto const hello = client.next();
    for (std::size_t at = 0; at < hello.size(); at += piece) {
        wire.send(std::string_view(hello).substr(at, piece));
        pause_for(Millis{2});
    }
    while (!client.is_done()) {
        if (wire.receive() != Wire::Read::data) return false;
        client.receive(std::exchange(wire.buffer(), {}));
        wire.send(client.next());
    }
    return true;
}

}   // namespace garner::test
