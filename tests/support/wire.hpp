// One TCP connection of an actor, plain or TLS: sends completely, receives into a buffer, and limits every wait.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "support/certificate.hpp"

namespace garner::test {

using Millis = std::chrono::milliseconds;

/// The default limit of an actor's waits.
inline constexpr Millis patience{20'000};

/// An actor failed: the scene cannot continue.
struct Trouble : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Calls `true_now` until it is true, after pauses of 5 ms and later a tenth of the time waited; false if it is not after `limit`.
template <class Condition>
bool eventually(Condition true_now, Millis limit = patience);

class Wire {
public:
    /// `receive_buffer`: SO_RCVBUF in bytes, 0 for the system's default. Throws Trouble if there is no listener. `from`: the source
    /// address; empty: the system's choice.
    static Wire connect(std::string const& address, std::uint16_t port, int receive_buffer = 0, std::string const& from = {});
    explicit Wire(int fd);
    Wire(Wire&&) noexcept;
    Wire& operator=(Wire&&) noexcept;
    ~Wire();

    /// Performs the handshake; throws Trouble if the peer refuses. The client trusts every certificate.
    /// `protocol`: offered by ALPN; none if empty.
    void start_tls_client(std::string const& server_name, std::string const& protocol = "");
    void start_tls_server(Certificate const&);
    /// The peer's certificate in PEM.
    std::string peer_certificate() const;

    /// Sends all bytes, and receives meanwhile so that two senders cannot block
    /// each other; false if the peer is gone or accepts nothing for `limit`.
    bool send(std::string_view bytes, Millis limit = patience);
    /// Sends without receiving until the peer accepts nothing for `limit`; returns the number of bytes sent.
    std::size_t send_until_blocked(std::string_view bytes, Millis limit);

    enum class Read { data, end, reset, timeout };
    /// Waits for bytes and appends at most `most` of them to buffer().
    Read receive(Millis limit = patience, std::size_t most = 64 * 1024);
    /// Receives until the buffer holds `count` bytes, and removes them; fewer if the peer ends or is silent.
    std::string take(std::size_t count, Millis limit = patience);
    /// Receives until the peer ends or is silent for `limit`; returns everything.
    std::string take_all(Millis limit = patience);
    std::string& buffer() { return buffer_; }

    /// True if the peer has closed or reset, and everything it sent was received. Does not wait.
    bool peer_closed();
    /// TLS: the peer has announced its end (close_notify).
    bool closed_by_notify() const;
    void half_close();
    void reset();            // sends RST instead of FIN, now
    void reset_at_close();   // sends RST when closed; half_close() has no effect then
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

/// A port that is free now and outside the ephemeral range.
std::uint16_t free_port();

void pause_for(Millis);

// ---- templates ----

template <class Condition>
bool eventually(Condition true_now, Millis limit) {
    auto const begun = std::chrono::steady_clock::now();
    while (!true_now()) {
        auto const waited = std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - begun);
        if (waited > limit) return false;
        // A condition may start a program or ask for all statistics: the longer it is false, the less often it is evaluated.
        pause_for(std::clamp(waited / 10, Millis{5}, Millis{100}));
    }
    return true;
}

}   // namespace garner::test
