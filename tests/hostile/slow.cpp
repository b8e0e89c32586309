// Slow clients and origins: they delay other clients only briefly, and every wait has an end.
#include <atomic>
#include <thread>

#include "hostile/hostile.hpp"

namespace garner::test {

TEST(SlowReader, one_that_reads_a_little_now_and_then_does_not_set_the_pace_for_all) {
    Origin origin;
    Proxy proxy(R"({"workers": 2, "memory": {"object_max": "64 KiB"}, "deadlines": {"laggard": "300ms"}})");
    auto held = origin.hold("/film");
    Client victim(proxy, origin), attacker(proxy, origin);
    attacker.receive_buffer(4096);
    auto film = victim.get("/film");
    held.head({.fields = {{"Cache-Control", "max-age=60"}}, .delimited = Delimited::by_chunks});
    held.piece("start");
    ASSERT_EQ(film.early(5), "start");
    auto slow = attacker.get("/film");
    ASSERT_EQ(slow.early(5), "start");
    auto const piece = pattern(1'000'000);
    constexpr std::size_t pieces = 24;
    std::atomic<bool> over = false;
    std::atomic<std::size_t> taken = 0;
    std::thread reading([&] {
        while (!over) {
            pause_for(100ms);
            attacker.wire().receive(Millis{1}, 16 * 1024);
            taken = attacker.wire().buffer().size();
        }
    });
    std::thread sending([&] {
        for (std::size_t i = 0; i < pieces; ++i) held.piece(piece);
        held.finish();
    });
    EXPECT_EQ(film.body().size(), 5 + pieces * piece.size());
    EXPECT_TRUE(film.complete());
    EXPECT_LT(taken, pieces * piece.size() / 2) << "the victim has waited for it";
    over = true;
    sending.join();
    reading.join();
}

namespace {
auto const least = R"({"limits": {"rate_min": "20 KiB", "rate_min_after": "200ms"}})";
}

TEST(LeastRate, a_client_that_takes_too_little_is_ended) {
    Origin origin;
    Proxy proxy(least);
    auto const film = pattern(16'000'000);
    origin.answer("/film", no_store(film));
    origin.answer("/stored", fresh(pattern(3'000'000)));
    EXPECT_EQ(get(proxy, origin, "/stored").status(), 200);
    Client attacker(proxy, origin), victim(proxy, origin);
    attacker.receive_buffer(4096);
    auto slow = attacker.get("/film");
    for (int i = 0; i < 20; ++i) {
        pause_for(50ms);
        attacker.wire().receive(Millis{1}, 1);
    }
    EXPECT_THAT(proxy.logged("/film").all["reason"], HasSubstr("rate_min"));
    EXPECT_EQ(victim.get("/stored").body().size(), 3'000'000u);
    EXPECT_EQ(victim.get("/film").body(), film);
}

TEST(LeastRate, a_client_that_gives_too_little_is_ended) {
    Origin origin;
    Proxy proxy(least);
    auto held = origin.hold("/form");
    Client attacker(proxy, origin);
    auto slow = attacker.begin("POST", "/form", {{"Content-Length", "1000000"}});
    for (int i = 0; i < 200 && !slow.begins_within(50ms); ++i) attacker.raw("x");
    EXPECT_EQ(slow.status(), 408);
    EXPECT_THAT(slow.body(), HasSubstr("rate_min"));
}

TEST(LeastRate, an_origin_that_drips_a_body_of_known_length_is_ended) {
    Origin origin;
    Proxy proxy(least);
    for (auto const* path : {"/stored", "/passed"}) {
        auto held = origin.hold(path);
        auto slow = get(proxy, origin, path);
        held.head(std::string_view(path) == "/stored" ? fresh("") : no_store(""), 1'000'000);
        for (int i = 0; i < 200 && !held.nth(0).abandoned(50ms); ++i) held.piece("x");
        EXPECT_TRUE(held.nth(0).abandoned()) << path;
        EXPECT_FALSE(slow.complete()) << path;
    }
}

TEST(LeastRate, a_stream_of_events_may_be_slow) {
    Origin origin;
    Proxy proxy(least);
    auto held = origin.hold("/events");
    Client client(proxy, origin);
    auto events = client.get("/events");
    held.head({.fields = {{"Cache-Control", "no-store"}}, .delimited = Delimited::by_chunks});
    for (int i = 0; i < 15; ++i) {
        pause_for(50ms);
        held.piece("x");
    }
    held.finish();
    EXPECT_EQ(events.body(), std::string(15, 'x'));
    EXPECT_TRUE(events.complete());
}

}   // namespace garner::test
