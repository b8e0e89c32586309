// The producer of a body, and how it continues if memory is short.
#include "cache/writer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include "cache/scene.hpp"
#include "net/waiter.hpp"

namespace garner::cache {
namespace {

/// A fetch whose body is not kept in memory: its followers read it from a window.
struct Windowed : Scene {
    Windowed() : Scene({.size = 8 * MiB, .object_max = 256 * KiB}) {
        Writer::Response response;
        response.parts.key = "u";
        response.parts.head = "HTTP/1.1 200 OK\r\n";
        response.parts.terms = terms(1'000);
        writer = Writer::begin(cache, leader.lead, response, {io.get_executor(), seconds{5}, [](auto) {}});
        writer->publish_head();
        follower.emplace(lookup("u").follow);
        io.poll();
    }
    store::Body& body() { return *writer->growing()->body(); }

    /// Begins to wait for memory unless some is free.
    void ask_for_room() {
        room = std::nullopt;
        net::asio::co_spawn(io, wait_for_room(), net::asio::detached);
        look();
    }
    net::awaitable<void> wait_for_room() { room = co_await writer->room(); }
    void look() {
        io.restart();
        io.poll();
    }

    /// Fills a window and reads all of it.
    void fill_window() {
        while (body().size() < MiB) {
            ask_for_room();
            ASSERT_TRUE(room && !room->empty());
            writer->grow(room->size());
            follower->read_up_to(body().size());
        }
    }
    void run(milliseconds time) {
        io.restart();
        io.run_for(time);
    }
    void run_until_there_is_an_answer() {
        for (int i = 0; i < 500 && !room; ++i) run(milliseconds{20});
    }

    net::asio::io_context io;
    Lookup leader = lookup("u");
    std::unique_ptr<Writer> writer;
    std::optional<Follower> follower;
    std::optional<std::span<char>> room;
};

/// An abandoned reader still sends from the last segment, and there is no memory for another one.
struct NoMemory {
    explicit NoMemory(Windowed& fetch) : budget(fetch.cache.memory().budget()) {
        sender.emplace(fetch.writer->growing()->body(), fetch.body().size() - 1);
        EXPECT_EQ(sender->next(pieces, 1), 1u);
        rest = budget.capacity() - budget.used();
        EXPECT_TRUE(budget.reserve(rest));
    }
    ~NoMemory() { budget.release(rest); }

    store::Budget& budget;
    std::array<std::string_view, 1> pieces;
    std::optional<store::BodyReader> sender;
    Bytes rest = 0;
};

TEST(Writer, a_window_waits_for_memory_while_an_abandoned_reader_uses_its_own) {
    Windowed fetch;
    fetch.fill_window();
    NoMemory none(fetch);
    fetch.ask_for_room();
    EXPECT_FALSE(fetch.room) << "the fetch is aborted although its follower has read everything";
    none.sender.reset();
    fetch.run_until_there_is_an_answer();
    ASSERT_TRUE(fetch.room);
    EXPECT_FALSE(fetch.room->empty());
}

/// A client that has read everything: it looks again each time it is woken.
net::awaitable<void> read_on(Follower& follower, Bytes offset, net::Executor executor, int& turns) {
    for (;; ++turns) {
        auto const seen = follower.view().version;
        follower.read_up_to(offset);
        net::Waiter waiter(executor);
        follower.wake_on_change(seen, waiter.handle());
        if (co_await waiter.wait(seconds{10}) != net::Wake::ready) co_return;
    }
}

TEST(Writer, a_window_without_memory_leaves_its_followers_asleep) {
    Windowed fetch;
    fetch.fill_window();
    NoMemory none(fetch);
    int turns = 0;
    auto reader = read_on(*fetch.follower, fetch.body().size(), fetch.io.get_executor(), turns);
    net::asio::co_spawn(fetch.io, std::move(reader), net::asio::detached);
    fetch.ask_for_room();
    fetch.run(milliseconds{200});
    EXPECT_FALSE(fetch.room);
    EXPECT_LT(turns, 5);
}

TEST(Writer, a_window_without_memory_ends_when_its_last_follower_leaves) {
    Windowed fetch;
    fetch.fill_window();
    NoMemory none(fetch);
    fetch.ask_for_room();
    fetch.follower.reset();
    fetch.run_until_there_is_an_answer();
    ASSERT_TRUE(fetch.room);
    EXPECT_TRUE(fetch.room->empty());
}

}   // namespace
}   // namespace garner::cache
