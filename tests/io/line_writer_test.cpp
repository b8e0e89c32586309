#include "io/line_writer.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

namespace garner::io {

namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Pipe {
public:
    Pipe() {
        ::signal(SIGPIPE, SIG_IGN);
        EXPECT_EQ(::pipe2(ends_, O_CLOEXEC), 0);
    }
    ~Pipe() {
        for (int const end : ends_) ::close(end);
    }
    int to() const { return ends_[1]; }
    /// The pipe is in blocking mode, as standard error is.
    void fill() const {
        ::fcntl(to(), F_SETFL, O_NONBLOCK);
        std::string const text(4096, '.');
        while (::write(to(), text.data(), text.size()) > 0) {
        }
        ::fcntl(to(), F_SETFL, 0);
    }
    /// Reads until the text has `end`; more may follow it.
    std::string read_to(std::string const& end) const {
        std::string text;
        while (text.find(end) == text.npos) {
            char piece[4096];
            auto const got = ::read(ends_[0], piece, sizeof piece);
            if (got <= 0) break;
            text.append(piece, static_cast<std::size_t>(got));
        }
        return text;
    }
    void close_reader() {
        ::close(ends_[0]);
        ends_[0] = -1;
    }

private:
    int ends_[2];
};

std::string without_dots(std::string text) {
    std::erase(text, '.');
    return text;
}

}   // namespace

TEST(LineWriter, lines_of_many_threads_are_written_whole) {
    Pipe pipe;
    LineWriter writer(pipe.to(), MiB);
    std::vector<std::thread> threads;
    for (char c = 'a'; c < 'e'; ++c)
        threads.emplace_back([&, line = std::string(100, c) + "\n"] {
            for (int i = 0; i < 100; ++i) writer.write(line);
        });
    std::string text;
    while (text.size() < 4 * 100 * 101) text += pipe.read_to("\n");
    for (auto& thread : threads) thread.join();
    for (std::size_t at = 0; at < text.size(); at += 101) ASSERT_EQ(text.substr(at, 101), std::string(100, text[at]) + "\n");
    EXPECT_EQ(writer.lost(), 0u);
}

TEST(LineWriter, a_full_pipe_delays_no_writer_and_the_gap_is_told) {
    Pipe pipe;
    pipe.fill();
    LineWriter writer(pipe.to(), KiB);
    auto const begun = steady_now();
    writer.write("first\n");
    for (int i = 0; i < 1'000; ++i) writer.write("a line of twenty-two.\n");
    writer.flush(milliseconds{100});
    EXPECT_LT(steady_now() - begun, seconds{5});
    auto const lost = writer.lost();
    EXPECT_GT(lost, 900u);
    EXPECT_LT(lost, 1'000u);
    // The lines that were kept come before or after the note: the thread may have taken the first line alone.
    auto const text = without_dots(pipe.read_to(" too slowly\n"));
    EXPECT_THAT(text, StartsWith("first\n"));
    EXPECT_THAT(text,
                HasSubstr("\ngarner: " + std::to_string(lost) + " lines for this log were lost: it accepted them too slowly\n"));
    writer.write("last\n");
    EXPECT_THAT(pipe.read_to("last\n"), EndsWith("last\n"));
}

TEST(LineWriter, errors_lose_lines_and_are_told_when_it_can_write_again) {
    Pipe pipe;
    int const descriptor = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    LineWriter writer(descriptor, KiB);
    writer.write("one\ntwo\n");
    writer.flush(seconds{10});
    EXPECT_EQ(writer.lost(), 2u);
    ::dup2(pipe.to(), descriptor);   // the disk has space again
    writer.write("three\n");
    EXPECT_EQ(pipe.read_to("device\n"), "three\ngarner: 2 lines for this log were lost: No space left on device\n");
    ::close(descriptor);
}

TEST(LineWriter, a_closed_pipe_loses_lines) {
    Pipe pipe;
    pipe.close_reader();
    LineWriter writer(pipe.to(), KiB);
    writer.write("one\n");
    writer.flush(seconds{10});
    EXPECT_EQ(writer.lost(), 1u);
}

TEST(LineWriter, its_end_writes_what_is_accepted_and_waits_for_nothing_else) {
    Pipe pipe;
    {
        LineWriter writer(pipe.to(), MiB);
        writer.write("one\n");
    }
    EXPECT_EQ(pipe.read_to("\n"), "one\n");
    pipe.fill();
    LineWriter(pipe.to(), MiB).write("two\n");
}

}   // namespace garner::io
