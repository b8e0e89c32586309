// One TLS connection on OpenSSL: bytes in, bytes out, without I/O of its own.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/tls_buffer.hpp"
#include "util/counted.hpp"

typedef struct ssl_st SSL;
typedef struct x509_st X509;

namespace garner::net {

class TlsContext;
class TlsServerContext;
struct SessionIdentity;

/// A client's reaction to a server certificate that cannot be verified.
enum class Verification : bool {
    required,   // the handshake fails, unless the configuration turns verification off
    reported    // the handshake continues; verify_result() has the error. It resumes no session, and can be resumed if verified.
};

/// Why a handshake with a client failed, for counters.
enum class HandshakeFault : std::uint8_t {
    none,
    closed,               // the client disconnected
    timed_out,            // deadlines.head
    clear_text,           // no TLS, for example HTTP in clear
    version,              // no common TLS version
    cipher,               // no common cipher suite, group or signature algorithm
    protocol,             // no common application protocol (ALPN)
    client_certificate,   // missing, expired, of another authority
    refused_by_client,    // the client sent an alert: it does not trust our certificate, for example
    other,
    count_
};
std::string_view text(HandshakeFault);

/// One end of a TLS 1.2 or 1.3 connection. As a client: ALPN http/1.1, SNI for names, the certificate verified against name
/// or address. Not thread-safe. After `failed`, fault() has the reason and only output() may be used.
class TlsSession : public Counted<TlsSession> {
public:
    /// A client.
    TlsSession(std::shared_ptr<TlsContext> context, std::string const& server_name,
               Verification verification = Verification::required);
    /// A server. `identity`: for a context without certificates, else null.
    explicit TlsSession(std::shared_ptr<TlsServerContext const> context, SessionIdentity const* identity = nullptr);
    ~TlsSession();
    TlsSession(TlsSession const&) = delete;
    TlsSession& operator=(TlsSession const&) = delete;

    enum class Step : std::uint8_t {
        done,          // the handshake is complete; for read and write: `bytes` is above zero
        wants_input,   // feed more ciphertext and call again
        closed,        // the peer sent close_notify
        failed,
    };
    struct Progress {
        Step step;
        std::size_t bytes = 0;
    };

    Step handshake();
    /// Reads the plaintext that is available. May leave output to send.
    Progress read(std::span<char> into);
    /// Like read(), but does not consume the plaintext: `done` when there is some.
    Step peek();
    /// Encrypts at most one record (16 KiB) to output().
    Progress write(std::string_view plaintext);
    /// Writes close_notify to output(), once.
    void close_notify();

    TlsBuffer& input() { return input_; }     // ciphertext from the peer, not yet decrypted
    TlsBuffer& output() { return output_; }   // ciphertext for the peer, to be sent in order
    /// read() may return something without more input.
    bool has_unread() const;
    /// A place for the ciphertext that ends a wait: a waiting session must not hold a TlsBuffer's memory.
    std::span<char> arrival() { return arrival_; }

    std::string const& fault() const { return fault_; }
    /// The class of fault(); `none` without one.
    HandshakeFault fault_kind() const { return fault_kind_; }
    /// The alert that the peer sent (RFC 8446 6); -1 when it sent none.
    int alert() const { return alert_; }
    /// The server answered the ticket of an earlier session with an alert. It may accept a handshake without a ticket.
    bool ticket_refused() const { return offered_ticket_ && alert_ != -1; }
    bool is_server() const;
    /// True when the handshake resumed an earlier session (no certificate was sent).
    bool resumed() const;
    /// ALPN selected HTTP/2.
    bool http2() const;
    /// The names in the peer's certificate, the one that identifies it first (identity_names); empty without a certificate.
    std::vector<std::string> peer_names() const;

    /// The peer's certificate; nullptr without one.
    std::shared_ptr<X509> peer_certificate() const;
    /// OpenSSL's result of the verification of the peer's certificate (X509_V_OK, X509_V_ERR_...).
    long verify_result() const;
    /// read() has returned data.
    bool has_read() const { return has_read_; }
    /// Our Finished message is written: the peer has all it needs to judge our certificate.
    bool has_sent_finished() const;

    static constexpr std::size_t record_max = 16 * 1024;   // plaintext (RFC 8446 5.1)

private:
    void connect_buffers();
    Step step_after(int result);
    void note_fault();

    std::shared_ptr<void const> context_;   // kept alive
    std::string server_name_;               // without the root's dot; empty as a server
    SSL* ssl_ = nullptr;
    TlsBuffer input_;
    TlsBuffer output_;
    std::array<char, 1024> arrival_;
    std::string fault_;
    HandshakeFault fault_kind_ = HandshakeFault::none;
    int alert_ = -1;
    bool has_read_ = false;
    bool offered_ticket_ = false;
    TlsContext* client_context_ = nullptr;   // as a client; kept alive by context_
};

}   // namespace garner::net
