// Clients and origins that are slow on purpose: they hold up nobody for long, and nothing for ever.
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

}  // namespace garner::test
