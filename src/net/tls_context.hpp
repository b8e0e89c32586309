// The settings and session tickets of TLS connections to origins and peers.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/options.hpp"
#include "net/tls_session.hpp"
#include "util/counted.hpp"
#include "util/result.hpp"

typedef struct ssl_st SSL;
typedef struct ssl_session_st SSL_SESSION;
typedef struct x509_st X509;

namespace garner::net {

class Certificate;

/// Shared by all workers: trust store, settings, session tickets by server name (bounded). Thread-safe.
class TlsContext : public std::enable_shared_from_this<TlsContext>, public Counted<TlsContext> {
public:
    /// A fault if the CA file cannot be read or the certificate cannot be used; `where` is the CA file or empty. The system's
    /// certificates are read by the first session. `own`: shown to servers that request a client certificate; null: none.
    static Result<std::shared_ptr<TlsContext>> make(TlsOptions const&, std::shared_ptr<Certificate const> own = nullptr);
    ~TlsContext();

    /// Shown to servers; null: none.
    std::shared_ptr<Certificate const> const& own_certificate() const;
    /// The certificates of ca_file; empty if the system's are trusted.
    std::vector<std::shared_ptr<X509>> authorities() const;
    /// Never 0, and no other context of this process has it: connections of two contexts must not be confused.
    std::uint64_t id() const { return id_; }

    /// A client's session with SNI for names, the check of the certificate against name or address, and an earlier ticket if
    /// there is one. The caller frees it; `server_name` has no final dot and must outlive it. A fault if the name is none, or OpenSSL
    /// has no ciphers.
    Result<SSL*> new_session(std::string const& server_name, Verification verification = Verification::required);

    /// The server refuses handshakes with a ticket: no more are stored for its name.
    void stop_resuming(std::string const& server_name);

    static constexpr std::size_t names_max = 10'000;   // server names with stored tickets
    static constexpr std::size_t tickets_per_name = 4;
    /// A ticket with its share of the server's certificates, approximately.
    static constexpr Bytes ticket_bytes = 6 * KiB;
    /// The stored tickets and names of all contexts, approximately, and the most that each context may store.
    static Bytes stored_bytes();
    static constexpr Bytes stored_bytes_max = names_max * (tickets_per_name * ticket_bytes + 512);

private:
    TlsContext();
    Result<void> open();
    Result<void> trust_file();
    void trust_system();
    bool accepts_own_certificate() const;
    void remember(std::string const& server_name, SSL_SESSION* ticket);
    /// The caller must free it; nullptr when there is none.
    SSL_SESSION* ticket_for(std::string const& server_name);
    struct Inside;
    std::unique_ptr<Inside> inside_;
    std::uint64_t const id_;
};

}   // namespace garner::net
