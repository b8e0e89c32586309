// A keep-alive hit from memory allocates nothing in any thread: counted in a whole proxy with a client and an origin. With TLS
// and HTTP/2 the proxy's own code allocates nothing; OpenSSL and nghttp2 do. A stored miss allocates its object and little else.
#include <execinfo.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "auth/user_sources.hpp"
#include "h2/wire.hpp"
#include "proxy/drain.hpp"
#include "proxy/server.hpp"
#include "support/certificate.hpp"
#include "support/made.hpp"

#if !defined(__has_feature)
#define __has_feature(x) 0
#endif
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || defined(__SANITIZE_ADDRESS__) || \
    defined(__SANITIZE_THREAD__)
#define GARNER_SANITIZED 1
#include <sanitizer/allocator_interface.h>

#endif

namespace {

/// Counts allocations of all threads while `counting`, except those of the test itself.
struct Allocations {
    static constexpr int frames_max = 32;
    enum class Of : std::uint8_t { nothing, cpp, everything };   // cpp: by operator new, or for a coroutine frame
    std::atomic<Of> counting{Of::nothing};
    std::atomic<std::uint64_t> count{0};
    std::array<void*, frames_max> first{};   // backtrace of the first one
    int first_frames = 0;

    void note(Of by) {
        if (counting.load(std::memory_order_relaxed) != by || of_the_test) return;
        if (count.fetch_add(1) != 0) return;
        of_the_test = true;   // excludes the backtrace's own
        first_frames = ::backtrace(first.data(), frames_max);
        of_the_test = false;
    }
    void start(Of counted = Of::everything) {
        of_the_test = true;
        ::backtrace(first.data(), frames_max);   // loads the library that backtrace() needs
        of_the_test = false;
        count = 0;
        counting = counted;
    }
    void stop() { counting = Of::nothing; }

    static thread_local bool of_the_test;
};

thread_local bool Allocations::of_the_test = false;
Allocations allocations;
using Of = Allocations::Of;

}   // namespace

// The other forms call these.
void* operator new(std::size_t bytes) {
    allocations.note(Of::cpp);
    if (auto* place = std::malloc(bytes)) return place;
    throw std::bad_alloc();
}
void operator delete(void* place) noexcept { std::free(place); }
void operator delete(void* place, std::size_t) noexcept { std::free(place); }

#ifdef GARNER_SANITIZED

namespace {
void note_allocation(void const volatile*, std::size_t) { allocations.note(Of::everything); }
void ignore_release(void const volatile*) {}
[[maybe_unused]] int const hooked = __sanitizer_install_malloc_and_free_hooks(note_allocation, ignore_release);
}   // namespace

#else

// Replace glibc's functions, which stay available under these names.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) {
    allocations.note(Of::everything);
    return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
    allocations.note(Of::everything);
    return __libc_calloc(count, bytes);
}
void* realloc(void* place, std::size_t bytes) {
    allocations.note(Of::everything);
    return __libc_realloc(place, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    allocations.note(Of::everything);
    allocations.note(Of::cpp);   // Asio allocates coroutine frames by it; OpenSSL and nghttp2 do not call it
    return __libc_memalign(alignment, bytes);
}
}

#endif

namespace garner::proxy {
namespace {

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

bool send_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        auto sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

/// Answers each GET /NUMBER with a body of that many bytes, fresh for an hour. Serves one connection at a time, until its end.
class Origin {
public:
    Origin() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        auto address = loopback(0);
        socklen_t size = sizeof address;
        ::bind(fd_, reinterpret_cast<sockaddr*>(&address), size);
        ::listen(fd_, 16);
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
        port = ntohs(address.sin_port);
        thread_ = std::thread([this] { serve(); });
    }
    ~Origin() {
        ::shutdown(fd_, SHUT_RDWR);
        thread_.join();
        ::close(fd_);
    }
    std::uint16_t port;
    std::atomic<int> requests{0};

private:
    void serve() {
        allocations.of_the_test = true;
        for (int client; (client = ::accept(fd_, nullptr, nullptr)) >= 0; ::close(client))
            while (answer(client)) {
            }
    }
    /// False: the connection has ended.
    bool answer(int client) {
        std::string request;
        char chunk[4096];
        while (request.find("\r\n\r\n") == std::string::npos) {
            auto got = ::recv(client, chunk, sizeof chunk, 0);
            if (got <= 0) return false;
            request.append(chunk, static_cast<std::size_t>(got));
        }
        ++requests;
        auto size = std::stoul(request.substr(request.find('/') + 1));
        return send_all(client, "HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Type: text/plain\r\nETag: \"1\"\r\n"
                                "Content-Length: " +
                                    std::to_string(size) + "\r\n\r\n" + std::string(size, 'x'));
    }

    int fd_;
    std::thread thread_;
};

/// A connection to the proxy. Sending and receiving use no operator new.
class Connection {
public:
    /// `protocol`: TLS with this one protocol offered by ALPN; empty: plain TCP.
    Connection(std::string const& address, std::string_view protocol) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        auto to = loopback(static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1))));
        timeval patience{10, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        connected = ::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
        if (!connected || protocol.empty()) return;
        context_.reset(SSL_CTX_new(TLS_client_method()));
        ssl_.reset(SSL_new(context_.get()));
        auto const offer = static_cast<char>(protocol.size()) + std::string(protocol);
        SSL_set_alpn_protos(ssl_.get(), reinterpret_cast<unsigned char const*>(offer.data()), static_cast<unsigned>(offer.size()));
        SSL_set_fd(ssl_.get(), fd_);
        connected = SSL_connect(ssl_.get()) == 1;
    }
    ~Connection() {
        ssl_.reset();
        ::close(fd_);
    }

    bool send(std::string_view bytes) {
        return ssl_ ? SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) > 0 : send_all(fd_, bytes);
    }
    /// Bytes received; 0 or less when there are no more.
    ssize_t receive(std::span<char> into) {
        return ssl_ ? SSL_read(ssl_.get(), into.data(), static_cast<int>(into.size())) : ::recv(fd_, into.data(), into.size(), 0);
    }
    bool connected;

private:
    int fd_;
    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_{nullptr, SSL_CTX_free};
    std::unique_ptr<SSL, decltype(&SSL_free)> ssl_{nullptr, SSL_free};
};

enum class Got : std::uint8_t { nothing, hit, miss };

/// One keep-alive connection; get() does not allocate.
class Client {
public:
    Client(std::string const& address, std::string_view protocol, std::string request, std::size_t body)
        : connection(address, protocol), body_(body), request_(std::move(request)) {}
    /// Sends the request and receives the response.
    Got get() {
        if (!connection.send(request_)) return Got::nothing;
        std::size_t have = 0;
        std::string_view head;
        while (head.empty()) {
            auto got = connection.receive(std::span(buffer_).subspan(have));
            if (got <= 0) return Got::nothing;
            have += static_cast<std::size_t>(got);
            std::string_view all(buffer_.data(), have);
            auto end = all.find("\r\n\r\n");
            if (end != std::string_view::npos) head = all.substr(0, end + 4);
        }
        bool hit = head.starts_with("HTTP/1.1 200") && head.find("; hit") != std::string_view::npos;
        for (have -= head.size(); have < body_;) {
            auto got = connection.receive(std::span(buffer_).first(std::min(buffer_.size(), body_ - have)));
            if (got <= 0) return Got::nothing;
            have += static_cast<std::size_t>(got);
        }
        return have == body_ ? hit ? Got::hit : Got::miss : Got::nothing;
    }
    /// Counts the last digits of the path up, so that the next request has a URL of its own.
    void next_url() {
        for (auto digit = request_.find(" HTTP/1.1") - 1; request_[digit]++ == '9'; --digit) request_[digit] = '0';
    }
    Connection connection;

private:
    std::size_t body_;
    std::string request_;
    std::vector<char> buffer_ = std::vector<char>(2 * MiB);
};

/// One HTTP/2 connection; get() does not allocate.
class Http2Client {
public:
    /// `request`: a HEADERS frame for any stream.
    Http2Client(std::string const& address, std::string request, std::size_t body)
        : connection(address, "h2"), body_(body), request_(std::move(request)) {
        constexpr std::uint32_t unbounded = 1u << 30;   // of bytes: more than a response
        auto const window = h2::frame(h2::settings_frame, h2::no_flag, 0, h2::number(4, 2) + h2::number(unbounded));
        auto const of_connection = h2::frame(h2::window_frame, h2::no_flag, 0, h2::number(unbounded));
        connection.connected = connection.connected && connection.send(std::string(h2::preface) + window + of_connection);
        request_ += h2::frame(h2::window_frame, h2::no_flag, 0, h2::number(static_cast<std::uint32_t>(body)));   // of the last one
    }
    /// Sends the request and receives the response. The caller checks that the origin was not asked.
    Got get() {
        for (std::size_t i = 0; i < 4; ++i) request_[5 + i] = static_cast<char>(stream_ >> (24 - 8 * i));
        if (!connection.send(request_)) return Got::nothing;
        std::size_t received = 0;
        for (bool ended = false; !ended;) {
            if (!fill(frame_header)) return Got::nothing;
            auto const* const header = reinterpret_cast<unsigned char const*>(buffer_.data());
            std::size_t const size = header[0] << 16 | header[1] << 8 | header[2];
            auto const type = header[3], flags = header[4];
            if (!fill(frame_header + size)) return Got::nothing;
            if (type == h2::data_frame) received += size;
            if (type == h2::rst_frame || type == h2::goaway_frame) return Got::nothing;
            ended = (type == h2::data_frame || type == h2::headers_frame) && (flags & h2::end_stream) != 0;
            have_ -= frame_header + size;
            std::memmove(buffer_.data(), buffer_.data() + frame_header + size, have_);
        }
        stream_ += 2;
        return received == body_ ? Got::hit : Got::nothing;
    }
    Connection connection;

private:
    static constexpr std::size_t frame_header = 9;
    bool fill(std::size_t bytes) {
        while (have_ < bytes) {
            auto got = connection.receive(std::span(buffer_).subspan(have_));
            if (got <= 0) return false;
            have_ += static_cast<std::size_t>(got);
        }
        return true;
    }

    std::size_t body_;
    std::string request_;
    std::uint32_t stream_ = 1;
    std::vector<char> buffer_ = std::vector<char>(256 * KiB);
    std::size_t have_ = 0;
};

struct Scene {
    /// The rules of the line: `share`, `caps` and `quotas`.
    explicit Scene(http::Matcher match, Log log = {.access = ""}, Options const& of_line = {}) {
        auto options = std::make_shared<Options>();
        options->share = of_line.share;
        options->caps = of_line.caps;
        options->quotas = of_line.quotas;
        options->listen = {Listen{"127.0.0.1", 0, std::nullopt}, Listen{"127.0.0.1", 0, std::nullopt, true, tls()}};
        http::AccessRule rule;
        rule.allow = true;
        rule.match = std::move(match);
        rule.place = "access[0]";
        options->access = http::AccessRules({rule});
        options->log = std::move(log);
        ServerOptions of_server;
        of_server.workers = 1;
        of_server.what_if = true;   // on by default: a sampled hit must not allocate either
        options->logins = !rule.match.user.empty();
        server = test::made(Server::make(of_server, options, cache));
        if (options->logins) (*server->logins().prepare(users()))();
        EXPECT_EQ(server->open_log().fault_text(), "");
        server->start();
    }
    ~Scene() {
        EXPECT_TRUE(stop(*server, seconds{5}));
        std::filesystem::remove_all(folder);
    }
    std::string plain() const { return server->listen_addresses().at(0).address; }
    std::string secure() const { return server->listen_addresses().at(1).address; }

    net::ListenTls tls() const {
        test::Certificate const certificate;
        net::CertificateFiles const files{folder / "chain.pem", folder / "key.pem"};
        std::filesystem::create_directory(folder);
        std::ofstream(files.chain) << certificate.pem();
        std::ofstream(files.key) << certificate.key_pem();
        net::ListenTls options;
        options.certificates.push_back(files);
        return options;
    }
    /// u with the password p.
    std::shared_ptr<auth::Sources const> users() const {
        std::filesystem::create_directory(folder);
        std::ofstream(folder / "users") << "u:{SHA}UWuXg/ylF+7L0dBk2i0WUxCxl1k=\n";
        auto loaded = auth::Sources::load({.sources = {auth::HtpasswdOptions{(folder / "users").string()}}});
        EXPECT_TRUE(loaded.sources);
        return loaded.sources;
    }
    std::filesystem::path const folder = "/tmp/garner-allocation-" + std::to_string(::getpid());

    cache::Cache cache{cache::Options{}};
    std::unique_ptr<Server> server;
};

http::Matcher destination() {
    http::Matcher match;
    match.destination = {*parse_network("127.0.0.0/8")};
    return match;
}

http::Matcher port(std::uint16_t number) {
    auto match = destination();   // the only rule that allows loopback
    match.port = {http::PortRange{number, number}};
    return match;
}

std::string url_of(Origin const& origin, std::size_t body) {
    return "http://127.0.0.1:" + std::to_string(origin.port) + "/" + std::to_string(body);
}

/// `more`: further lines, each with CRLF.
std::string request_for(Origin const& origin, std::size_t body, std::string const& more = {}) {
    return "GET " + url_of(origin, body) + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(origin.port) +
           "\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) test\r\nAccept: text/html,*/*;q=0.8\r\n"
           "Accept-Encoding: gzip, deflate\r\nReferer: http://127.0.0.1/a/page\r\n" +
           more + "\r\n";
}

constexpr int hits = 1'000;

template <class AnyClient>
void count_allocations_of_hits(AnyClient& client, Of counted) {
    int got = 0;
    allocations.start(counted);
    for (int i = 0; i < hits; ++i) got += client.get() == Got::hit;
    std::this_thread::sleep_for(milliseconds{300});   // the log writes its last lines
    allocations.stop();
    EXPECT_EQ(got, hits);
}

/// `batches`: of `hits`, of which one must allocate nothing.
template <class AnyClient>
void expect_hits_allocate_nothing(AnyClient& client, Origin& origin, Of counted, int batches = 1) {
    ASSERT_TRUE(client.connection.connected);
    for (int i = 0; i < 100; ++i) ASSERT_NE(client.get(), Got::nothing);
    // Waits for the end of the fetch, and for the first ticks of the timer wheel and the log.
    std::this_thread::sleep_for(milliseconds{300});
    do count_allocations_of_hits(client, counted);
    while (allocations.count > 0 && --batches > 0);
    EXPECT_EQ(origin.requests, 1);
    EXPECT_EQ(allocations.count, 0u) << "for " << hits << " hits";
    if (allocations.count > 0) ::backtrace_symbols_fd(allocations.first.data(), allocations.first_frames, 2);
}

void expect_hits_allocate_nothing(Scene& scene, Origin& origin, std::size_t body) {
    Client client(scene.plain(), "", request_for(origin, body), body);
    expect_hits_allocate_nothing(client, origin, Of::everything);
}

void expect_secure_hits_allocate_nothing(std::size_t body) {
    Origin origin;
    Scene scene(port(origin.port));
    Client client(scene.secure(), "http/1.1", request_for(origin, body), body);
    expect_hits_allocate_nothing(client, origin, Of::cpp);
}

void expect_http2_hits_allocate_nothing(std::size_t body) {
    Origin origin;
    Scene scene(port(origin.port));
    auto const authority = "127.0.0.1:" + std::to_string(origin.port), path = "/" + std::to_string(body);
    auto const block = h2::field_block({{":method", "GET"},
                                        {":scheme", "http"},
                                        {":authority", authority},
                                        {":path", path},
                                        {"user-agent", "Mozilla/5.0 (X11; Linux x86_64) test"},
                                        {"accept", "text/html,*/*;q=0.8"},
                                        {"cookie", "a=b"}});
    Http2Client client(scene.secure(), h2::frame(h2::headers_frame, h2::end_stream | h2::end_headers, 0, block), body);
    // A large body may wait for the client in a coroutine. The memory of its frame may have been given to a smaller frame; then a
    // new one is allocated, once in hundreds of hits, until all frames that Asio keeps are large enough.
    expect_hits_allocate_nothing(client, origin, Of::cpp, 10);
}

TEST(Allocation, is_seen_when_there_is_one) {
    allocations.start();
    std::thread([] { delete new int(7); }).join();
    allocations.stop();
    EXPECT_GT(allocations.count, 0u);
}

TEST(Allocation, none_for_a_small_hit) {
    Origin origin;
    Scene scene(port(origin.port));
    expect_hits_allocate_nothing(scene, origin, 1'000);
}

TEST(Allocation, none_for_a_small_hit_behind_a_rule_that_names_the_destination) {
    Origin origin;
    Scene scene(destination());
    expect_hits_allocate_nothing(scene, origin, 1'000);
}

TEST(Allocation, none_for_a_hit_of_a_mebibyte) {
    Origin origin;
    Scene scene(port(origin.port));
    expect_hits_allocate_nothing(scene, origin, MiB);
}

TEST(Allocation, none_for_a_hit_of_a_client_with_a_quota) {
    share::QuotaRule rule;
    rule.name = "guests";
    rule.bytes = GiB;
    Options of_line;
    of_line.quotas = {rule};
    Origin origin;
    Scene scene(port(origin.port), {.access = ""}, of_line);
    expect_hits_allocate_nothing(scene, origin, 1'000);
    auto const figures = scene.server->quotas().figures();
    EXPECT_EQ(figures.rules.at(0).requests, 1u) << "hits are free";
}

TEST(Allocation, none_for_a_hit_of_a_client_with_a_share_and_a_cap) {
    share::CapRule slow;
    slow.name = "slow";
    slow.down = slow.up = 100'000'000;
    Options of_line;
    of_line.share.down = of_line.share.up = 100'000'000;
    of_line.share.weights = {{.weight = 2, .match = {}}};
    of_line.caps = {slow};
    for (std::size_t const body : {std::size_t{1'000}, std::size_t{MiB}}) {
        Origin origin;
        Scene scene(port(origin.port), {.access = ""}, of_line);
        expect_hits_allocate_nothing(scene, origin, body);
        auto const figures = scene.server->shared().caps.figures();
        ASSERT_EQ(figures.size(), 1u);
        EXPECT_GT(figures[0].bytes[0], body) << "the fetch was charged";
        EXPECT_LT(figures[0].bytes[0], 2 * body + 2'000) << "hits are free";
    }
}

TEST(Allocation, none_for_a_hit_that_is_logged) {
    for (auto format : {LogFormat::squid, LogFormat::combined, LogFormat::json}) {
        Origin origin;
        Scene scene(port(origin.port), {.access = "/dev/null", .format = format});
        expect_hits_allocate_nothing(scene, origin, 1'000);
        EXPECT_GT(scene.server->log_stats().written, static_cast<std::uint64_t>(hits));
    }
}

TEST(Allocation, none_for_a_hit_of_a_known_user) {
    for (auto const& path : {"", "/dev/null"}) {
        auto match = destination();
        match.user = {"*"};
        Origin origin;
        Scene scene(match, {.access = path, .format = LogFormat::json});
        Client client(scene.plain(), "", request_for(origin, 1'000, "Proxy-Authorization: Basic dTpw\r\n"), 1'000);
        expect_hits_allocate_nothing(client, origin, Of::everything);
    }
}

TEST(Allocation, few_for_a_stored_miss) {
    constexpr std::size_t body = 1'000;
    constexpr int misses = 2'000;
    Origin origin;
    Scene scene(port(origin.port));
    auto request = request_for(origin, body);
    request.insert(request.find(" HTTP/1.1"), "?000000");
    Client client(scene.plain(), "", request, body);
    ASSERT_TRUE(client.connection.connected);
    int got = 0;
    for (int i = 0; i < 100; ++i, client.next_url()) client.get();
    allocations.start();
    for (int i = 0; i < misses; ++i, client.next_url()) got += client.get() == Got::miss;
    allocations.stop();
    EXPECT_EQ(got, misses);
    EXPECT_EQ(origin.requests, misses + 100);
#ifndef GARNER_FREES_OBJECTS
    EXPECT_LT(allocations.count, 6u * misses);
#endif
}

TEST(Allocation, none_for_hits_over_TLS) {
    expect_secure_hits_allocate_nothing(1'000);
    expect_secure_hits_allocate_nothing(MiB);
}

TEST(Allocation, none_for_hits_over_HTTP_2) {
    expect_http2_hits_allocate_nothing(1'000);
    expect_http2_hits_allocate_nothing(MiB);
}

}   // namespace
}   // namespace garner::proxy
