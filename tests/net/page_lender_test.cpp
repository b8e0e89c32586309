// Large parts of a message leave without a copy: their bytes arrive as they were, also after their memory was given up.
#include "net/page_lender.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "net/listener.hpp"
#include "net/loop.hpp"

namespace garner::net {
namespace {

struct Free {
    void operator()(char* pages) const { std::free(pages); }
};
using Pages = std::unique_ptr<char, Free>;

Pages pages_of(char byte, std::size_t bytes) {
    Pages pages(static_cast<char*>(std::aligned_alloc(4 * KiB, bytes)));
    std::memset(pages.get(), byte, bytes);
    return pages;
}

/// A lent part fits into the socket at once.
void give_room(Transport& transport) {
    int const room = 1 << 20;
    ::setsockopt(transport.descriptor(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
}

std::string receive(int fd, std::size_t bytes) {
    std::string received(bytes, '\0');
    auto const got = ::recv(fd, received.data(), bytes, MSG_WAITALL);
    received.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return received;
}

TEST(PageLender, bytes_arrive_as_they_were_after_their_memory_was_given_up) {
    Loop loop;
    Pair pair(loop.io, loop.wheel);
    ASSERT_NE(PageLender::of_this_thread(), nullptr);
    give_room(*pair.ours);
    auto const pages = pages_of('a', PageLender::part_min);
    std::string const head = "head", tail = "tail";
    std::array parts{iovec{const_cast<char*>(head.data()), head.size()}, iovec{pages.get(), PageLender::part_min},
                     iovec{const_cast<char*>(tail.data()), tail.size()}};
    std::span<iovec> unsent(parts);
    ASSERT_FALSE(pair.ours->try_lend(unsent).error);
    ASSERT_EQ(::madvise(pages.get(), PageLender::part_min, MADV_DONTNEED), 0);
    std::memset(pages.get(), 'b', PageLender::part_min);
    auto const all = head.size() + PageLender::part_min + tail.size();
    EXPECT_EQ(receive(pair.theirs, all), head + std::string(PageLender::part_min, 'a') + tail);
    EXPECT_EQ(pair.ours->sent(), all);
}

TEST(PageLender, large_parts_are_not_copied) {
    Loop loop;
    Pair pair(loop.io, loop.wheel);
    give_room(*pair.ours);
    auto const pages = pages_of('a', PageLender::part_min);
    iovec part{pages.get(), PageLender::part_min};
    std::span<iovec> unsent(&part, 1);
    ASSERT_FALSE(pair.ours->try_lend(unsent).error);
    std::memset(pages.get(), 'b', PageLender::part_min);   // an owner must not do this
    EXPECT_EQ(receive(pair.theirs, PageLender::part_min).back(), 'b');
}

TEST(PageLender, what_the_socket_does_not_accept_at_once_follows) {
    Loop loop;
    Pair pair(loop.io, loop.wheel);
    std::vector<Pages> pages;
    std::vector<iovec> parts;
    std::string expected;
    for (char byte = 'a'; byte < 'a' + 20; ++byte) {
        pages.push_back(pages_of(byte, PageLender::part_min));
        parts.push_back({pages.back().get(), PageLender::part_min});
        expected.append(PageLender::part_min, byte);
    }
    std::string received;
    std::thread reader([&] { received = receive(pair.theirs, expected.size()); });
    auto const sent = loop.run(pair.ours->lend(parts, seconds{5}));
    reader.join();
    EXPECT_FALSE(sent.error);
    EXPECT_EQ(sent.bytes, expected.size());
    EXPECT_TRUE(received == expected);
}

TEST(PageLender, a_closed_connection_is_an_error) {
    Loop loop;
    Pair pair(loop.io, loop.wheel);
    ::shutdown(pair.ours->descriptor(), SHUT_WR);
    ::signal(SIGPIPE, SIG_IGN);   // the program ignores it, too
    auto const pages = pages_of('a', PageLender::part_min);
    iovec part{pages.get(), PageLender::part_min};
    std::span<iovec> unsent(&part, 1);
    EXPECT_EQ(pair.ours->try_lend(unsent).error, asio::error::broken_pipe);
}

}   // namespace
}   // namespace garner::net
