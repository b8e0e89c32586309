// The pure parts of a session: glitches, windows, bytes in and out, response heads.
#include <gtest/gtest.h>

#include "h2/glitches.hpp"
#include "h2/header_fields.hpp"
#include "h2/inbox.hpp"
#include "h2/outbox.hpp"
#include "h2/flow_windows.hpp"
#include "util/gather.hpp"

namespace garner::h2 {
namespace {

constexpr SteadyTime start{seconds{1'000}};

TEST(H2Glitches, may_come_in_a_burst_of_ten_seconds_worth) {
    Glitches glitches(100);
    for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(glitches.add(start)) << i;
    EXPECT_FALSE(glitches.add(start));
}

TEST(H2Glitches, may_come_for_ever_at_their_rate) {
    Glitches glitches(100);
    auto now = start;
    for (int i = 0; i < 10'000; ++i, now += milliseconds{10}) ASSERT_TRUE(glitches.add(now)) << i;
}

TEST(H2Glitches, are_unlimited_at_a_rate_of_0) {
    Glitches glitches(0);
    for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(glitches.add(start));
}

TEST(H2Budget, gives_one_client_no_more_than_a_quarter_and_takes_shares_back) {
    Budget budget(400);
    {
        Account client(budget);
        Share one(client), two(client);
        EXPECT_TRUE(one.resize(60));
        EXPECT_FALSE(two.resize(50));
        EXPECT_TRUE(two.resize(40));
        EXPECT_FALSE(one.resize(61));
        EXPECT_TRUE(one.resize(10));
        EXPECT_EQ(budget.used(), 50u);
    }
    EXPECT_EQ(budget.used(), 0u);
}

TEST(H2Budget, refuses_the_client_that_holds_most_and_gives_a_new_one_some) {
    constexpr Bytes step = 4 * KiB;
    Budget budget(16 * MiB);
    std::vector<std::unique_ptr<Account>> clients;
    for (int i = 0; i < 10; ++i) {
        auto& greedy = *clients.emplace_back(std::make_unique<Account>(budget));
        while (greedy.take(step)) continue;
    }
    EXPECT_FALSE(clients[0]->take(1));
    Account late(budget);
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(late.take(step)) << i;
    EXPECT_LE(budget.used(), budget.most());
}

TEST(H2Budget, counts_all_connections_of_a_client_together_as_long_as_there_are_some) {
    Memory memory(400, 400);
    auto const a = IpAddress::v4(10, 0, 0, 1), b = IpAddress::v4(10, 0, 0, 2);
    auto first = memory.of(a), second = memory.of(a), other = memory.of(b);
    EXPECT_EQ(first, second);
    EXPECT_NE(first, other);
    EXPECT_TRUE(first->heads.take(80));
    EXPECT_FALSE(second->heads.take(80));
    EXPECT_TRUE(other->heads.take(80));
    EXPECT_TRUE(second->windows.take(80)) << "windows have a budget of their own";
    EXPECT_EQ(memory.used(), 240u);
    first->heads.give(80);
    second->windows.give(80);
    first.reset();
    second.reset();
    EXPECT_TRUE(memory.of(a)->heads.take(80));
}

TEST(H2Windows, of_one_small_upload_are_the_initial_ones) {
    Budget budget(MiB);
    Account account(budget);
    Windows windows(MiB, 100, account);
    Windows::Stream stream;
    EXPECT_TRUE(windows.open(stream, Windows::initial));
    EXPECT_EQ(stream.size, Windows::initial);
    EXPECT_EQ(windows.connection(), Windows::initial);
    EXPECT_EQ(budget.used(), 0u);
}

TEST(H2Windows, are_doubled_while_the_receiver_keeps_up) {
    Budget budget(GiB);
    Account account(budget);
    Windows windows(MiB, 1, account);
    Windows::Stream stream;
    windows.open(stream, Windows::initial);
    windows.consumed(stream, Windows::initial - 1, 0, Windows::initial);
    EXPECT_EQ(stream.size, Windows::initial);
    windows.consumed(stream, 1, 0, Windows::initial);
    EXPECT_EQ(stream.size, 128 * KiB);
    EXPECT_EQ(windows.connection(), MiB);
    windows.consumed(stream, 128 * KiB, 64 * KiB, MiB);   // it does not keep up
    EXPECT_EQ(stream.size, 128 * KiB);
    for (int i = 0; i < 10; ++i) windows.consumed(stream, MiB, 0, MiB);
    EXPECT_EQ(stream.size, MiB);
}

TEST(H2Windows, of_the_connection_cover_those_of_all_streams) {
    Budget budget(GiB);
    Account account(budget);
    Windows windows(MiB, 100, account);
    std::vector<Windows::Stream> streams(100);
    for (auto& stream : streams) windows.open(stream, windows.connection());
    for (int i = 0; i < 10; ++i)
        for (auto& stream : streams) windows.consumed(stream, MiB, 0, windows.connection());
    Bytes sum = 0;
    for (auto const& stream : streams) sum += stream.size;
    EXPECT_LE(sum, windows.connection());
    EXPECT_EQ(windows.connection(), 8 * MiB);
    EXPECT_EQ(budget.used(), 8 * MiB - Windows::initial);
}

TEST(H2Windows, of_a_stream_leave_room_for_streams_to_come) {
    Budget budget(GiB);
    Account account(budget);
    Windows windows(MiB, 100, account);
    std::vector<Windows::Stream> streams(100);
    windows.open(streams[0], windows.connection());
    windows.open(streams[1], windows.connection());
    for (int i = 0; i < 10; ++i)
        for (std::size_t k : {0, 1}) windows.consumed(streams[k], MiB, 0, windows.connection());
    for (std::size_t i = 2; i < streams.size(); ++i) windows.open(streams[i], windows.connection());
    Bytes sum = 0;
    for (auto const& stream : streams) sum += stream.size;
    EXPECT_LE(sum, windows.connection());
}

TEST(H2Windows, beyond_the_initial_ones_are_charged_until_the_streams_end) {
    Budget budget(4 * MiB);
    Account client(budget);
    Windows first(MiB, 10, client), second(MiB, 10, client);
    Windows::Stream a, b, c, d;
    first.open(a, Windows::initial);
    first.open(b, Windows::initial);
    EXPECT_EQ(first.connection(), MiB);
    EXPECT_EQ(budget.used(), MiB - Windows::initial);
    second.open(c, Windows::initial);
    EXPECT_TRUE(second.open(d, Windows::initial));
    EXPECT_EQ(second.connection(), Windows::initial);   // nothing is left for it
    first.close(a);
    EXPECT_EQ(first.connection(), Windows::initial);
    EXPECT_EQ(budget.used(), 0u);
    first.close(b);
    EXPECT_EQ(budget.used(), 0u);
}

TEST(H2Windows, refuse_a_stream_that_may_use_a_former_promise_for_which_no_memory_is_left) {
    Budget budget(4 * MiB);
    Account client(budget);
    Windows windows(MiB, 10, client), others(MiB, 10, client);
    Windows::Stream a, b, c, d;
    windows.open(a, Windows::initial);
    windows.open(b, Windows::initial);
    windows.close(a);
    windows.close(b);
    others.open(c, Windows::initial);
    others.open(d, Windows::initial);
    EXPECT_TRUE(windows.open(a, MiB));
    EXPECT_FALSE(windows.open(b, MiB));
    EXPECT_EQ(b.size, 0u);
    windows.consumed(a, MiB, 0, MiB);
    EXPECT_EQ(a.size, Windows::initial);
    EXPECT_TRUE(windows.open(b, Windows::initial)) << "the client has used the promise";
}

TEST(H2Inbox, gives_what_was_appended_and_moves_nothing) {
    Inbox inbox;
    std::string all, got;
    for (int i = 0; i < 2'000; ++i) {
        std::string const chunk(static_cast<std::size_t>(i * 37 % 16'000), static_cast<char>('a' + i % 26));
        inbox.append(chunk);
        all += chunk;
        auto const view = inbox.front();
        std::string const before(view);
        inbox.append("-");
        all += '-';
        ASSERT_EQ(view, before);
        auto const taken = inbox.front().size() * static_cast<std::size_t>(i % 3) / 2;
        got += inbox.front().substr(0, taken);
        inbox.take(taken);
        ASSERT_EQ(inbox.size(), all.size() - got.size());
    }
    while (inbox.size() > 0) {
        got += inbox.front();
        inbox.take(inbox.front().size());
    }
    EXPECT_EQ(got, all);
    EXPECT_TRUE(inbox.front().empty());
}

TEST(H2Outbox, of_known_length_ends_with_its_last_byte_and_drops_more) {
    Outbox outbox;
    outbox.begin();
    outbox.announce(5);
    Gather<3> parts;
    parts.add("abc");
    parts.add("defg");
    outbox.attach(parts.take());
    EXPECT_EQ(outbox.pending(), 5u);
    EXPECT_FALSE(outbox.ends_with(4));
    EXPECT_TRUE(outbox.ends_with(5));
    std::string into(5, ' ');
    outbox.copy(into);
    EXPECT_EQ(into, "abcde");
    EXPECT_TRUE(outbox.withdraw().empty());
    outbox.end({});
    EXPECT_FALSE(outbox.truncated());
}

TEST(H2Outbox, that_ends_early_is_truncated) {
    Outbox outbox;
    outbox.begin();
    outbox.announce(5);
    outbox.end({});
    EXPECT_TRUE(outbox.truncated());
    EXPECT_FALSE(outbox.ends_with(0));
}

TEST(H2Outbox, without_length_ends_when_it_is_told_so) {
    Outbox outbox;
    outbox.begin();
    Gather<3> parts;
    parts.add("abc");
    outbox.attach(parts.take());
    EXPECT_FALSE(outbox.ends_with(3));
    outbox.end("x: y\r\n");
    EXPECT_TRUE(outbox.ends_with(3));
    EXPECT_FALSE(outbox.ends_with(2));
    std::string into(2, ' ');
    outbox.copy(into);
    auto const rest = outbox.withdraw();
    ASSERT_EQ(rest.size(), 1u);
    EXPECT_EQ(std::string_view(static_cast<char const*>(rest[0].iov_base), rest[0].iov_len), "c");
}

std::string fields_of(std::string_view head, bool to_websocket = false) {
    HeaderFields fields;
    if (!fields.read_head(head, to_websocket)) return "refused";
    std::string text;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        auto const& field = fields.data()[i];
        text.append(reinterpret_cast<char const*>(field.name), field.namelen).append("=");
        text.append(reinterpret_cast<char const*>(field.value), field.valuelen).append(" ");
    }
    return text;
}

TEST(H2Response, has_no_connection_fields) {
    EXPECT_EQ(
        fields_of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\nTransfer-Encoding: chunked\r\nKeep-Alive: 1\r\n"
                  "Proxy-Connection: x\r\nUpgrade: y\r\nAge: 7\r\nEmpty:\r\n\r\n"),
        ":status=200 Content-Length=5 Age=7 Empty= ");
    HeaderFields fields;
    fields.read_head("HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n", false);
    EXPECT_EQ(fields.content_length(), 12u);
    fields.read_head("HTTP/1.1 204 No Content\r\n\r\n", false);
    EXPECT_EQ(fields.content_length(), std::nullopt);
}

TEST(H2Response, to_an_extended_connect_is_200_only_if_the_origin_switched) {
    EXPECT_EQ(
        fields_of("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n"
                  "Sec-WebSocket-Protocol: chat\r\n\r\n",
                  true),
        ":status=200 Sec-WebSocket-Protocol=chat ");
    EXPECT_EQ(fields_of("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n", true), ":status=502 Content-Length=1 ");
    EXPECT_EQ(fields_of("HTTP/1.1 403 Forbidden\r\n\r\n", true), ":status=403 ");
    EXPECT_EQ(fields_of("HTTP/1.1 101 Switching Protocols\r\n\r\n", false), "refused");
    EXPECT_EQ(fields_of("HTTP/1.1 20\r\n\r\n"), "refused");
    EXPECT_EQ(fields_of("no head\r\n\r\n"), "refused");
}

TEST(H2Response, head_is_separated_from_the_body_wherever_the_parts_are_cut) {
    std::string const head = "HTTP/1.1 200 OK\r\nA: b\r\n\r\n", all = head + "body\r\n\r\n";
    for (std::size_t first = 0; first <= all.size(); ++first)
        for (std::size_t second = first; second <= all.size(); ++second) {
            iovec pieces[] = {{const_cast<char*>(all.data()), first},
                              {const_cast<char*>(all.data()) + first, second - first},
                              {const_cast<char*>(all.data()) + second, all.size() - second}};
            std::span<iovec> parts(pieces);
            std::string text, rest;
            ASSERT_TRUE(take_head(parts, text));
            ASSERT_EQ(text, head);
            for (auto const& part : parts) rest.append(static_cast<char const*>(part.iov_base), part.iov_len);
            ASSERT_EQ(rest, "body\r\n\r\n");
        }
    iovec piece{const_cast<char*>(head.data()), head.size() - 1};
    std::span<iovec> parts(&piece, 1);
    std::string text;
    EXPECT_FALSE(take_head(parts, text));
}

}   // namespace
}   // namespace garner::h2
