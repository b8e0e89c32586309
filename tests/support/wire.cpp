#include "support/wire.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <random>
#include <thread>
#include <utility>

namespace garner::test {

using Clock = std::chrono::steady_clock;

struct Wire::Tls {
    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context{nullptr, SSL_CTX_free};
    std::unique_ptr<SSL, decltype(&SSL_free)> ssl{nullptr, SSL_free};
    BIO* in = nullptr;   // owned by ssl
    BIO* out = nullptr;

    explicit Tls(SSL_METHOD const* method) : context(SSL_CTX_new(method), SSL_CTX_free) {}
    void open() {
        ssl.reset(SSL_new(context.get()));
        in = BIO_new(BIO_s_mem());
        out = BIO_new(BIO_s_mem());
        SSL_set_bio(ssl.get(), in, out);
    }
};

namespace {

struct Address {
    sockaddr_storage storage{};
    socklen_t length = 0;
    sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

Address address_of(std::string const& text, std::uint16_t port) {
    Address address;
    if (auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage); inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(port);
        address.length = sizeof *v6;
        return address;
    }
    auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
    if (inet_pton(AF_INET, text.c_str(), &v4->sin_addr) != 1) throw Trouble("not an address: " + text);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    address.length = sizeof *v4;
    return address;
}

bool gone(int error) { return error != EAGAIN && error != EWOULDBLOCK && error != EINTR; }

bool can_bind(std::uint16_t port) {
    for (char const* text : {"127.0.0.1", "::1"}) {
        auto address = address_of(text, port);
        int fd = ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        bool const free = ::bind(fd, address.get(), address.length) == 0;
        ::close(fd);
        if (!free) return false;
    }
    return true;
}

}   // namespace

void pause_for(Millis time) { std::this_thread::sleep_for(time); }

Wire::Wire(int fd) : fd_(fd) {
    ::fcntl(fd_, F_SETFL, ::fcntl(fd_, F_GETFL) | O_NONBLOCK);
    int const on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Wire::Wire(Wire&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), resets_(other.resets_), buffer_(std::move(other.buffer_)), tls_(std::move(other.tls_)) {}

Wire& Wire::operator=(Wire&& other) noexcept {
    close();
    fd_ = std::exchange(other.fd_, -1);
    resets_ = other.resets_;
    buffer_ = std::move(other.buffer_);
    tls_ = std::move(other.tls_);
    return *this;
}

Wire::~Wire() { close(); }

Wire Wire::connect(std::string const& to, std::uint16_t port, int receive_buffer, std::string const& from) {
    auto address = address_of(to, port);
    int fd = ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_buffer > 0) ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    auto own = from.empty() ? Address{} : address_of(from, 0);
    bool const bound = from.empty() || ::bind(fd, own.get(), own.length) == 0;
    if (!bound || ::connect(fd, address.get(), address.length) != 0) {
        auto const why = std::string(std::strerror(errno));
        ::close(fd);
        throw Trouble("connect to " + to + " port " + std::to_string(port) + ": " + why);
    }
    return Wire(fd);
}

bool Wire::wait(short events, Millis limit) {
    pollfd watched{fd_, events, 0};
    return ::poll(&watched, 1, static_cast<int>(limit.count())) > 0;
}

Wire::Read Wire::receive_plain(std::string& into, std::size_t most) {
    auto const before = into.size();
    into.resize(before + most);
    auto const count = ::recv(fd_, into.data() + before, most, 0);
    auto const error = errno;
    into.resize(before + static_cast<std::size_t>(count > 0 ? count : 0));
    if (count > 0) return Read::data;
    if (count == 0) return Read::end;
    return gone(error) ? Read::reset : Read::timeout;
}

Wire::Read Wire::receive(Millis limit, std::size_t most) {
    if (fd_ < 0) return Read::end;
    auto const until = Clock::now() + limit;
    for (;;) {
        auto const read = tls_ ? read_tls(most) : receive_plain(buffer_, most);
        if (read != Read::timeout) return read;
        auto const left = std::chrono::duration_cast<Millis>(until - Clock::now());
        if (left.count() <= 0 || !wait(POLLIN, left)) return Read::timeout;
    }
}

std::string Wire::take(std::size_t count, Millis limit) {
    auto const until = Clock::now() + limit;
    while (buffer_.size() < count) {
        auto const left = std::chrono::duration_cast<Millis>(until - Clock::now());
        if (left.count() <= 0 || receive(left) != Read::data) break;
    }
    auto taken = buffer_.substr(0, count);
    buffer_.erase(0, taken.size());
    return taken;
}

std::string Wire::take_all(Millis limit) {
    while (receive(limit) == Read::data) {
    }
    return std::exchange(buffer_, {});
}

bool Wire::send_plain(std::string_view bytes, Millis limit, bool reading) {
    while (!bytes.empty()) {
        auto const count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count > 0) {
            bytes.remove_prefix(static_cast<std::size_t>(count));
            continue;
        }
        if (count < 0 && gone(errno)) return false;
        short const events = reading ? POLLOUT | POLLIN : POLLOUT;
        if (!wait(events, limit)) return false;
        // After the peer has closed, POLLIN is always set, so wait only for POLLOUT.
        if (reading && receive_plain(buffer_, 64 * 1024) != Read::data && !wait(POLLOUT, limit)) return false;
    }
    return true;
}

bool Wire::send(std::string_view bytes, Millis limit) {
    if (fd_ < 0) return false;
    if (!tls_) return send_plain(bytes, limit, true);
    for (; !bytes.empty(); bytes.remove_prefix(std::min<std::size_t>(bytes.size(), 16 * 1024))) {
        auto const part = bytes.substr(0, 16 * 1024);
        if (SSL_write(tls_->ssl.get(), part.data(), static_cast<int>(part.size())) <= 0) return false;
        if (!flush_tls(limit)) return false;
    }
    return true;
}

std::size_t Wire::send_until_blocked(std::string_view bytes, Millis limit) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
        auto const count = ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (count > 0)
            sent += static_cast<std::size_t>(count);
        else if (gone(errno) || !wait(POLLOUT, limit))
            break;
    }
    return sent;
}

bool Wire::peer_closed() {
    if (fd_ < 0) return true;
    char byte;
    auto const count = ::recv(fd_, &byte, 1, MSG_PEEK);
    return count == 0 || (count < 0 && gone(errno));
}

void Wire::half_close() {
    if (fd_ < 0 || resets_) return;
    if (tls_) {
        SSL_shutdown(tls_->ssl.get());
        flush_tls(Millis{1000});
    }
    ::shutdown(fd_, SHUT_WR);
}

void Wire::reset_at_close() {
    if (fd_ < 0) return;
    linger const now{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    resets_ = true;
}

void Wire::reset() {
    reset_at_close();
    close();
}

void Wire::close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

// ---- TLS ----

bool Wire::flush_tls(Millis limit) {
    char block[17 * 1024];
    for (int count; (count = BIO_read(tls_->out, block, sizeof block)) > 0;)
        if (!send_plain({block, static_cast<std::size_t>(count)}, limit, false)) return false;
    return true;
}

bool Wire::closed_by_notify() const { return (SSL_get_shutdown(tls_->ssl.get()) & SSL_RECEIVED_SHUTDOWN) != 0; }

Wire::Read Wire::read_tls(std::size_t most) {
    std::string block(std::min<std::size_t>(most, 16 * 1024), '\0');
    for (;;) {
        ERR_clear_error();   // an error of another connection of this thread
        auto const count = SSL_read(tls_->ssl.get(), block.data(), static_cast<int>(block.size()));
        if (count > 0) {
            buffer_.append(block, 0, static_cast<std::size_t>(count));
            return Read::data;
        }
        auto const error = SSL_get_error(tls_->ssl.get(), count);
        flush_tls(patience);
        if (error == SSL_ERROR_ZERO_RETURN) return Read::end;
        if (error != SSL_ERROR_WANT_READ) return Read::reset;
        std::string cipher;
        auto const read = receive_plain(cipher, 17 * 1024);
        if (read != Read::data) return read;
        BIO_write(tls_->in, cipher.data(), static_cast<int>(cipher.size()));
    }
}

void Wire::handshake() {
    auto const until = Clock::now() + patience;
    for (;;) {
        ERR_clear_error();
        auto const done = SSL_do_handshake(tls_->ssl.get());
        auto const error = SSL_get_error(tls_->ssl.get(), done);
        if (!flush_tls(patience)) throw Trouble("TLS: the peer left during the handshake");
        if (done == 1) return;
        if (error != SSL_ERROR_WANT_READ) throw Trouble("TLS: the handshake failed");
        std::string cipher;
        auto const read = receive_plain(cipher, 17 * 1024);
        if (read == Read::end || read == Read::reset) throw Trouble("TLS: the peer closed during the handshake");
        if (read == Read::data)
            BIO_write(tls_->in, cipher.data(), static_cast<int>(cipher.size()));
        else if (Clock::now() > until || !wait(POLLIN, Millis{1000}))
            if (Clock::now() > until) throw Trouble("TLS: the handshake takes too long");
    }
}

void Wire::start_tls_client(std::string const& server_name, std::string const& protocol) {
    tls_ = std::make_unique<Tls>(TLS_client_method());
    tls_->open();
    SSL_set_tlsext_host_name(tls_->ssl.get(), server_name.c_str());
    SSL_set_connect_state(tls_->ssl.get());
    if (!protocol.empty()) {
        std::string const list = static_cast<char>(protocol.size()) + protocol;
        SSL_set_alpn_protos(tls_->ssl.get(), reinterpret_cast<unsigned char const*>(list.data()),
                            static_cast<unsigned>(list.size()));
    }
    handshake();
}

void Wire::start_tls_server(Certificate const& certificate) {
    tls_ = std::make_unique<Tls>(TLS_server_method());
    certificate.use_in(tls_->context.get());
    tls_->open();
    SSL_set_accept_state(tls_->ssl.get());
    handshake();
}

std::string Wire::peer_certificate() const {
    if (!tls_) return {};
    std::unique_ptr<X509, decltype(&X509_free)> shown(SSL_get1_peer_certificate(tls_->ssl.get()), X509_free);
    return shown ? to_pem(shown.get()) : std::string();
}

// ---- listening ----

Listening listen_on(std::string const& text, std::uint16_t wanted) {
    auto address = address_of(text, wanted);
    int fd = ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int const yes = 1;
    if (wanted) ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(fd, address.get(), address.length) != 0 || ::listen(fd, 4096) != 0) {
        auto const why = std::string(std::strerror(errno));
        ::close(fd);
        throw Trouble("listen on " + text + ": " + why);
    }
    ::getsockname(fd, address.get(), &address.length);
    auto const port = address.storage.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address.storage)->sin6_port
                                                            : reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port;
    return {fd, ntohs(port)};
}

namespace {

// Ports below the ephemeral range, so that no outgoing connection takes one between the check and its use.
constexpr int first_port = 10'000;
constexpr int ports_of_a_process = 500;
constexpr int processes = 44;

/// A number below `processes` that no other test process has. An abstract socket address reserves it until this process ends.
int own_share() {
    int const fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int const first = static_cast<int>(std::random_device{}() % processes);
    for (int tries = 0; tries < processes; ++tries) {
        int const share = (first + tries) % processes;
        sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
        auto const name = "garner-test-ports-" + std::to_string(share);
        name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
        auto const length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
        if (::bind(fd, reinterpret_cast<sockaddr*>(&address), length) == 0) return share;
    }
    throw Trouble("too many test programs at a time: no share of the ports is left");
}

}   // namespace

std::uint16_t free_port() {
    static int const share = own_share();
    static std::atomic<unsigned> next{std::random_device{}()};
    for (int tries = 0; tries < ports_of_a_process; ++tries) {
        auto const place = static_cast<int>(next++ % ports_of_a_process);   // all others come before a port repeats
        auto const port = static_cast<std::uint16_t>(first_port + share * ports_of_a_process + place);
        if (can_bind(port)) return port;
    }
    throw Trouble("no free port");
}

}   // namespace garner::test
