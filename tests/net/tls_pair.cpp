#include "net/tls_pair.hpp"

#include <openssl/err.h>

#include <stdexcept>

#include "net/certificate_text.hpp"

namespace garner::net {

namespace {

void expect_openssl(bool done) {
    if (!done) throw std::runtime_error("OpenSSL cannot make the client");
}

bool may_continue(SSL* ssl, int result) { return result == 1 || SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ; }

}   // namespace

TlsPair::TlsPair(TlsServerContext const& server_context, ClientWish const& wish)
    : client_context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free), server_(server_context.new_session(), SSL_free) {
    prepare_client(wish);
    connect();
    shake_hands();
}

void TlsPair::prepare_client(ClientWish const& wish) {
    auto* const context = client_context_.get();
    SSL_CTX_set_security_level(context, 0);
    SSL_CTX_set_min_proto_version(context, wish.min_version);
    SSL_CTX_set_max_proto_version(context, wish.max_version);
    expect_openssl(wish.ciphers.empty() || SSL_CTX_set_cipher_list(context, wish.ciphers.c_str()));
    expect_openssl(wish.suites.empty() || SSL_CTX_set_ciphersuites(context, wish.suites.c_str()));
    expect_openssl(wish.groups.empty() || SSL_CTX_set1_groups_list(context, wish.groups.c_str()));
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, [](SSL* ssl, SSL_SESSION* ticket) {
        static_cast<TlsPair*>(SSL_get_app_data(ssl))->tickets_.emplace_back(ticket, SSL_SESSION_free);
        return 1;
    });
    SSL_CTX_set_info_callback(context, [](SSL const* ssl, int where, int value) {
        if (where == SSL_CB_READ_ALERT) static_cast<TlsPair*>(SSL_get_app_data(ssl))->alert_ = value & 0xff;
    });
    client_.reset(SSL_new(context), SSL_free);
    auto* const ssl = client_.get();
    SSL_set_app_data(ssl, this);
    SSL_set_connect_state(ssl);
    if (!wish.server_name.empty()) SSL_set_tlsext_host_name(ssl, wish.server_name.c_str());
    SSL_set_alpn_protos(ssl, reinterpret_cast<unsigned char const*>(wish.protocols.data()),
                        static_cast<unsigned>(wish.protocols.size()));
    if (wish.certificate)
        expect_openssl(SSL_use_cert_and_key(ssl, wish.certificate->x509(), wish.certificate->private_key(), nullptr, 1));
    if (!wish.ticket) return;
    TlsTicket const copy(SSL_SESSION_dup(wish.ticket.get()), SSL_SESSION_free);   // OpenSSL uses each session once under TLS 1.3
    SSL_set_session(ssl, copy.get());
}

void TlsPair::connect() {
    BIO* ends[2];
    constexpr std::size_t room = 256 * 1024;
    expect_openssl(BIO_new_bio_pair(&ends[0], room, &ends[1], room) == 1);
    SSL_set_bio(client_.get(), ends[0], ends[0]);
    SSL_set_bio(server_.get(), ends[1], ends[1]);
}

/// Goes on until neither end has more to say. The client then reads the tickets, or the alert.
void TlsPair::shake_hands() {
    bool goes_on = true;
    for (int step = 0; step < 10 && goes_on; ++step) {
        ERR_clear_error();
        bool const client_good = may_continue(client_.get(), SSL_do_handshake(client_.get()));
        ERR_clear_error();
        goes_on = may_continue(server_.get(), SSL_do_handshake(server_.get())) && client_good;
    }
    char byte;
    for (int i = 0; i < 2; ++i) {
        ERR_clear_error();
        SSL_read(client_.get(), &byte, 1);
    }
    ERR_clear_error();
    done_ = goes_on && SSL_is_init_finished(server_.get()) && SSL_is_init_finished(client_.get());
    // OpenSSL invalidates the tickets of a session that ends without close_notify.
    SSL_set_shutdown(client_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
}

TlsTicket TlsPair::ticket() const {
    if (version() == TLS1_2_VERSION) return {SSL_get1_session(client_.get()), SSL_SESSION_free};
    return tickets_.empty() ? TlsTicket() : tickets_.back();
}

std::string TlsPair::server_common_name() const {
    auto* const certificate = SSL_get0_peer_certificate(client_.get());
    return certificate ? subject_of(certificate).substr(5) : "";
}

std::string TlsPair::protocol() const {
    unsigned char const* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(client_.get(), &name, &size);
    return {reinterpret_cast<char const*>(name), size};
}

std::vector<std::string> TlsPair::identity() const {
    auto* const certificate = SSL_get0_peer_certificate(server_.get());
    return certificate ? identity_names(certificate) : std::vector<std::string>();
}

}   // namespace garner::net
