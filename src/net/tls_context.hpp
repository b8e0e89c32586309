// The settings and session tickets of TLS connections to origins and peers.
#pragma once
#include <memory>
#include <string>

#include "net/options.hpp"
#include "net/tls_session.hpp"
#include "util/result.hpp"

typedef struct ssl_st SSL;
typedef struct ssl_session_st SSL_SESSION;

namespace garner::net {

/// Shared by all workers: trust store, settings, session tickets by server name (bounded). Thread-safe.
class TlsContext : public std::enable_shared_from_this<TlsContext> {
public:
    /// A fault if the CA file cannot be read. The system's certificates are read by the first session.
    static Result<std::shared_ptr<TlsContext>> make(TlsOptions const&);
    ~TlsContext();

    /// A client's session with SNI for names, the check of the certificate against name or address, and an earlier ticket if
    /// there is one. The caller frees it; `server_name` has no final dot and must outlive it. nullptr if the name is none.
    SSL* new_session(std::string const& server_name, Verification verification = Verification::required);

    static constexpr std::size_t names_max = 10'000;   // server names with stored tickets
    static constexpr std::size_t tickets_per_name = 4;

private:
    TlsContext();
    void load_trust();
    void remember(std::string const& server_name, SSL_SESSION* ticket);
    /// The caller must free it; nullptr when there is none.
    SSL_SESSION* ticket_for(std::string const& server_name);
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

}   // namespace garner::net
