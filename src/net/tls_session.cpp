#include "net/tls_session.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <cstring>

#include "net/certificate.hpp"
#include "net/tls_context.hpp"
#include "net/tls_fault.hpp"
#include "net/tls_server_context.hpp"
#include "util/check.hpp"

namespace garner::net {

namespace {

/// A BIO that connects OpenSSL to a session's two TlsBuffers.
BIO_METHOD* buffers_method() {
    static BIO_METHOD* const method = [] {
        auto* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "garner buffers");
        check(made != nullptr);
        BIO_meth_set_read(made, [](BIO* bio, char* into, int size) {
            auto& input = static_cast<TlsSession*>(BIO_get_data(bio))->input();
            BIO_clear_retry_flags(bio);
            if (input.empty()) {
                BIO_set_retry_read(bio);
                return -1;
            }
            auto count = std::min(input.bytes().size(), static_cast<std::size_t>(size));
            std::memcpy(into, input.bytes().data(), count);
            input.consume(count);
            return static_cast<int>(count);
        });
        BIO_meth_set_write(made, [](BIO* bio, char const* bytes, int size) {
            static_cast<TlsSession*>(BIO_get_data(bio))->output().append({bytes, static_cast<std::size_t>(size)});
            return size;
        });
        BIO_meth_set_ctrl(made, [](BIO*, int command, long, void*) -> long { return command == BIO_CTRL_FLUSH; });
        return made;
    }();
    return method;
}

/// OpenSSL needs an empty queue before each call. Clearing one that is empty costs more than looking.
void clear_errors() {
    if (ERR_peek_error() != 0) ERR_clear_error();
}

std::string without_final_dot(std::string name) {
    if (name.ends_with('.')) name.pop_back();
    return name;
}

HandshakeFault kind_of(unsigned long code, bool certificate_refused) {
    if (certificate_refused) return HandshakeFault::client_certificate;
    if (ERR_GET_LIB(code) != ERR_LIB_SSL) return HandshakeFault::other;
    auto const reason = ERR_GET_REASON(code);
    if (reason >= SSL_AD_REASON_OFFSET) return HandshakeFault::refused_by_client;
    switch (reason) {
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_UNKNOWN_PROTOCOL:
    case SSL_R_VERSION_TOO_LOW: return HandshakeFault::version;
    case SSL_R_NO_SHARED_CIPHER:
    case SSL_R_NO_SUITABLE_GROUPS:
    case SSL_R_NO_SUITABLE_KEY_SHARE:
    case SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS:
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM: return HandshakeFault::cipher;
    case SSL_R_NO_APPLICATION_PROTOCOL: return HandshakeFault::protocol;
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
    case SSL_R_CERTIFICATE_VERIFY_FAILED: return HandshakeFault::client_certificate;
    default: return HandshakeFault::other;
    }
}

}   // namespace

std::string_view text(HandshakeFault fault) {
    switch (fault) {
    case HandshakeFault::none: return "ok";
    case HandshakeFault::closed: return "closed";
    case HandshakeFault::timed_out: return "timed_out";
    case HandshakeFault::clear_text: return "clear_text";
    case HandshakeFault::version: return "version";
    case HandshakeFault::cipher: return "cipher";
    case HandshakeFault::protocol: return "protocol";
    case HandshakeFault::client_certificate: return "client_certificate";
    case HandshakeFault::refused_by_client: return "refused_by_client";
    default: return "other";
    }
}

TlsSession::TlsSession(std::shared_ptr<TlsContext> context, std::string const& server_name, Verification verification)
    : context_(context), server_name_(without_final_dot(server_name)) {
    client_context_ = context.get();
    auto const made = context->new_session(server_name_, verification);
    if (!made) {
        fault_ = made.fault().text(), fault_kind_ = HandshakeFault::other;
        return;
    }
    ssl_ = *made;
    offered_ticket_ = SSL_get0_session(ssl_) != nullptr;
    connect_buffers();
}

TlsSession::TlsSession(std::shared_ptr<TlsServerContext const> context, SessionIdentity const* identity)
    : context_(context), ssl_(identity ? context->new_session(*identity) : context->new_session()) {
    if (ssl_)
        connect_buffers();
    else
        fault_ = "TLS: " + first_tls_fault("the certificate cannot be used"), fault_kind_ = HandshakeFault::other;
}

void TlsSession::connect_buffers() {
    auto* bio = BIO_new(buffers_method());
    check(bio != nullptr);
    BIO_set_data(bio, this);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_, bio, bio);
}

TlsSession::~TlsSession() {
    // Without this OpenSSL invalidates the ticket. Transport itself detects how the connection ended.
    if (fault_.empty() && !SSL_in_init(ssl_)) SSL_set_shutdown(ssl_, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(ssl_);
}

TlsSession::Step TlsSession::handshake() {
    if (!fault_.empty()) return Step::failed;
    clear_errors();
    return step_after(SSL_do_handshake(ssl_));
}

TlsSession::Progress TlsSession::read(std::span<char> into) {
    if (!fault_.empty()) return {Step::failed};
    std::size_t total = 0;
    while (total < into.size()) {
        clear_errors();
        std::size_t count = 0;
        int result = SSL_read_ex(ssl_, into.data() + total, into.size() - total, &count);
        if (result == 1) {
            total += count;
            if (input_.empty()) break;   // another call would only tell that it wants input
            continue;
        }
        // Returns the bytes read so far first; the next call meets close_notify or the error again.
        auto step = step_after(result);
        if (total == 0) return {step};
        break;
    }
    has_read_ = has_read_ || total > 0;
    return {Step::done, total};
}

TlsSession::Step TlsSession::peek() {
    clear_errors();
    char byte;
    std::size_t count = 0;
    return step_after(SSL_peek_ex(ssl_, &byte, 1, &count));
}

TlsSession::Progress TlsSession::write(std::string_view plaintext) {
    clear_errors();
    std::size_t count = 0;
    int result = SSL_write_ex(ssl_, plaintext.data(), std::min(plaintext.size(), record_max), &count);
    return {step_after(result), count};
}

void TlsSession::close_notify() {
    if (!fault_.empty() || (SSL_get_shutdown(ssl_) & SSL_SENT_SHUTDOWN)) return;
    clear_errors();
    SSL_shutdown(ssl_);
}

bool TlsSession::has_unread() const { return !input_.empty() || SSL_pending(ssl_) > 0; }

bool TlsSession::is_server() const { return SSL_is_server(ssl_) == 1; }

bool TlsSession::resumed() const { return SSL_session_reused(ssl_) == 1; }

bool TlsSession::http2() const {
    unsigned char const* protocol = nullptr;
    unsigned length = 0;
    SSL_get0_alpn_selected(ssl_, &protocol, &length);
    return length == 2 && std::memcmp(protocol, "h2", 2) == 0;
}

std::vector<std::string> TlsSession::peer_names() const {
    auto* certificate = SSL_get0_peer_certificate(ssl_);
    return certificate ? identity_names(certificate) : std::vector<std::string>();
}

std::shared_ptr<X509> TlsSession::peer_certificate() const {
    auto* const certificate = ssl_ ? SSL_get1_peer_certificate(ssl_) : nullptr;
    return certificate ? std::shared_ptr<X509>(certificate, X509_free) : nullptr;
}

long TlsSession::verify_result() const { return SSL_get_verify_result(ssl_); }

bool TlsSession::has_sent_finished() const { return ssl_ && SSL_get_finished(ssl_, nullptr, 0) > 0; }

TlsSession::Step TlsSession::step_after(int result) {
    if (result == 1) return Step::done;
    switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ: return Step::wants_input;
    case SSL_ERROR_ZERO_RETURN: return Step::closed;
    default:
        if (fault_.empty()) note_fault();
        return Step::failed;
    }
}

void TlsSession::note_fault() {
    auto const code = ERR_peek_error();
    auto const verified = SSL_get_verify_result(ssl_);
    bool const refused = verified != X509_V_OK && (SSL_get_verify_mode(ssl_) & SSL_VERIFY_PEER) != 0;
    fault_kind_ = kind_of(code, refused);
    if (fault_kind_ == HandshakeFault::refused_by_client) alert_ = ERR_GET_REASON(code) - SSL_AD_REASON_OFFSET;
    if (SSL_in_init(ssl_) && ticket_refused()) client_context_->stop_resuming(server_name_);
    fault_ = refused ? std::string("certificate not accepted: ") + X509_verify_cert_error_string(verified)
                     : "TLS: " + first_tls_fault("protocol error");
}

}   // namespace garner::net
