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
constexpr Bytes most = 24 * KiB;   // coroutine frames are larger without optimisation
Bytes heap() { return __sanitizer_get_current_allocated_bytes(); }
#else
constexpr Bytes most = 12 * KiB;
Bytes heap() {
    auto const all = ::mallinfo2();
    return all.uordblks + all.hblkhd;
}
#endif

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
        auto const& address = house.server().addresses().front();
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
    /// Bytes of an idle connection that has sent the request.
    Bytes measure(std::string const& request, std::size_t bytes) {
        std::vector<test::Wire> wires;
        wires.reserve(connections);
        auto const send = [&] {
            wires.push_back(connect());
            exchange(wires.back(), request, bytes);
        };
        for (int i = 0; i < 4; ++i) send();   // the first requests make what later ones reuse
        wires.clear();
        EXPECT_TRUE(test::eventually([&] { return house.server().connections() == 0; }));
        auto const before = heap_at_rest();
        for (std::size_t i = 0; i < connections; ++i) send();
        auto const after = heap_at_rest();
        return (after - std::min(after, before)) / connections;
    }
    void expect_little(char const* what, std::string const& request, std::size_t bytes = 5) {
        auto const used = measure(request, bytes);
        std::printf("an idle connection after %s: %zu bytes\n", what, static_cast<std::size_t>(used));
        EXPECT_GT(used, 2 * KiB) << what;
        EXPECT_LE(used, most) << what;
    }

    House house;
    test::Origin origin;
};

TEST_F(IdleMemory, is_small_after_a_small_request) { expect_little("a small request", head("/small") + "\r\n"); }

TEST_F(IdleMemory, is_small_after_a_head_of_56_KiB) {
    auto request = head("/small");
    for (int i = 0; i < 7; ++i) request += "X-Large-" + std::to_string(i) + ": " + std::string(8'000, 'a') + "\r\n";
    expect_little("a head of 56 KiB", request + "\r\n");
}

TEST_F(IdleMemory, is_small_after_a_head_of_many_fields) {
    auto request = head("/small");
    for (int i = 0; i < 200; ++i) request += "X-" + std::to_string(i) + ": a\r\n";
    expect_little("a head of 200 fields", request + "\r\n");
}

TEST_F(IdleMemory, is_small_after_a_miss_of_a_long_URL) {
    expect_little("a URL of 15 KiB", head("/" + std::string(15'000, 'u')) + "\r\n");
}

TEST_F(IdleMemory, is_small_after_an_upload) {
    auto const upload = head("/up", "POST") + "Content-Length: 300000\r\n\r\n" + std::string(300'000, 'b');
    expect_little("an upload of 300 KB", upload);
}

TEST_F(IdleMemory, is_small_after_an_upload_with_trailers) {
    auto const upload = head("/up", "POST") + "Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n186a0\r\n" +
                        std::string(100'000, 'b') + "\r\n0\r\nX-Sum: " + std::string(10'000, 't') + "\r\n\r\n";
    expect_little("trailers of 10 KB", upload);
}

TEST_F(IdleMemory, is_small_after_a_large_response) { expect_little("a response of 2 MiB", head("/large") + "\r\n", large_body); }

}   // namespace
}   // namespace garner::admin
