// A byte stream to a client, an origin or a peer: plain TCP or TLS, with deadlines and byte counts.
#pragma once
#include <sys/uio.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "net/asio.hpp"
#include "net/deadline.hpp"
#include "util/bytes.hpp"
#include "util/counted.hpp"
#include "util/ip.hpp"

namespace garner::net {

class Carrier;
class EarlyRead;
class HeadBuffer;
class PageLender;
class TlsBuffer;
class TlsContext;
class TlsServerContext;
class TlsSession;
enum class Verification : bool;
struct SessionIdentity;

struct IoResult {
    Error error;   // asio::error::eof at an orderly end, asio::error::timed_out past the deadline
    std::size_t bytes = 0;
};

/// Owns one connected socket, or rests on a carrier. One reader and one writer at a time (they may be two coroutines of the same
/// worker). Not thread-safe: belongs to its worker. Destroying it while an operation runs is an error; cancel() first and await.
class Transport : public Counted<Transport> {
public:
    Transport(TcpSocket socket, DeadlineWheel& wheel);
    /// Rests on a carrier, which must outlive it, instead of a socket.
    Transport(Carrier& carrier, Executor executor, DeadlineWheel& wheel);
    ~Transport();
    Transport(Transport const&) = delete;
    Transport& operator=(Transport const&) = delete;

    /// Waits at most `limit` for at least one byte. bytes > 0 if and only if there is no error.
    awaitable<IoResult> read_some(std::span<char> into, milliseconds limit);
    /// The same for the first bytes of a message, for which one usually waits: spares the system call that finds nothing. A reset
    /// that came together with the last bytes of the message before may be noticed only by the next write.
    awaitable<IoResult> read_first(std::span<char> into, milliseconds limit);
    /// Like read_first() above, into an empty buffer, which holds no memory while a plain connection waits.
    awaitable<IoResult> read_first(HeadBuffer& into, milliseconds limit);

    /// The two halves of read_some(), for a reader that holds no buffer while it waits. wait_input() may return early.
    /// try_read(): error would_block when there is nothing.
    awaitable<Error> wait_input(milliseconds limit);
    IoResult try_read(std::span<char> into);

    /// Writes everything; `limit` is the longest time without progress. `parts` is consumed (its elements change). Without parts:
    /// sends what try_write() has kept.
    awaitable<IoResult> write(std::span<iovec> parts, milliseconds limit);
    awaitable<IoResult> write(std::string_view bytes, milliseconds limit);

    /// Writes as much as possible without waiting and advances `parts`; error would_block when some bytes are left.
    /// Allocates nothing. `more`: another write follows soon, so TLS may keep up to 256 KiB until then: few large sends cost less
    /// than many.
    IoResult try_write(std::span<iovec>& parts, bool more = false);
    /// Like try_write() and write(), for parts whose pages the kernel may keep: see PageLender. TLS and carriers copy.
    IoResult try_lend(std::span<iovec>& parts);
    awaitable<IoResult> lend(std::span<iovec> parts, milliseconds limit);

    /// Starts TLS as a client, to `server_name` (SNI and certificate check); `limit` covers the whole handshake. All bytes
    /// received before must have been read. On a secure connection: TLS in TLS, once.
    awaitable<Error> start_tls(TlsContext& context, std::string const& server_name, milliseconds limit,
                               Verification verification = Verification{});
    /// Starts TLS as a server, likewise. `received`: bytes of the client that were read before. If the client does not speak
    /// TLS, the connection stays as it was, and secure() tells so. `identity`: for a context without certificates, else null.
    awaitable<Error> accept_tls(std::shared_ptr<TlsServerContext const> context, std::string_view received, milliseconds limit,
                                SessionIdentity const* identity = nullptr);
    bool secure() const { return tls_ != nullptr; }
    /// The innermost TLS session; nullptr without one.
    TlsSession const* tls() const { return tls_.get(); }
    /// Why the handshake failed ("certificate has expired"); empty otherwise.
    std::string tls_fault() const;

    /// Ends the running operations with operation_aborted.
    void cancel();
    /// Half-close: no more bytes will be sent (TLS: close_notify first).
    void shutdown_send();
    /// Like shutdown_send(), if this object is destroyed next: that alone ends the sending of a plain socket.
    void end_sending();
    /// Closes with a reset, so that the peer cannot take the received bytes for complete.
    void close_with_reset();

    enum class Arrived : std::uint8_t { nothing, bytes, end };
    /// Tells what an idle connection has received, and does not consume it. Takes one system call; with TLS one more for each
    /// batch of session tickets, which are processed.
    Arrived arrived();
    /// The peer has closed an idle connection or sent unexpected bytes. The first call after watch_idle() usually needs no system
    /// call: the worker's events tell.
    bool stale();
    /// The connection is idle: the read of its next message begins, and read_first() joins it.
    void watch_idle();

    /// The kernel's estimate of the round-trip time; nothing if it has none. One system call.
    std::optional<microseconds> round_trip();
    /// From now on the connection ends when the other side's kernel has acknowledged nothing for `silence` although data or
    /// a probe was pending: a broken link is noticed while waiting for a response. Rounded up to seconds, at least 2 s.
    void expect_life(milliseconds silence);
    /// How long sent bytes may stay unacknowledged; zero: the kernel's default. This also affects a receiver that reads
    /// nothing for a while: must not be used for bodies and tunnels.
    void limit_unacknowledged(milliseconds limit);

    /// The other side's address, if set_remote() was called.
    IpAddress const& remote() const { return remote_; }
    void set_remote(IpAddress const& remote) { remote_ = remote; }

    /// The lower layer; nullptr: a socket.
    Carrier* carrier() { return carrier_; }
    bool is_open() const { return carrier_ || socket_.is_open(); }
    /// Bytes can pass between this and another such connection within the kernel: a plain socket.
    bool can_splice() const { return !tls_ && !carrier_; }
    TcpSocket& socket() { return socket_; }
    /// Gives up the socket: the caller owns the descriptor. No operation runs.
    int release();
    int descriptor() { return socket_.native_handle(); }
    Bytes received() const { return received_; }
    Bytes sent() const { return sent_; }
    /// The sent bytes that the other side's kernel has acknowledged. One system call.
    Bytes acknowledged();
    void count_spliced(Bytes received, Bytes sent) {
        received_ += received;
        sent_ += sent;
    }

private:
    awaitable<Error> ready(TcpSocket::wait_type direction, Deadline& deadline, milliseconds limit);
    /// True when the operation was aborted by a deadline, and neither by cancel() nor by a close since `cancels` was read.
    /// A deadline cancels the whole socket; the direction with the other deadline restarts its operation.
    bool sat_out(Error const& error, std::uint64_t cancels) const;
    void end_operations();

    void add_session(std::unique_ptr<TlsSession> session);
    awaitable<Error> shake_hands(milliseconds limit);
    bool is_clear_text();
    Arrived arrived_tls();
    awaitable<Error> flush_ciphertext(milliseconds limit);
    awaitable<Error> wait_for_ciphertext(milliseconds limit);
    Error receive_ciphertext();   // would_block when there is none yet
    Error receive_through_outer();
    Error send_ciphertext();   // would_block when some bytes are left
    Error send_through_outer();
    Error send_bytes(TlsBuffer& from);
    Error tls_error(TlsSession const& session);
    Error end_without_notify();
    IoResult try_write_tls(std::span<iovec>& parts, bool more);
    awaitable<IoResult> read_tls(std::span<char> into, milliseconds limit);
    IoResult decrypt(std::span<char> into);
    IoResult try_write_socket(std::span<iovec>& parts, bool more);
    IoResult send_parts(std::span<iovec>& parts, PageLender* lender);
    enum class Pages : bool { copied, lent };
    awaitable<IoResult> write_all(std::span<iovec> parts, Pages pages, milliseconds limit);
    IoResult try_receive(std::span<char> into);
    awaitable<IoResult> read_carrier(std::span<char> into, milliseconds limit);
    awaitable<IoResult> read_socket(std::span<char> into, HeadBuffer* late, milliseconds limit);
    EarlyRead* take_early_read();
    awaitable<IoResult> read_drained(std::span<char> into, milliseconds limit);

    TcpSocket socket_;
    Carrier* carrier_ = nullptr;
    IpAddress remote_;
    Deadline read_deadline_;
    Deadline write_deadline_;
    std::unique_ptr<TlsSession> tls_;
    std::unique_ptr<TlsSession> outer_;   // TLS in TLS: the session that carries tls_
    bool drained_ = false;                // the last read of the socket has left nothing in it
    bool is_watched_ = false;             // since watch_idle(), and stale() was not asked
    bool much_arrives_ = false;           // the last ciphertext received was more than a wait can take
    std::string tls_fault_;
    std::uint64_t cancels_ = 0;   // calls of cancel(), to distinguish them from deadlines
    Bytes received_ = 0;
    Bytes sent_ = 0;
    std::weak_ptr<EarlyRead> early_;   // begun by watch_idle(); a reader joins it
};

}   // namespace garner::net
