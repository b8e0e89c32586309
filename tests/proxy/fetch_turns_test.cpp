#include "proxy/fetch_turns.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace garner::proxy {
namespace {

struct Turns : ::testing::Test {
    /// Asks for a turn; it lands in `turns` when it is given.
    void ask(Fingerprint origin) {
        auto const executor = io.get_executor();
        auto asking = [](Turns& self, Fingerprint of, net::Executor on) -> net::awaitable<void> {
            auto turn = co_await self.all.take(of, on);
            self.turns.push_back(std::move(turn));
        };
        auto running = asking(*this, origin, executor);
        net::asio::co_spawn(executor, std::move(running), net::asio::detached);
        io.poll();
        io.restart();
    }

    net::asio::io_context io{1};
    FetchTurns all;
    std::vector<FetchTurns::Turn> turns;
};

TEST_F(Turns, sixteen_fetches_to_one_origin_begin_and_the_next_when_one_ends) {
    for (std::size_t i = 0; i < FetchTurns::most + 2; ++i) ask(1);
    EXPECT_EQ(turns.size(), FetchTurns::most);
    turns.front().end();
    io.poll();
    io.restart();
    EXPECT_EQ(turns.size(), FetchTurns::most + 1);
    ask(2);
    EXPECT_EQ(turns.size(), FetchTurns::most + 2) << "another origin";
    turns.clear();
    io.run();
    EXPECT_EQ(turns.size(), 1u);
    turns.clear();
}

TEST_F(Turns, fetches_older_than_a_second_do_not_count) {
    for (std::size_t i = 0; i < FetchTurns::most + 1; ++i) ask(1);
    EXPECT_EQ(turns.size(), FetchTurns::most);
    io.run();   // the wait ends after a second
    EXPECT_EQ(turns.size(), FetchTurns::most + 1);
    turns.clear();
}

}   // namespace
}   // namespace garner::proxy
