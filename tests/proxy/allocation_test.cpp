// A keep-alive hit from memory allocates nothing in any thread: counted in a whole proxy with a client and an origin.
#include <execinfo.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "proxy/server.hpp"
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
    std::atomic<bool> counting{false};
    std::atomic<std::uint64_t> count{0};
    std::array<void*, frames_max> first{};   // backtrace of the first one
    int first_frames = 0;

    void note() {
        if (!counting.load(std::memory_order_relaxed) || of_the_test) return;
        if (count.fetch_add(1) != 0) return;
        of_the_test = true;   // excludes the backtrace's own
        first_frames = ::backtrace(first.data(), frames_max);
        of_the_test = false;
    }
    void start() {
        of_the_test = true;
        ::backtrace(first.data(), frames_max);   // loads the library that backtrace() needs
        of_the_test = false;
        count = 0;
        counting = true;
    }
    void stop() { counting = false; }

    static thread_local bool of_the_test;
};

thread_local bool Allocations::of_the_test = false;
Allocations allocations;

}   // namespace

#ifdef GARNER_SANITIZED

namespace {
void note_allocation(void const volatile*, std::size_t) { allocations.note(); }
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
    allocations.note();
    return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
    allocations.note();
    return __libc_calloc(count, bytes);
}
void* realloc(void* place, std::size_t bytes) {
    allocations.note();
    return __libc_realloc(place, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    allocations.note();
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

/// Answers each GET /NUMBER with a body of that many bytes, fresh for an hour.
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
        for (int client; (client = ::accept(fd_, nullptr, nullptr)) >= 0; ::close(client)) answer(client);
    }
    /// Handles one request per connection.
    void answer(int client) {
        std::string request;
        char chunk[4096];
        while (request.find("\r\n\r\n") == std::string::npos) {
            auto got = ::recv(client, chunk, sizeof chunk, 0);
            if (got <= 0) return;
            request.append(chunk, static_cast<std::size_t>(got));
        }
        ++requests;
        auto size = std::stoul(request.substr(request.find('/') + 1));
        send_all(client, "HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Type: text/plain\r\nETag: \"1\"\r\n"
                         "Connection: close\r\nContent-Length: " +
                             std::to_string(size) + "\r\n\r\n" + std::string(size, 'x'));
    }

    int fd_;
    std::thread thread_;
};

/// One keep-alive connection; get() does not allocate.
class Client {
public:
    explicit Client(std::string const& address) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        auto to = loopback(static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1))));
        timeval patience{10, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        connected = ::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    }
    ~Client() { ::close(fd_); }

    enum class Got { nothing, hit, miss };
    /// Sends the request and receives a response with a body of `body` bytes.
    Got get(std::string_view request, std::size_t body) {
        if (!send_all(fd_, request)) return Got::nothing;
        std::size_t have = 0;
        std::string_view head;
        while (head.empty()) {
            auto got = ::recv(fd_, buffer_.data() + have, buffer_.size() - have, 0);
            if (got <= 0) return Got::nothing;
            have += static_cast<std::size_t>(got);
            std::string_view all(buffer_.data(), have);
            auto end = all.find("\r\n\r\n");
            if (end != std::string_view::npos) head = all.substr(0, end + 4);
        }
        bool hit = head.starts_with("HTTP/1.1 200") && head.find("; hit") != std::string_view::npos;
        for (have -= head.size(); have < body;) {
            auto got = ::recv(fd_, buffer_.data(), std::min(buffer_.size(), body - have), 0);
            if (got <= 0) return Got::nothing;
            have += static_cast<std::size_t>(got);
        }
        return have == body ? hit ? Got::hit : Got::miss : Got::nothing;
    }
    bool connected;

private:
    int fd_;
    std::vector<char> buffer_ = std::vector<char>(2 * MiB);
};

struct Scene {
    explicit Scene(http::Matcher match, Log log = {.access = ""}) {
        auto options = std::make_shared<Options>();
        options->listen = {Listen{"127.0.0.1", 0, std::nullopt}};
        http::AccessRule rule;
        rule.allow = true;
        rule.match = std::move(match);
        rule.place = "access[0]";
        options->access = http::AccessRules({rule});
        options->log = std::move(log);
        ServerOptions of_server;
        of_server.workers = 1;
        of_server.what_if = true;   // on by default: a sampled hit must not allocate either
        server = test::made(Server::make(of_server, options, cache));
        EXPECT_EQ(server->open_log().fault_text(), "");
        server->start();
    }
    ~Scene() { EXPECT_TRUE(server->stop(seconds{5})); }

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

constexpr int hits = 1'000;

void expect_hits_allocate_nothing(Scene& scene, Origin& origin, std::size_t size) {
    auto url = "http://127.0.0.1:" + std::to_string(origin.port) + "/" + std::to_string(size);
    auto request = "GET " + url + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(origin.port) +
                   "\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) test\r\nAccept: text/html,*/*;q=0.8\r\n"
                   "Accept-Encoding: gzip, deflate\r\nReferer: http://127.0.0.1/a/page\r\n\r\n";
    Client client(scene.server->addresses().front());
    ASSERT_TRUE(client.connected);
    for (int i = 0; i < 100; ++i) ASSERT_NE(client.get(request, size), Client::Got::nothing);
    // Waits for the end of the fetch, and for the first ticks of the timer wheel and the log.
    std::this_thread::sleep_for(milliseconds{300});
    int got = 0;
    allocations.start();
    for (int i = 0; i < hits; ++i) got += client.get(request, size) == Client::Got::hit;
    std::this_thread::sleep_for(milliseconds{300});   // the log writes its last lines
    allocations.stop();
    EXPECT_EQ(got, hits);
    EXPECT_EQ(origin.requests, 1);
    EXPECT_EQ(allocations.count, 0u) << "for " << hits << " hits";
    if (allocations.count > 0) ::backtrace_symbols_fd(allocations.first.data(), allocations.first_frames, 2);
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

TEST(Allocation, none_for_a_hit_that_is_logged) {
    for (auto format : {LogFormat::squid, LogFormat::combined, LogFormat::json}) {
        Origin origin;
        Scene scene(port(origin.port), {.access = "/dev/null", .format = format});
        expect_hits_allocate_nothing(scene, origin, 1'000);
        EXPECT_GT(scene.server->log_stats().written, static_cast<std::uint64_t>(hits));
    }
}

}   // namespace
}   // namespace garner::proxy
