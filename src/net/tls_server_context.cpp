#include "net/tls_server_context.hpp"

#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>

#include "net/client_ca.hpp"
#include "net/client_hello.hpp"
#include "net/trust_store.hpp"
#include "util/check.hpp"
#include "util/text.hpp"

namespace garner::net {
namespace {

void set_protocol(SSL_CTX* context, ListenTls::MinVersion min_version) {
    SSL_CTX_set_min_proto_version(context, min_version == ListenTls::MinVersion::tls_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_security_level(context, 2);
    check(SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM+AES128:ECDHE+AESGCM+AES256:ECDHE+CHACHA20") == 1);
    check(SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256") == 1);
    check(SSL_CTX_set1_groups_list(context, "X25519:P-256") == 1);
}

// ---- certificate by SNI ----

std::string_view server_name_of(SSL* ssl) {
    unsigned char const* extension = nullptr;
    std::size_t size = 0;
    if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &extension, &size) != 1) return {};
    return server_name_in({reinterpret_cast<char const*>(extension), size});
}

int choose_certificate(SSL* ssl, int* alert, void* context) {
    auto const& certificate = static_cast<TlsServerContext const*>(context)->certificate_for(server_name_of(ssl));
    if (certificate.use(ssl) == 1) return SSL_CLIENT_HELLO_SUCCESS;
    *alert = SSL_AD_INTERNAL_ERROR;
    return SSL_CLIENT_HELLO_ERROR;
}

// ---- ALPN (RFC 7301) ----

constexpr std::string_view protocols = "\x02h2\x08http/1.1";
constexpr std::string_view protocols_without_h2 = protocols.substr(3);

int choose_protocol(SSL* ssl, unsigned char const** chosen, unsigned char* size, unsigned char const* offered,
                    unsigned offered_size, void* context) {
    auto const ours = static_cast<TlsServerContext const*>(context)->http2() ? protocols : protocols_without_h2;
    auto const verdict =
        SSL_select_next_proto(const_cast<unsigned char**>(chosen), size, reinterpret_cast<unsigned char const*>(ours.data()),
                              static_cast<unsigned>(ours.size()), offered, offered_size);
    if (verdict != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
    // An HTTP/2 client needs one connection, a browser with HTTP/1.1 more than one. Clients without ALPN, such as curl with an
    // HTTPS proxy and Squid, keep one ticket. Each ticket costs about 25 us.
    bool const is_h2 = *size == 2;
    if (!is_h2 && (SSL_get_options(ssl) & SSL_OP_NO_TICKET) == 0) check(SSL_set_num_tickets(ssl, 2) == 1);
    return SSL_TLSEXT_ERR_OK;
}

// ---- client certificates ----

void request_client_certificate(SSL_CTX* context, ClientCa const& ca, bool is_required) {
    // Every configured certificate is a trust anchor: a root, an intermediate or a single client's certificate.
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
    for (auto const& certificate : ca.certificates) {
        check(X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate.get()) == 1);
        check(SSL_CTX_add_client_CA(context, certificate.get()) == 1);
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | (is_required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0), nullptr);
}

std::array<unsigned char, SHA256_DIGEST_LENGTH> sha256(std::string_view text) {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
    SHA256(reinterpret_cast<unsigned char const*>(text.data()), text.size(), digest.data());
    return digest;
}

/// A ticket contains the client's certificate and replaces its verification. It is thus valid only for the listener and the
/// rules for client certificates with which it was made.
void limit_tickets(SSL_CTX* context, std::string_view listener, std::string_view client_rules) {
    auto const digest = sha256(std::string(listener) + '\0' + std::string(client_rules));
    check(SSL_CTX_set_session_id_context(context, digest.data(), digest.size()) == 1);
}

Result<void> set_client_rules(SSL_CTX* context, ListenTls const& options, std::string_view listener) {
    std::string rules;
    if (!options.client_ca.empty()) {
        auto const ca = read_client_ca(options.client_ca);
        if (!ca) return ca.fault();
        request_client_certificate(context, *ca, options.client_required);
        rules.assign(ca->digest.begin(), ca->digest.end());
        rules += options.client_required ? "required" : "optional";
    }
    limit_tickets(context, listener, rules);
    return {};
}

SSL_TICKET_RETURN judge_ticket(SSL*, SSL_SESSION* session, unsigned char const*, std::size_t, SSL_TICKET_STATUS status, void*) {
    if (status != SSL_TICKET_SUCCESS && status != SSL_TICKET_SUCCESS_RENEW) return SSL_TICKET_RETURN_IGNORE_RENEW;
    auto* const client = SSL_SESSION_get0_peer(session);
    if (client && not_after(client) <= wall_now()) return SSL_TICKET_RETURN_IGNORE_RENEW;
    return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
}

}   // namespace

Result<std::shared_ptr<TlsServerContext const>> TlsServerContext::make(ListenTls const& options,
                                                                       std::vector<std::shared_ptr<Certificate const>> certificates,
                                                                       std::shared_ptr<TicketKeys> ticket_keys, bool http2,
                                                                       std::string_view listener) {
    check(!certificates.empty());
    std::shared_ptr<TlsServerContext> made(new TlsServerContext);
    auto* const context = made->context_ = SSL_CTX_new(TLS_server_method());
    check(context != nullptr);
    set_protocol(context, options.min_version);
    if (auto const set = set_client_rules(context, options, listener); !set) return set.fault();
    made->use_tickets(std::move(ticket_keys));
    SSL_CTX_set_client_hello_cb(context, &choose_certificate, made.get());
    SSL_CTX_set_alpn_select_cb(context, &choose_protocol, made.get());
    made->http2_ = http2;
    made->add(std::move(certificates));
    return std::shared_ptr<TlsServerContext const>(std::move(made));
}

std::shared_ptr<TlsServerContext const> TlsServerContext::make_without_certificates(std::shared_ptr<TicketKeys> ticket_keys) {
    std::shared_ptr<TlsServerContext> made(new TlsServerContext);
    auto* const context = made->context_ = SSL_CTX_new(TLS_server_method());
    check(context != nullptr);
    set_protocol(context, ListenTls{}.min_version);
    made->use_tickets(std::move(ticket_keys));
    SSL_CTX_set_alpn_select_cb(context, &choose_protocol, made.get());
    made->http2_ = true;
    return made;
}

void TlsServerContext::use_tickets(std::shared_ptr<TicketKeys> ticket_keys) {
    SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
    check(SSL_CTX_set_num_tickets(context_, 1) == 1);
    SSL_CTX_set_session_ticket_cb(context_, nullptr, &judge_ticket, nullptr);
    ticket_keys->use_in(context_);
    ticket_keys_ = std::move(ticket_keys);
}

void TlsServerContext::add(std::vector<std::shared_ptr<Certificate const>> certificates) {
    certificates_ = std::move(certificates);
    for (auto const& certificate : certificates_)
        for (auto const& name : certificate->names()) by_name_.try_emplace(name, certificate.get());
}

TlsServerContext::~TlsServerContext() { SSL_CTX_free(context_); }

std::vector<std::shared_ptr<X509>> TlsServerContext::client_authorities() const { return trusted_by(context_); }

SSL* TlsServerContext::new_session() const {
    auto* const ssl = SSL_new(context_);
    check(ssl != nullptr);
    SSL_set_accept_state(ssl);
    return ssl;
}

SSL* TlsServerContext::new_session(SessionIdentity const& identity) const {
    auto* const ssl = new_session();
    auto const digest = sha256(identity.ticket_scope);
    check(SSL_set_session_id_context(ssl, digest.data(), digest.size()) == 1);
    if (identity.ticket_scope.empty()) {
        SSL_set_options(ssl, SSL_OP_NO_TICKET);
        check(SSL_set_num_tickets(ssl, 0) == 1);
    }
    if (identity.certificate->use(ssl) == 1) return ssl;
    SSL_free(ssl);
    return nullptr;
}

Certificate const& TlsServerContext::certificate_for(std::string_view server_name) const {
    if (server_name.ends_with('.')) server_name.remove_suffix(1);
    auto const name = lower_case(server_name);
    auto found = by_name_.find(name);
    if (found == by_name_.end()) found = by_name_.find(wildcard_for(name));
    return found == by_name_.end() ? *certificates_.front() : *found->second;
}

}   // namespace garner::net
