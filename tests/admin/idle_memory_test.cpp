// The memory of an idle client connection, whatever it sent before: in a whole proxy in this process, counted on the heap.
#include <malloc.h>

#include <cstdio>
#include <string>
#include <vector>

#include "house.hpp"
#include "support/wire.hpp"

#if !defined(__has_feature)
#define __has_feature(x) 0
#endif
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || defined(__SANITIZE_ADDRESS__) || \
    defined(__SANITIZE_THREAD__)
#define GARNER_SANITIZED 1
#include <sanitizer/allocator_interface.h>
#endif

namespace garner::admin {
namespace {

#ifdef GARNER_SANITIZED
Bytes heap() { return __sanitizer_get_current_allocated_bytes(); }
#else
Bytes heap() {
    auto const all = ::mallinfo2();
    return all.uordblks + all.hblkhd;
}
#endif

constexpr Bytes most = 12 * KiB;
constexpr std::size_t connections = 100;
constexpr std::size_t large_body = 2 * MiB;

struct IdleMemory : ::testing::Test {
    IdleMemory() {
        origin.otherwise([](test::Hand& hand) {
            hand.read_body();
            bool const large = hand.request().head.target() == "/large";
            auto answer = test::no_store(large ? std::string(large_body, 'x') : "small");
            answer.close = true;   // no idle connection to the origin is measured
            hand.answer(answer);
        });
    }

    std::string head(std::string const& path, std::string const& method = "GET") const {
        return method + " " + origin.url(path) + " HTTP/1.1\r\nHost: " + origin.authority() + "\r\n";
    }
    test::Wire connect() {
        auto const address = house.server().listen_addresses().front().address;
        return test::Wire::connect("127.0.0.1", static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    }
    /// Sends a request, and receives the response, whose body has `bytes`.
    static void exchange(test::Wire& wire, std::string const& request, std::size_t bytes) {
        ASSERT_TRUE(wire.send(request));
        auto& received = wire.buffer();
        auto const is_complete = [&] {
            auto const end = received.find("\r\n\r\n");
            return end != received.npos && received.size() == end + 4 + bytes;
        };
        while (!is_complete()) ASSERT_EQ(wire.receive(), test::Wire::Read::data) << received.substr(0, 1'000);
        ASSERT_TRUE(received.starts_with("HTTP/1.1 200 ")) << received.substr(0, 1'000);
        std::string().swap(received);
    }
    /// Waits until the workers have freed what no request needs any more.
    Bytes heap_at_rest() {
        origin.forget_requests();
        auto const rests = [&] {
            Bytes buffers = 0;
            for (auto const* worker : house.server().shared().workers) buffers += worker->worker.buffers.bytes();
            return buffers == 0;
        };
        EXPECT_TRUE(test::eventually(rests));
        return heap();
    }
    /// One connection that has sent the request, and is idle then.
    void add(std::string const& request, std::size_t bytes) {
        wires.push_back(connect());
        exchange(wires.back(), request, bytes);
    }

    House house;
    test::Origin origin;
    std::vector<test::Wire> wires;
};

struct Traffic {
    char const* what;
    std::string request;
    std::size_t bytes = 5;   // of the response's body
};

TEST_F(IdleMemory, is_small_whatever_the_connection_sent_before) {
    auto large_head = head("/small"), many_fields = head("/small");
    for (int i = 0; i < 7; ++i) large_head += "X-Large-" + std::to_string(i) + ": " + std::string(8'000, 'a') + "\r\n";
    for (int i = 0; i < 200; ++i) many_fields += "X-" + std::to_string(i) + ": a\r\n";
    auto const trailers = "\r\n0\r\nX-Sum: " + std::string(10'000, 't') + "\r\n\r\n";
    std::vector<Traffic> const kinds{
        {"a small request", head("/small") + "\r\n"},
        {"a head of 56 KB", large_head + "\r\n"},
        {"a head of 200 fields", many_fields + "\r\n"},
        {"a URL of 15 KB", head("/" + std::string(15'000, 'u')) + "\r\n"},
        {"an upload of 300 KB", head("/up", "POST") + "Content-Length: 300000\r\n\r\n" + std::string(300'000, 'b')},
        {"trailers of 10 KB", head("/up", "POST") + "Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n186a0\r\n" +
                                  std::string(100'000, 'b') + trailers},
        {"a response of 2 MiB", head("/large") + "\r\n", large_body}};
    wires.reserve((kinds.size() + 1) * connections);
    for (auto const& kind : kinds)
        for (int i = 0; i < 4; ++i) add(kind.request, kind.bytes);   // they allocate what later requests reuse
    auto before = heap_at_rest();
    for (auto const& kind : kinds) {
        for (std::size_t i = 0; i < connections; ++i) add(kind.request, kind.bytes);
        auto const now = heap_at_rest();
        auto const used = (now - std::min(now, before)) / connections;
        std::printf("an idle connection after %s: %zu bytes\n", kind.what, static_cast<std::size_t>(used));
        EXPECT_GT(used, 2 * KiB) << kind.what;
        EXPECT_LE(used, most) << kind.what;
        before = now;
    }
}

}   // namespace
}   // namespace garner::admin
