#include "net/tls.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

#include "util/check.hpp"
#include "util/ip.hpp"
#include "util/lru_map.hpp"
#include "util/mutex.hpp"

namespace garner::net {

namespace {

struct FreeSession {
    void operator()(SSL_SESSION* session) const { SSL_SESSION_free(session); }
};
using Ticket = std::unique_ptr<SSL_SESSION, FreeSession>;

std::string first_fault(char const* otherwise) {
    auto code = ERR_get_error();
    if (ERR_SYSTEM_ERROR(code)) return std::strerror(ERR_GET_REASON(code));
    auto const* words = code ? ERR_reason_error_string(code) : nullptr;
    return words ? words : otherwise;
}

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

}   // namespace

struct TlsContext::Inside {
    SSL_CTX* context = nullptr;
    bool trusts_system = false;
    std::once_flag trust;
    Mutex mutex;
    LruMap<std::vector<Ticket>> tickets GUARDED_BY(mutex);   // by server name, the latest last
};

TlsContext::TlsContext() : inside_(std::make_unique<Inside>()) {}

TlsContext::~TlsContext() { SSL_CTX_free(inside_->context); }

Result<std::shared_ptr<TlsContext>> TlsContext::make(TlsOptions const& options) {
    std::shared_ptr<TlsContext> made(new TlsContext);
    auto* context = made->inside_->context = SSL_CTX_new(TLS_client_method());
    check(context != nullptr);
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_verify(context, options.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
    // Every configured certificate is a trust anchor: a root, an intermediate or a single server's certificate.
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
    unsigned char const protocols[] = "\x08http/1.1";
    check(SSL_CTX_set_alpn_protos(context, protocols, sizeof protocols - 1) == 0);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, [](SSL* ssl, SSL_SESSION* ticket) {
        auto const& session = *static_cast<TlsSession*>(SSL_get_app_data(ssl));
        session.context_->remember(session.server_name_, ticket);
        return 1;   // the session now owns the ticket
    });
    ERR_clear_error();
    if (options.ca_file.empty()) {
        made->inside_->trusts_system = true;
    } else if (SSL_CTX_load_verify_locations(context, options.ca_file.c_str(), nullptr) != 1) {
        return Fault{.what = first_fault("the file contains no certificate"),
                     .where = "cannot read certificates from " + options.ca_file};
    }
    return made;
}

// Reading more than a hundred certificates takes as long as the rest of the start, and many proxies never need them.
void TlsContext::load_trust() {
    if (!inside_->trusts_system) return;
    std::call_once(inside_->trust, [this] { SSL_CTX_set_default_verify_paths(inside_->context); });
}

void TlsContext::remember(std::string const& server_name, SSL_SESSION* ticket) {
    Ticket kept(ticket);
    MutexLock const lock(inside_->mutex);
    auto& tickets = inside_->tickets.get(server_name, names_max);
    tickets.push_back(std::move(kept));
    if (tickets.size() > tickets_per_name) tickets.erase(tickets.begin());
}

SSL_SESSION* TlsContext::ticket_for(std::string const& server_name) {
    MutexLock const lock(inside_->mutex);
    auto* tickets = inside_->tickets.use(server_name);
    if (!tickets) return nullptr;
    auto* latest = tickets->back().get();
    // TLS 1.3 tickets should be used once (RFC 8446 C.4); a TLS 1.2 session serves many connections.
    if (SSL_SESSION_get_protocol_version(latest) == TLS1_2_VERSION) {
        SSL_SESSION_up_ref(latest);
        return latest;
    }
    tickets->back().release();
    tickets->pop_back();
    if (tickets->empty()) inside_->tickets.erase(server_name);
    return latest;
}

TlsSession::TlsSession(std::shared_ptr<TlsContext> context, std::string const& server_name)
    : context_(std::move(context)), server_name_(server_name), ssl_(SSL_new(context_->inside_->context)) {
    context_->load_trust();
    auto* bio = BIO_new(buffers_method());
    check(ssl_ && bio);
    BIO_set_data(bio, this);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_, bio, bio);
    SSL_set_app_data(ssl_, this);
    SSL_set_connect_state(ssl_);
    if (server_name_.ends_with('.')) server_name_.pop_back();
    identify();
    if (Ticket ticket{context_->ticket_for(server_name_)}) SSL_set_session(ssl_, ticket.get());
}

TlsSession::~TlsSession() {
    // Without this OpenSSL invalidates the ticket. Transport itself detects how the connection ended.
    if (fault_.empty() && !SSL_in_init(ssl_)) SSL_set_shutdown(ssl_, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(ssl_);
}

void TlsSession::identify() {
    auto const* name = server_name_.c_str();
    if (parse_ip(server_name_)) {
        // IP addresses are not sent as SNI (RFC 6066 3).
        check(X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_), name) == 1);
        return;
    }
    SSL_set_hostflags(ssl_, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (server_name_.empty() || SSL_set_tlsext_host_name(ssl_, name) != 1 || SSL_set1_host(ssl_, name) != 1)
        fault_ = "'" + server_name_ + "' is not a valid TLS server name";
}

TlsSession::Step TlsSession::handshake() {
    if (!fault_.empty()) return Step::failed;
    ERR_clear_error();
    return step_after(SSL_do_handshake(ssl_));
}

TlsSession::Progress TlsSession::read(std::span<char> into) {
    if (!fault_.empty()) return {Step::failed};
    std::size_t total = 0;
    while (total < into.size()) {
        ERR_clear_error();
        std::size_t count = 0;
        int result = SSL_read_ex(ssl_, into.data() + total, into.size() - total, &count);
        if (result == 1) {
            total += count;
            continue;
        }
        // Returns the bytes read so far first; the next call meets close_notify or the error again.
        auto step = step_after(result);
        if (total == 0) return {step};
        break;
    }
    return {Step::done, total};
}

TlsSession::Step TlsSession::peek() {
    ERR_clear_error();
    char byte;
    std::size_t count = 0;
    return step_after(SSL_peek_ex(ssl_, &byte, 1, &count));
}

TlsSession::Progress TlsSession::write(std::string_view plaintext) {
    ERR_clear_error();
    std::size_t count = 0;
    int result = SSL_write_ex(ssl_, plaintext.data(), std::min(plaintext.size(), record_max), &count);
    return {step_after(result), count};
}

void TlsSession::close_notify() {
    if (!fault_.empty() || (SSL_get_shutdown(ssl_) & SSL_SENT_SHUTDOWN)) return;
    ERR_clear_error();
    SSL_shutdown(ssl_);
}

bool TlsSession::resumed() const { return SSL_session_reused(ssl_) == 1; }

TlsSession::Step TlsSession::step_after(int result) {
    if (result == 1) return Step::done;
    switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ: return Step::wants_input;
    case SSL_ERROR_ZERO_RETURN: return Step::closed;
    default:
        if (fault_.empty()) fault_ = reason();
        return Step::failed;
    }
}

std::string TlsSession::reason() const {
    auto verified = SSL_get_verify_result(ssl_);
    if (verified != X509_V_OK && SSL_get_verify_mode(ssl_) == SSL_VERIFY_PEER)
        return std::string("certificate not accepted: ") + X509_verify_cert_error_string(verified);
    return "TLS: " + first_fault("protocol error");
}

namespace {

constexpr std::size_t spares_max = 8;   // per thread; each of TlsBuffer::capacity

std::vector<std::unique_ptr<char[]>>& spares() {
    thread_local std::vector<std::unique_ptr<char[]>> kept;
    return kept;
}

}   // namespace

TlsBuffer::~TlsBuffer() {
    begin_ = end_;
    release();
}

std::span<char> TlsBuffer::room() {
    make_room(empty() ? capacity : 1);
    return {store_.get() + end_, size_ - end_};
}

void TlsBuffer::added(std::size_t count) {
    end_ += count;
    check(end_ <= size_);
    if (empty()) release();
}

void TlsBuffer::append(std::string_view bytes) {
    make_room(bytes.size());
    std::memcpy(store_.get() + end_, bytes.data(), bytes.size());
    end_ += bytes.size();
}

void TlsBuffer::consume(std::size_t count) {
    begin_ += count;
    check(begin_ <= end_);
    if (empty()) release();
}

void TlsBuffer::make_room(std::size_t count) {
    if (size_ - end_ >= count) return;
    auto held = end_ - begin_;
    if (!store_ && count <= capacity) {
        if (spares().empty()) spares().push_back(std::make_unique_for_overwrite<char[]>(capacity));
        store_ = std::move(spares().back());
        spares().pop_back();
        size_ = capacity;
    } else if (size_ - held >= count) {
        std::memmove(store_.get(), store_.get() + begin_, held);
    } else {
        auto size = std::max(2 * size_, held + count);
        auto larger = std::make_unique_for_overwrite<char[]>(size);
        if (held > 0) std::memcpy(larger.get(), store_.get() + begin_, held);
        store_ = std::move(larger);
        size_ = size;
    }
    begin_ = 0;
    end_ = held;
}

void TlsBuffer::release() {
    if (store_ && size_ == capacity && spares().size() < spares_max) spares().push_back(std::move(store_));
    store_.reset();
    size_ = begin_ = end_ = 0;
}

}   // namespace garner::net
