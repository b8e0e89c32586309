// A hit on a stream's kept place calls operator new not once. nghttp2 itself uses malloc.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <new>

#include "h2/server.hpp"

namespace {
std::size_t news = 0;
}

void* operator new(std::size_t size) {
    ++news;
    if (void* place = std::malloc(size)) return place;
    throw std::bad_alloc();
}
void operator delete(void* place) noexcept { std::free(place); }
void operator delete(void* place, std::size_t) noexcept { std::free(place); }

namespace garner::h2 {
namespace {

/// Answers each request with the same parts, and releases the stream.
struct Hits : Handler {
    void on_request(Stream& stream) override {
        pieces.add("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nCache-Control: max-age=3600\r\n");
        pieces.add("Age: 12\r\nContent-Length: 12\r\nVia: 1.1 garner-12345678\r\n\r\n");
        pieces.add("hello, world");
        session.send(stream, pieces.take());
        session.pull(room);
        answered += stream.is_sent();
        session.release(stream);
    }
    void on_body(Stream&) override {}
    void on_sent(Stream&) override {}
    void on_reset(Stream&) override {}

    Budget budget{MiB};
    Counters counters;
    ClientMemory client{budget, budget};
    Session session{*this, {}, client, counters};
    Gather<3> pieces;
    std::array<char, 16 * KiB> room;
    int answered = 0;
};

TEST(H2Hit, calls_operator_new_not_once) {
    Hits hits;
    SteadyTime const now{seconds{1'000}};
    hits.session.receive(opening(), now);
    auto const fields = get_fields({{"accept", "text/html,application/xhtml+xml"},
                                    {"cookie", "a=1"},
                                    {"cookie", "b=2"},
                                    {"user-agent", "Mozilla/5.0 (X11; Linux x86_64)"}});
    std::vector<std::string> requests;
    for (std::uint32_t i = 0; i < 200; ++i) requests.push_back(request_frame(2 * i + 1, fields));
    for (std::size_t i = 0; i < 100; ++i) hits.session.receive(requests[i], now);
    auto const before = news;
    for (std::size_t i = 100; i < 200; ++i) hits.session.receive(requests[i], now);
    EXPECT_EQ(news - before, 0u);
    EXPECT_EQ(hits.answered, 200);
}

TEST(H2Hit, an_idle_connection_frees_its_places) {
    Hits hits;
    hits.session.receive(opening() + request_frame(1, get_fields()), SteadyTime{});
    hits.session.shrink();
    hits.session.receive(request_frame(3, get_fields()), SteadyTime{});
    EXPECT_EQ(hits.answered, 2);
}

}   // namespace
}   // namespace garner::h2
