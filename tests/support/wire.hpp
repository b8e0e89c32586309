// One TCP connection of an actor, plain or TLS: sends all of it, receives into a buffer, never waits for ever.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "support/certificate.hpp"

namespace garner::test {

using Millis = std::chrono::milliseconds;

/// How long an actor waits for anything at all before it says that it never came.
inline constexpr Millis patience{20'000};

/// An actor could not do its part: the scene cannot go on.
struct Trouble : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Calls `true_now` every few milliseconds until it is true; false when it still is not after `limit`.
template <class Condition>
bool eventually(Condition true_now, Millis limit = patience);

class Wire {
public:
    /// `receive_buffer`: SO_RCVBUF in bytes, 0 for the system's. Throws Trouble when nobody listens.
    /// `from`: the own address; the system chooses one where it is empty.
    static Wire connect(std::string const& address, std::uint16_t port, int receive_buffer = 0, std::string const& from = {});
    explicit Wire(int fd);
    Wire(Wire&&) noexcept;
    Wire& operator=(Wire&&) noexcept;
    ~Wire();

    /// Handshakes; throws Trouble when the peer refuses. The client trusts whatever it is shown.
    void start_tls_client(std::string const& server_name);
    void start_tls_server(Certificate const&);
    /// The certificate the peer has shown, PEM.
    std::string peer_certificate() const;

    /// Sends all, reading into the buffer meanwhile so that two talkers cannot block each other; false when the peer is
    /// gone or takes nothing for `limit`.
    bool send(std::string_view bytes, Millis limit = patience);
    /// Sends without reading until nothing was taken for `limit`; returns how many bytes were.
    std::size_t send_until_blocked(std::string_view bytes, Millis limit);

    enum class Read { data, end, reset, timeout };
    /// Waits for bytes and appends them to buffer(), at most `most` of them.
    Read receive(Millis limit = patience, std::size_t most = 64 * 1024);
    /// Receives until the buffer holds `count` bytes, takes them out; shorter when the peer ends or is silent.
    std::string take(std::size_t count, Millis limit = patience);
    /// Receives until the peer ends or `limit` passes without a byte; all of it.
    std::string take_all(Millis limit = patience);
    std::string& buffer() { return buffer_; }

    /// The peer has ended or reset its side and all it sent before was received. Does not wait.
    bool peer_closed();
    /// TLS: the peer has announced its end (close_notify).
    bool closed_by_notify() const;
    void half_close();
    void reset();            // RST instead of FIN, now
    void reset_at_close();   // the same, when it is closed; half_close() does nothing any more
    void close();
    bool is_open() const { return fd_ >= 0; }
    bool will_reset() const { return resets_; }
    int fd() const { return fd_; }

private:
    struct Tls;
    bool wait(short events, Millis limit);
    Read receive_plain(std::string& into, std::size_t most);
    bool send_plain(std::string_view bytes, Millis limit, bool reading);
    void handshake();
    bool flush_tls(Millis limit);
    Read read_tls(std::size_t most);

    int fd_ = -1;
    bool resets_ = false;
    std::string buffer_;
    std::unique_ptr<Tls> tls_;
};

/// A listening socket on `address` ("127.0.0.1" or "::1"); port 0 for a free one.
struct Listening {
    int fd;
    std::uint16_t port;
};
Listening listen_on(std::string const& address, std::uint16_t port = 0);

/// A port that nobody has now and that outgoing connections are not given.
std::uint16_t free_port();

void pause_for(Millis);

// ---- templates ----

template <class Condition>
bool eventually(Condition true_now, Millis limit) {
    auto const until = std::chrono::steady_clock::now() + limit;
    while (!true_now()) {
        if (std::chrono::steady_clock::now() > until) return false;
        pause_for(Millis{5});
    }
    return true;
}

}   // namespace garner::test
