// A plain byte stream: deadlines of both directions, ends, and stale connections.
#include "net/transport.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/detached.hpp>
#include <memory>
#include <string>
#include <thread>

#include "net/head_buffer.hpp"
#include "net/listener.hpp"
#include "net/loop.hpp"
#include "net/receive.hpp"

namespace garner::net {
namespace {

struct TransportScene {
    Loop loop;
    Pair pair{loop.io, loop.wheel};
    Transport& ours = *pair.ours;
    std::array<char, 64 * 1024> buffer;

    IoResult read(milliseconds limit = seconds{5}) { return loop.run(ours.read_some(buffer, limit)); }
    void tell(std::string_view bytes) {
        EXPECT_EQ(::send(pair.theirs, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    }
    void close_theirs() {
        ::close(pair.theirs);
        pair.theirs = -1;
        loop.run_for(milliseconds{10});
    }
};

TEST(Transport, reads_what_comes_and_counts_it) {
    TransportScene scene;
    scene.tell("hello");
    auto result = scene.read();
    EXPECT_FALSE(result.error);
    EXPECT_EQ(std::string_view(scene.buffer.data(), result.bytes), "hello");
    EXPECT_EQ(scene.ours.received(), 5u);
}

TEST(Transport, an_orderly_end_is_eof) {
    TransportScene scene;
    scene.close_theirs();
    auto result = scene.read();
    EXPECT_EQ(result.error, asio::error::eof);
    EXPECT_EQ(result.bytes, 0u);
}

TEST(Transport, a_silent_peer_is_timed_out_and_may_go_on_after) {
    TransportScene scene;
    auto begun = steady_now();
    EXPECT_EQ(scene.read(milliseconds{200}).error, asio::error::timed_out);
    EXPECT_GE(steady_now() - begun, milliseconds{200});
    scene.tell("late");
    EXPECT_EQ(scene.read().bytes, 4u);
}

TEST(Transport, writes_many_parts_to_a_slow_reader_in_order) {
    TransportScene scene;
    std::string body(8'000'000, 'b');
    for (std::size_t i = 0; i < body.size(); i += 1'000) body[i] = static_cast<char>('a' + i / 1'000 % 26);
    std::string got;
    std::thread peer([&] {
        char chunk[10'000];
        for (;;) {
            auto n = ::recv(scene.pair.theirs, chunk, sizeof chunk, 0);
            if (n <= 0) return;
            got.append(chunk, static_cast<std::size_t>(n));
        }
    });
    std::vector<iovec> parts(200);
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = {body.data() + i * 40'000, i % 3 == 2 ? 0 : 40'000u};
    std::string expected;
    for (auto const& part : parts) expected.append(static_cast<char*>(part.iov_base), part.iov_len);
    auto result = scene.loop.run(scene.ours.write(std::span(parts), seconds{5}));
    scene.ours.shutdown_send();
    peer.join();
    EXPECT_FALSE(result.error);
    EXPECT_EQ(result.bytes, expected.size());
    EXPECT_TRUE(got == expected);
    EXPECT_EQ(scene.ours.sent(), expected.size());
}

TEST(Transport, a_peer_that_takes_nothing_is_timed_out) {
    TransportScene scene;
    std::string body(32'000'000, 'b');
    auto result = scene.loop.run(scene.ours.write(body, milliseconds{200}));
    EXPECT_EQ(result.error, asio::error::timed_out);
    EXPECT_GT(result.bytes, 0u);
    EXPECT_LT(result.bytes, body.size());
}

TEST(Transport, try_write_takes_what_goes) {
    TransportScene scene;
    std::string body(32'000'000, 'b');
    iovec part{body.data(), body.size()};
    std::span<iovec> parts(&part, 1);
    auto result = scene.ours.try_write(parts);
    EXPECT_EQ(result.error, asio::error::would_block);
    ASSERT_EQ(parts.size(), 1u);
    EXPECT_EQ(part.iov_len, body.size() - result.bytes);
    iovec none{body.data(), 0};
    std::span<iovec> empty(&none, 1);
    EXPECT_FALSE(scene.ours.try_write(empty).error);
}

TEST(Transport, one_directions_deadline_leaves_the_other_alone) {
    TransportScene scene;
    std::string body(32'000'000, 'b');
    IoResult read, written;
    int done = 0;
    auto reader = [&]() -> awaitable<void> {
        read = co_await scene.ours.read_some(scene.buffer, milliseconds{900});
        ++done;
    };
    auto writer = [&]() -> awaitable<void> {
        written = co_await scene.ours.write(body, milliseconds{200});
        ++done;
    };
    auto ignore = [](std::exception_ptr) {};
    asio::co_spawn(scene.loop.io, reader(), ignore);
    asio::co_spawn(scene.loop.io, writer(), ignore);
    scene.loop.run_until([&] { return done == 1; });
    EXPECT_EQ(written.error, asio::error::timed_out);
    scene.tell("still here");
    scene.loop.run_until([&] { return done == 2; });
    EXPECT_FALSE(read.error);
    EXPECT_EQ(read.bytes, 10u);
}

TEST(Transport, cancel_ends_a_read_after_the_writer_ran_out_of_time) {
    TransportScene scene;
    std::string body(32'000'000, 'b');
    EXPECT_EQ(scene.loop.run(scene.ours.write(body, milliseconds{100})).error, asio::error::timed_out);
    IoResult read;
    bool done = false;
    auto reader = [&]() -> awaitable<void> {
        read = co_await scene.ours.read_some(scene.buffer, seconds{20});
        done = true;
    };
    auto ignore = [](std::exception_ptr) {};
    asio::co_spawn(scene.loop.io, reader(), ignore);
    scene.loop.run_for(milliseconds{20});
    scene.ours.cancel();
    scene.loop.run_until([&] { return done; });
    EXPECT_EQ(read.error, asio::error::operation_aborted);
}

TEST(Transport, close_ends_a_read) {
    TransportScene scene;
    IoResult read;
    bool done = false;
    auto reader = [&]() -> awaitable<void> {
        read = co_await scene.ours.read_some(scene.buffer, seconds{20});
        done = true;
    };
    auto ignore = [](std::exception_ptr) {};
    asio::co_spawn(scene.loop.io, reader(), ignore);
    scene.loop.run_for(milliseconds{20});
    scene.ours.socket().close();
    scene.loop.run_until([&] { return done; });
    EXPECT_EQ(read.error, asio::error::operation_aborted);
}

TEST(Transport, stale_means_closed_or_unexpected_bytes) {
    TransportScene idle, talks, closed, resets;
    EXPECT_FALSE(idle.ours.stale());
    EXPECT_FALSE(idle.ours.stale());
    talks.tell("x");
    closed.close_theirs();
    linger at_once{1, 0};
    ::setsockopt(resets.pair.theirs, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    resets.close_theirs();
    EXPECT_TRUE(talks.ours.stale());
    EXPECT_TRUE(closed.ours.stale());
    EXPECT_TRUE(resets.ours.stale());
}

/// Reads message by message from a socket that tells when it is drained.
struct DrainedScene : TransportScene {
    DrainedScene() { report_drained(ours.descriptor()); }
    IoResult first() { return loop.run(ours.read_first(buffer, seconds{1})); }
    void tell_and_wait(std::string_view bytes) {
        tell(bytes);
        loop.run_for(milliseconds{10});   // the event finds no reader
    }
    /// False: the message did not arrive.
    bool watch_after_message() {
        tell("message");
        bool const is_read = first().bytes == 7;
        ours.watch_idle();
        loop.run_for(milliseconds{10});
        return is_read;
    }
    void reset_theirs() {
        linger at_once{1, 0};
        ::setsockopt(pair.theirs, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close_theirs();
    }
};

TEST(Transport, no_message_is_lost_after_the_socket_was_drained) {
    DrainedScene scene;
    scene.tell("one");
    EXPECT_EQ(scene.first().bytes, 3u);
    scene.tell_and_wait("second");
    EXPECT_EQ(scene.first().bytes, 6u);
    EXPECT_EQ(scene.first().error, asio::error::timed_out);
    scene.tell_and_wait("third");
    EXPECT_EQ(scene.read().bytes, 5u);
    scene.tell("fourth");
    EXPECT_EQ(scene.first().bytes, 6u);
    EXPECT_EQ(scene.ours.received(), 20u);
}

TEST(Transport, an_end_that_comes_with_the_last_bytes_is_noticed) {
    DrainedScene scene;
    scene.tell("last");
    ::shutdown(scene.pair.theirs, SHUT_WR);
    scene.loop.run_for(milliseconds{10});
    EXPECT_EQ(scene.first().bytes, 4u);
    EXPECT_EQ(scene.first().error, asio::error::eof);
}

TEST(Transport, a_reset_that_comes_with_bytes_is_noticed_within_a_message) {
    DrainedScene scene;
    scene.tell("part");
    scene.reset_theirs();
    EXPECT_EQ(scene.first().bytes, 4u);
    EXPECT_EQ(scene.read(seconds{1}).error, asio::error::connection_reset);
}

TEST(Transport, a_watched_idle_connection_is_stale_once_anything_comes) {
    DrainedScene scene;
    EXPECT_TRUE(scene.watch_after_message());
    EXPECT_FALSE(scene.ours.stale());
    EXPECT_TRUE(scene.watch_after_message());   // goes on as before
    EXPECT_FALSE(scene.ours.stale());
    EXPECT_FALSE(scene.ours.stale());
    EXPECT_TRUE(scene.watch_after_message());
    scene.tell_and_wait("x");
    EXPECT_TRUE(scene.ours.stale());

    DrainedScene closed;
    EXPECT_TRUE(closed.watch_after_message());
    closed.close_theirs();
    EXPECT_TRUE(closed.ours.stale());
}

TEST(Transport, a_reader_joins_the_read_of_an_idle_connection) {
    DrainedScene scene;
    auto const is_idle = [&] { return scene.watch_after_message() && !scene.ours.stale(); };
    EXPECT_TRUE(is_idle());
    scene.tell("answer");
    EXPECT_EQ(scene.first().bytes, 6u);
    EXPECT_EQ(std::string_view(scene.buffer.data(), 6), "answer");
    EXPECT_TRUE(is_idle());
    scene.tell_and_wait("early");   // before the reader joins
    EXPECT_EQ(scene.first().bytes, 5u);
    EXPECT_EQ(std::string_view(scene.buffer.data(), 5), "early");
    EXPECT_TRUE(is_idle());
    EXPECT_EQ(scene.loop.run(scene.ours.read_first(scene.buffer, milliseconds{200})).error, asio::error::timed_out);
    scene.tell("late");
    EXPECT_EQ(scene.first().bytes, 4u);
    EXPECT_TRUE(is_idle());
    scene.ours.cancel();   // concerns operations that run
    scene.tell("on");
    EXPECT_EQ(scene.first().bytes, 2u);
    EXPECT_TRUE(is_idle());
    scene.close_theirs();
    EXPECT_EQ(scene.first().error, asio::error::eof);
}

TEST(Transport, a_head_joins_the_read_of_an_idle_connection) {
    HeadBufferPool pool;
    HeadBuffer head(pool);
    DrainedScene scene;
    EXPECT_TRUE(scene.watch_after_message());
    EXPECT_FALSE(scene.ours.stale());
    scene.tell("head");
    EXPECT_EQ(scene.loop.run(scene.ours.read_first(head, seconds{1})).bytes, 4u);
    EXPECT_EQ(std::string_view(head.data(), 4), "head");
}

TEST(Transport, the_next_read_of_an_idle_connection_gets_its_reset) {
    DrainedScene scene;
    EXPECT_TRUE(scene.watch_after_message());
    EXPECT_FALSE(scene.ours.stale());
    scene.reset_theirs();
    EXPECT_EQ(scene.first().error, asio::error::connection_reset);
}

awaitable<void> read_and_own(std::unique_ptr<Transport> transport) {
    std::array<char, 16> buffer;
    co_await transport->read_first(std::span<char>(buffer), seconds{5});
}

TEST(Transport, a_joined_read_ends_with_a_cancel_and_with_the_loop) {
    DrainedScene scene;
    EXPECT_TRUE(scene.watch_after_message());
    EXPECT_FALSE(scene.ours.stale());
    Timer timer(scene.loop.io.get_executor(), milliseconds{20});
    timer.async_wait([&](Error const&) { scene.ours.cancel(); });
    EXPECT_EQ(scene.first().error, asio::error::operation_aborted);

    DrainedScene left;   // LeakSanitizer sees what it leaves
    EXPECT_TRUE(left.watch_after_message());
    auto reading = read_and_own(std::move(left.pair.ours));
    asio::co_spawn(left.loop.io, std::move(reading), asio::detached);
    left.loop.run_for(milliseconds{10});
}

TEST(Transport, bytes_that_came_before_the_watch_make_a_connection_stale) {
    DrainedScene scene;
    scene.tell("message");
    EXPECT_EQ(scene.first().bytes, 7u);
    scene.tell_and_wait("x");
    scene.ours.watch_idle();
    EXPECT_TRUE(scene.ours.stale());
}

TEST(Transport, a_half_close_ends_one_direction_and_a_reset_both) {
    TransportScene scene;
    scene.ours.shutdown_send();
    char byte;
    EXPECT_EQ(::recv(scene.pair.theirs, &byte, 1, 0), 0);
    scene.tell("answer");
    EXPECT_EQ(scene.read().bytes, 6u);

    TransportScene other;
    other.ours.close_with_reset();
    EXPECT_EQ(::recv(other.pair.theirs, &byte, 1, 0), -1);
    EXPECT_EQ(errno, ECONNRESET);
}

}   // namespace
}   // namespace garner::net
