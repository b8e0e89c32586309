// A TLS client on OpenSSL: bytes in, bytes out, without I/O of its own.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/options.hpp"
#include "util/result.hpp"

typedef struct ssl_ctx_st SSL_CTX;
typedef struct ssl_st SSL;
typedef struct bio_st BIO;
typedef struct ssl_session_st SSL_SESSION;

namespace garner::net {

/// Shared by all workers: trust store, settings, session tickets by server name (bounded). Thread-safe.
class TlsContext : public std::enable_shared_from_this<TlsContext> {
public:
    /// A fault if the CA file cannot be read. The system's certificates are read by the first session.
    static Result<std::shared_ptr<TlsContext>> make(TlsOptions const&);
    ~TlsContext();

    static constexpr std::size_t names_max = 10'000;   // server names with stored tickets
    static constexpr std::size_t tickets_per_name = 4;

private:
    friend class TlsSession;
    TlsContext();
    void load_trust();
    void remember(std::string const& server_name, SSL_SESSION* ticket);
    /// The caller must free it; nullptr when there is none.
    SSL_SESSION* ticket_for(std::string const& server_name);
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

/// Ciphertext in transit. Holds memory, borrowed from the thread, only while it holds bytes.
class TlsBuffer {
public:
    static constexpr std::size_t capacity = 80 * 1024;
    TlsBuffer() = default;
    TlsBuffer(TlsBuffer const&) = delete;
    TlsBuffer& operator=(TlsBuffer const&) = delete;
    ~TlsBuffer();

    std::string_view bytes() const { return {store_.get() + begin_, end_ - begin_}; }
    bool empty() const { return begin_ == end_; }
    /// The free space after the bytes, `capacity` when empty; must be followed by added().
    std::span<char> room();
    void added(std::size_t count);
    void append(std::string_view bytes);
    void consume(std::size_t count);

private:
    void release();
    void make_room(std::size_t count);
    std::unique_ptr<char[]> store_;
    std::size_t size_ = 0;   // of store_; above `capacity` only if the peer does not read
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

/// One TLS connection as a client: TLS 1.2 or later, ALPN http/1.1, SNI for names, the certificate verified against name or
/// address. Not thread-safe. After `failed`, fault() has the reason and only output() may be used.
class TlsSession {
public:
    TlsSession(std::shared_ptr<TlsContext> context, std::string const& server_name);
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
    std::string const& fault() const { return fault_; }
    /// True when the handshake resumed an earlier session (no certificate was sent).
    bool resumed() const;

    static constexpr std::size_t record_max = 16 * 1024;   // plaintext (RFC 8446 5.1)

private:
    friend class TlsContext;
    void identify();
    Step step_after(int result);
    std::string reason() const;

    std::shared_ptr<TlsContext> context_;
    std::string server_name_;   // without the root's dot
    SSL* ssl_;
    TlsBuffer input_;
    TlsBuffer output_;
    std::string fault_;
};

}   // namespace garner::net
