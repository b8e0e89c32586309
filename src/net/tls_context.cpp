#include "net/tls_context.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "net/certificate.hpp"
#include "net/tls_fault.hpp"
#include "net/trust_store.hpp"
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

struct StoredTicket : Counted<StoredTicket> {
    explicit StoredTicket(Ticket stored) : ticket(std::move(stored)) {}
    Ticket ticket;
};
struct NotResumed : Counted<NotResumed> {
    NotResumed() {}   // no aggregate: the base has no public destructor
};
constexpr Bytes name_bytes = 256;

/// False if the name cannot be a TLS server name.
bool identify(SSL* ssl, std::string const& name) {
    // IP addresses are not sent as SNI (RFC 6066 3).
    if (parse_ip(name)) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str()) == 1;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return !name.empty() && SSL_set_tlsext_host_name(ssl, name.c_str()) == 1 && SSL_set1_host(ssl, name.c_str()) == 1;
}

std::uint64_t next_id() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

}   // namespace

struct TlsContext::Inside {
    TlsOptions options;
    std::shared_ptr<Certificate const> own;
    std::once_flag opened, trusts_system;
    SSL_CTX* context = nullptr;
    Mutex mutex;
    LruMap<std::vector<StoredTicket>> tickets GUARDED_BY(mutex);   // by server name, the latest last
    LruMap<NotResumed> not_resumed GUARDED_BY(mutex);              // names of servers that refuse tickets
};

TlsContext::TlsContext() : inside_(std::make_unique<Inside>()), id_(next_id()) {}

TlsContext::~TlsContext() { SSL_CTX_free(inside_->context); }

Result<std::shared_ptr<TlsContext>> TlsContext::make(TlsOptions const& options, std::shared_ptr<Certificate const> own) {
    std::shared_ptr<TlsContext> made(new TlsContext);
    made->inside_->options = options;
    made->inside_->own = std::move(own);
    // The first session opens what has no files of its own: OpenSSL's ciphers take a fifth of the program's start, and many proxies
    // never need them.
    if (options.ca_file.empty() && !made->inside_->own) return made;
    if (auto const opened = made->open(); !opened) return opened.fault();
    if (auto const trusted = made->trust_file(); !trusted) return trusted.fault();
    if (!made->accepts_own_certificate()) return Fault{first_tls_fault("OpenSSL refuses the certificate")};
    return made;
}

Result<void> TlsContext::open() {
    std::call_once(inside_->opened, [this] {
        auto* context = inside_->context = SSL_CTX_new(TLS_client_method());
        if (!context) return;
        SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
        SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
        SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_AUTO_RETRY);
        SSL_CTX_set_verify(context, inside_->options.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
        // Every configured certificate is a trust anchor: a root, an intermediate or a single server's certificate.
        X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
        unsigned char const protocols[] = "\x08http/1.1";
        check(SSL_CTX_set_alpn_protos(context, protocols, sizeof protocols - 1) == 0);
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
        SSL_CTX_set_app_data(context, this);
        SSL_CTX_sess_set_new_cb(context, [](SSL* ssl, SSL_SESSION* ticket) {
            auto* owner = static_cast<TlsContext*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
            auto* const server_name = static_cast<std::string const*>(SSL_get_app_data(ssl));
            bool const verifies = SSL_CTX_get_verify_mode(SSL_get_SSL_CTX(ssl)) != SSL_VERIFY_NONE;
            if (verifies && SSL_get_verify_result(ssl) != X509_V_OK) return 0;   // the ticket would replace a verification
            owner->remember(*server_name, ticket);
            return 1;   // the context now owns the ticket
        });
    });
    if (inside_->context) return {};
    return Fault{.what = "OpenSSL offers no ciphers",
                 .mend = "look for providers in openssl.cnf, which the command openssl version -d locates"};
}

Result<void> TlsContext::trust_file() {
    auto const& file = inside_->options.ca_file;
    ERR_clear_error();
    if (file.empty() || SSL_CTX_load_verify_locations(inside_->context, file.c_str(), nullptr) == 1) return {};
    return Fault{.what = first_tls_fault("the file contains no certificate"), .where = "cannot read certificates from " + file};
}

std::shared_ptr<Certificate const> const& TlsContext::own_certificate() const { return inside_->own; }

std::vector<std::shared_ptr<X509>> TlsContext::authorities() const {
    return inside_->options.ca_file.empty() ? std::vector<std::shared_ptr<X509>>() : trusted_by(inside_->context);
}

/// OpenSSL refuses keys below its security level.
bool TlsContext::accepts_own_certificate() const {
    if (!inside_->own) return true;
    std::unique_ptr<SSL, void (*)(SSL*)> const trial(SSL_new(inside_->context), SSL_free);
    check(trial != nullptr);
    return inside_->own->use(trial.get()) == 1;
}

// Reading more than a hundred certificates takes as long as the rest of the start.
void TlsContext::trust_system() {
    if (!inside_->options.ca_file.empty()) return;
    std::call_once(inside_->trusts_system, [this] { SSL_CTX_set_default_verify_paths(inside_->context); });
}

void TlsContext::remember(std::string const& server_name, SSL_SESSION* ticket) {
    Ticket kept(ticket);
    MutexLock const lock(inside_->mutex);
    if (inside_->not_resumed.use(server_name)) return;
    auto& tickets = inside_->tickets.get(server_name, names_max);
    tickets.emplace_back(std::move(kept));
    if (tickets.size() > tickets_per_name) tickets.erase(tickets.begin());
}

SSL_SESSION* TlsContext::ticket_for(std::string const& server_name) {
    MutexLock const lock(inside_->mutex);
    auto* tickets = inside_->tickets.use(server_name);
    if (!tickets) return nullptr;
    auto* latest = tickets->back().ticket.get();
    // TLS 1.3 tickets should be used once (RFC 8446 C.4); a TLS 1.2 session serves many connections.
    if (SSL_SESSION_get_protocol_version(latest) == TLS1_2_VERSION) {
        SSL_SESSION_up_ref(latest);
        return latest;
    }
    tickets->back().ticket.release();
    tickets->pop_back();
    if (tickets->empty()) inside_->tickets.erase(server_name);
    return latest;
}

void TlsContext::stop_resuming(std::string const& server_name) {
    MutexLock const lock(inside_->mutex);
    inside_->tickets.erase(server_name);
    inside_->not_resumed.get(server_name, names_max);
}

Bytes TlsContext::stored_bytes() { return StoredTicket::alive() * (ticket_bytes + name_bytes) + NotResumed::alive() * name_bytes; }

Result<SSL*> TlsContext::new_session(std::string const& server_name, Verification verification) {
    if (auto const opened = open(); !opened) return opened.fault();
    trust_system();
    auto* ssl = SSL_new(inside_->context);
    check(ssl != nullptr);
    SSL_set_connect_state(ssl);
    if (inside_->own) check(inside_->own->use(ssl) == 1);
    if (!identify(ssl, server_name)) {
        SSL_free(ssl);
        return Fault{"'" + server_name + "' is not a valid TLS server name"};
    }
    SSL_set_app_data(ssl, const_cast<std::string*>(&server_name));
    if (verification == Verification::reported) {
        SSL_set_verify(ssl, SSL_VERIFY_NONE, nullptr);
        return ssl;
    }
    if (Ticket ticket{ticket_for(server_name)}) SSL_set_session(ssl, ticket.get());
    return ssl;
}

}   // namespace garner::net
