// Parts of the TLS loads: a TLS connection on a blocking socket, a reader of responses, and the frame of a measurement.
#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using Session = std::unique_ptr<SSL_SESSION, decltype(&SSL_SESSION_free)>;

inline std::runtime_error tls_error(char const* action) {
    char reason[256] = "connection closed";
    if (auto const code = ERR_get_error()) ERR_error_string_n(code, reason, sizeof reason);
    return std::runtime_error(std::string(action) + ": " + reason);
}

/// Returns a blocking socket to this port of 127.0.0.1.
inline int connect_to(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int const fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
        throw std::runtime_error("connect failed");
    int const on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    timeval const patience{30, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

/// A connected socket.
struct Socket {
    int fd;
};

/// A TLS connection. It belongs to one thread. Failures throw std::runtime_error; a silence of 30 s is one.
class TlsConnection {
public:
    /// `resumed` may be null. `alpn` is one protocol name, or empty.
    TlsConnection(SSL_CTX* context, int port, SSL_SESSION* resumed = nullptr, std::string_view alpn = "")
        : ssl_(SSL_new(context), SSL_free), fd_(connect_to(port)) {
        SSL_set_fd(ssl_.get(), fd_);
        SSL_set_app_data(ssl_.get(), this);
        if (resumed) SSL_set_session(ssl_.get(), resumed);
        if (!alpn.empty()) {
            auto const offer = static_cast<char>(alpn.size()) + std::string(alpn);
            SSL_set_alpn_protos(ssl_.get(), reinterpret_cast<unsigned char const*>(offer.data()),
                                static_cast<unsigned>(offer.size()));
        }
        handshake();
    }
    /// On a socket that has a tunnel to `server_name`; closes it.
    TlsConnection(SSL_CTX* context, Socket socket, std::string const& server_name)
        : ssl_(SSL_new(context), SSL_free), fd_(socket.fd) {
        SSL_set_fd(ssl_.get(), fd_);
        SSL_set_app_data(ssl_.get(), this);
        SSL_set_tlsext_host_name(ssl_.get(), server_name.c_str());
        handshake();
    }
    ~TlsConnection() {
        SSL_shutdown(ssl_.get());
        close(fd_);
    }
    TlsConnection(TlsConnection const&) = delete;
    TlsConnection& operator=(TlsConnection const&) = delete;

    bool was_resumed() const { return SSL_session_reused(ssl_.get()) == 1; }
    /// The newest ticket that the server has sent; null before the first.
    Session& ticket() { return ticket_; }

    void send(std::string_view text) {
        if (SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size())) <= 0) throw tls_error("write");
    }

    /// Waits for bytes. They are valid until the next call in the same thread.
    std::string_view receive() {
        thread_local char buffer[64 * 1024];
        int const n = SSL_read(ssl_.get(), buffer, sizeof buffer);
        if (n <= 0) throw tls_error("read");
        return {buffer, static_cast<size_t>(n)};
    }

private:
    void handshake() {
        if (SSL_connect(ssl_.get()) == 1) return;
        close(fd_);
        throw tls_error("handshake");
    }

    std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
    Session ticket_{nullptr, SSL_SESSION_free};
    int fd_;
};

inline int keep_ticket(SSL* ssl, SSL_SESSION* session) {
    static_cast<TlsConnection*>(SSL_get_app_data(ssl))->ticket().reset(session);
    return 1;
}

/// Version, cipher and group come from the file that OPENSSL_CONF names.
inline SSL_CTX* client_context() {
    auto* const context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, keep_ticket);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, 64 * 1024);   // several records a system call
    return context;
}

/// Reads one HTTP/1.1 response after another, without pipelining.
class ResponseReader {
public:
    enum class State { incomplete, complete, wrong };

    /// Expects status 200, and `body` bytes by Content-Length. A response to CONNECT has 0.
    explicit ResponseReader(long body) : body_(body) {}

    State take(std::string_view bytes) {
        if (in_head_) {
            head_ += bytes;
            auto const end = head_.find("\r\n\r\n");
            if (end == head_.npos) return State::incomplete;
            if (!is_head_expected()) return State::wrong;
            left_ = body_ - static_cast<long>(head_.size() - end - 4);
            head_.clear();
            in_head_ = false;
        } else {
            left_ -= static_cast<long>(bytes.size());
        }
        if (left_ > 0) return State::incomplete;
        in_head_ = true;
        return left_ == 0 ? State::complete : State::wrong;
    }

private:
    bool is_head_expected() const {
        auto const* const field = strcasestr(head_.c_str(), "\r\nContent-Length:");
        return head_.compare(8, 5, " 200 ") == 0 && (field ? std::atol(field + 17) : 0) == body_;
    }

    long body_, left_ = 0;
    std::string head_;
    bool in_head_ = true;
};

/// The parameters of a load, and its counters.
struct Load {
    int port = 0;
    std::string origin, target;   // host:port; a request target
    int connections = 0;
    long body = 0;   // bytes of each response
    double seconds = 0;
    SSL_CTX* context = client_context();
    std::atomic<long> good{0}, bad{0};
    std::chrono::steady_clock::time_point until{};

    bool more() const { return std::chrono::steady_clock::now() < until; }
    std::string get_request() const { return "GET " + target + " HTTP/1.1\r\nHost: " + origin + "\r\n\r\n"; }
    std::string connect_request() const { return "CONNECT " + origin + " HTTP/1.1\r\nHost: " + origin + "\r\n\r\n"; }
};

/// Sends a request and reads its response to the end.
inline void exchange(TlsConnection& connection, std::string_view request, long body) {
    connection.send(request);
    ResponseReader reader(body);
    auto state = ResponseReader::State::incomplete;
    while (state == ResponseReader::State::incomplete) state = reader.take(connection.receive());
    if (state == ResponseReader::State::wrong) throw std::runtime_error("unexpected response");
}

/// Says on standard output that all is prepared, and waits for the line or the end of standard input.
inline void wait_for_go() {
    std::puts("ready");
    std::fflush(stdout);
    while (int const c = std::getchar()) {
        if (c == '\n' || c == EOF) break;
    }
}

/// Runs `prepare` and then the function that it returned in a thread for each connection. The second parts begin
/// together, after wait_for_go(). Prints {"good": N, "bad": N}; an exception counts as bad and ends its thread.
inline void run_load(Load& load, std::function<std::function<void()>()> const& prepare) {
    std::latch prepared(load.connections), go(1);
    auto const attempt = [&](auto const& work) {
        try {
            work();
        } catch (std::exception const& error) {
            if (load.bad++ == 0) std::fprintf(stderr, "%s\n", error.what());
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < load.connections; ++i) {
        threads.emplace_back([&] {
            std::function<void()> measured = [] {};
            attempt([&] { measured = prepare(); });
            prepared.count_down();
            go.wait();
            attempt(measured);
        });
    }
    prepared.wait();
    wait_for_go();
    load.until = std::chrono::steady_clock::now() + std::chrono::milliseconds(static_cast<long>(1000 * load.seconds));
    go.count_down();
    for (auto& thread : threads) thread.join();
    std::printf("{\"good\": %ld, \"bad\": %ld}\n", load.good.load(), load.bad.load());
}
