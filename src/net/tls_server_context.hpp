// The TLS settings of one listening address, shared by its connections.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "net/certificate.hpp"
#include "net/options.hpp"
#include "net/ticket_keys.hpp"
#include "util/result.hpp"

typedef struct ssl_ctx_st SSL_CTX;
typedef struct ssl_st SSL;

namespace garner::net {

/// The certificate of one session, for a context without certificates of its own.
struct SessionIdentity {
    std::shared_ptr<Certificate const> certificate;
    std::string ticket_scope = {};   // a ticket is valid only for sessions with an equal scope; empty: no tickets
};

/// Immutable and thread-safe. A reload makes a new one; connections keep the one that they began with.
class TlsServerContext : public std::enable_shared_from_this<TlsServerContext> {
public:
    /// `certificates`: those of `options`, in its order, at least one. `http2`: h2 is offered by ALPN before http/1.1.
    /// `listener` distinguishes tickets of different listeners ("127.0.0.1:3129"). Fault: client_ca cannot be used; its
    /// `where` is that path.
    static Result<std::shared_ptr<TlsServerContext const>> make(ListenTls const& options,
                                                                std::vector<std::shared_ptr<Certificate const>> certificates,
                                                                std::shared_ptr<TicketKeys> ticket_keys, bool http2,
                                                                std::string_view listener);
    /// Without certificates: each session gets its own (SessionIdentity). Offers h2.
    static std::shared_ptr<TlsServerContext const> make_without_certificates(std::shared_ptr<TicketKeys> ticket_keys);
    ~TlsServerContext();
    TlsServerContext(TlsServerContext const&) = delete;
    TlsServerContext& operator=(TlsServerContext const&) = delete;

    /// A session in the accept state, without a BIO. The caller must free it, and must keep this context until then.
    SSL* new_session() const;
    /// Only for a context without certificates. Returns nullptr, with OpenSSL's error queue filled, if OpenSSL refuses the
    /// certificate.
    SSL* new_session(SessionIdentity const& identity) const;
    /// The certificate for the name in SNI; the first one for an unknown or empty name.
    Certificate const& certificate_for(std::string_view server_name) const;
    std::vector<std::shared_ptr<Certificate const>> const& certificates() const { return certificates_; }
    /// The certificates of client_ca; empty without one.
    std::vector<std::shared_ptr<X509>> client_authorities() const;
    bool http2() const { return http2_; }

private:
    TlsServerContext() = default;
    void use_tickets(std::shared_ptr<TicketKeys> ticket_keys);
    void add(std::vector<std::shared_ptr<Certificate const>> certificates);
    SSL_CTX* context_ = nullptr;
    std::vector<std::shared_ptr<Certificate const>> certificates_;
    std::unordered_map<std::string, Certificate const*> by_name_;   // also by "*.example.org"
    std::shared_ptr<TicketKeys> ticket_keys_;
    bool http2_ = false;
};

}   // namespace garner::net
