#include "proxy/access_log.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "support/made.hpp"

namespace garner::proxy {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class AccessLogs : public testing::Test {
protected:
    AccessLogs() {
        char name[] = "/tmp/garner_log_XXXXXX";
        directory = ::mkdtemp(name);
    }
    ~AccessLogs() override { fs::remove_all(directory); }

    std::unique_ptr<AccessLog> open(AccessLog::Options options) { return test::made(AccessLog::open(std::move(options))); }

    static std::string text(fs::path const& path) {
        std::ostringstream out;
        out << std::ifstream(path).rdbuf();
        return out.str();
    }

    static std::vector<std::string> lines(fs::path const& path) {
        std::ifstream in(path);
        std::vector<std::string> all;
        for (std::string line; std::getline(in, line);) all.push_back(line);
        return all;
    }

    static LogEntry entry(std::string_view url) {
        LogEntry entry;
        entry.client = "127.0.0.1";
        entry.tag = ResultTag::tcp_mem_hit;
        entry.status = 200;
        entry.method = "GET";
        entry.url = url;
        return entry;
    }

    /// Waits until the condition holds, at most ten seconds.
    template <class Condition>
    static bool soon(Condition holds) {
        for (auto end = steady_now() + 10s; steady_now() < end; std::this_thread::sleep_for(5ms))
            if (holds()) return true;
        return false;
    }

    fs::path directory;
    fs::path path() const { return directory / "access.log"; }
};

TEST_F(AccessLogs, write_each_line_in_order_and_the_last_ones_at_the_end) {
    {
        auto log = open({.place = {.path = path()}});
        for (auto url : {"http://a/1", "http://a/2", "http://a/3"}) log->write(0, entry(url));
    }
    EXPECT_EQ(text(path()), "0.000      0 127.0.0.1 TCP_MEM_HIT/200 0 GET http://a/1 - HIER_NONE/- -\n"
                            "0.000      0 127.0.0.1 TCP_MEM_HIT/200 0 GET http://a/2 - HIER_NONE/- -\n"
                            "0.000      0 127.0.0.1 TCP_MEM_HIT/200 0 GET http://a/3 - HIER_NONE/- -\n");
}

TEST_F(AccessLogs, appear_without_being_asked_for) {
    auto log = open({.place = {.path = path()}});
    log->write(0, entry("http://a/"));
    EXPECT_TRUE(soon([&] { return lines(path()).size() == 1; }));
    EXPECT_TRUE(soon([&] { return log->stats().written == 1; }));
    EXPECT_EQ(log->stats().bytes, text(path()).size());
}

TEST_F(AccessLogs, take_lines_from_all_workers_at_once) {
    constexpr unsigned workers = 4, each = 5'000;
    std::uint64_t dropped;
    {
        auto log = open({.place = {.path = path()}, .workers = workers, .buffer = 64 * KiB, .interval = 10ms});
        {
            std::vector<std::jthread> threads;
            for (unsigned worker = 0; worker < workers; ++worker)
                threads.emplace_back([&, worker] {
                    for (unsigned i = 0; i < each; ++i)
                        log->write(worker, entry("http://" + std::to_string(worker) + "/" + std::to_string(i)));
                });
        }
        dropped = log->dropped();
    }
    std::vector<unsigned> next(workers, 0);
    auto all = lines(path());
    for (auto const& line : all) {
        unsigned worker, number;
        auto at = line.find("http://");
        ASSERT_EQ(std::sscanf(line.c_str() + at, "http://%u/%u - HIER_NONE/- -", &worker, &number), 2) << line;
        ASSERT_TRUE(line.starts_with("0.000 ") && line.ends_with(" - HIER_NONE/- -")) << line;
        ASSERT_GE(number, next.at(worker));
        next[worker] = number + 1;
    }
    EXPECT_EQ(all.size() + dropped, workers * each);
}

TEST_F(AccessLogs, drop_and_count_when_nobody_takes_the_lines_and_still_end) {
    ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
    int reader = ::open(path().c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    auto log = open({.place = {.path = path()}, .buffer = 32 * KiB, .interval = 10ms});
    std::string url(1000, 'u');
    constexpr unsigned logged = 1'000;
    for (unsigned i = 0; i < logged; ++i) log->write(0, entry(url));
    EXPECT_GT(log->dropped(), logged / 2);
    auto begin = steady_now();
    auto const dropped = log->dropped();
    log.reset();
    EXPECT_LT(steady_now() - begin, 5s);
    // The pipe holds complete lines only, the first ones.
    std::string got(1 * MiB, '\0');
    auto size = ::read(reader, got.data(), got.size());
    ::close(reader);
    ASSERT_GT(size, 0);
    EXPECT_LE(static_cast<unsigned>(std::count(got.begin(), got.begin() + size, '\n')), logged - dropped);
}

TEST_F(AccessLogs, go_on_in_a_new_file_after_rename_and_reopen) {
    auto log = open({.place = {.path = path()}, .interval = 10ms});
    log->write(0, entry("http://old/"));
    ASSERT_TRUE(soon([&] { return log->stats().written == 1; }));
    fs::rename(path(), directory / "access.log.1");
    log->write(0, entry("http://between/"));
    ASSERT_TRUE(soon([&] { return log->stats().written == 2; }));
    EXPECT_FALSE(fs::exists(path()));
    EXPECT_EQ(log->reopen().fault_text(), "");
    std::this_thread::sleep_for(200ms);
    log->write(0, entry("http://new/"));
    ASSERT_TRUE(soon([&] { return log->stats().written == 3; }));
    log.reset();
    EXPECT_EQ(lines(directory / "access.log.1").size(), 2u);
    ASSERT_EQ(lines(path()).size(), 1u);
    EXPECT_NE(text(path()).find("http://new/"), std::string::npos);
}

TEST_F(AccessLogs, keep_the_old_file_when_the_new_one_cannot_be_opened) {
    fs::create_directory(directory / "logs");
    auto file = directory / "logs" / "access.log";
    auto log = open({.place = {.path = file}});
    fs::rename(directory / "logs", directory / "moved");
    EXPECT_EQ(log->reopen().fault_text(), "cannot reopen the access log " + file.string() + ": No such file or directory");
    log->write(0, entry("http://a/"));
    log.reset();
    EXPECT_EQ(lines(directory / "moved" / "access.log").size(), 1u);
}

TEST_F(AccessLogs, say_why_a_path_cannot_be_written) {
    EXPECT_EQ(AccessLog::open({.place = {.path = directory / "none" / "access.log"}}).fault_text(),
              "cannot open the access log " + directory.string() + "/none/access.log: No such file or directory");
    EXPECT_EQ(AccessLog::open({.place = {.path = directory}}).fault_text(),
              "cannot open the access log " + directory.string() + ": Is a directory");
}

TEST_F(AccessLogs, count_lines_that_a_full_device_refuses) {
    auto log = open({.place = {.path = "/dev/full"}, .interval = 10ms});
    for (int i = 0; i < 3; ++i) log->write(0, entry("http://a/"));
    EXPECT_TRUE(soon([&] { return log->stats().lost == 3; }));
    auto stats = log->stats();
    EXPECT_GE(stats.write_errors, 1u);
    EXPECT_EQ(stats.written, 0u);
    EXPECT_EQ(stats.dropped, 0u);
    EXPECT_EQ(stats.last_error, "No space left on device");
}

TEST_F(AccessLogs, end_a_torn_line_before_the_next) {
    // A file limited to 1,000 bytes accepts only a part of the batch.
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    auto log = open({.place = {.path = path()}, .interval = 10ms});
    rlimit small{.rlim_cur = 1'000, .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    for (int i = 0; i < 20; ++i) log->write(0, entry("http://before/"));
    bool refused = soon([&] { return log->stats().written + log->stats().lost == 20; });
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    ASSERT_TRUE(refused);
    EXPECT_EQ(fs::file_size(path()), 1'000u);
    log->write(0, entry("http://after/"));
    log.reset();
    auto all = lines(path());
    EXPECT_TRUE(all.back().starts_with("0.000 ")) << all.back();
    EXPECT_NE(all.back().find("http://after/"), std::string::npos);
    EXPECT_EQ(text(path()).back(), '\n');
}

TEST_F(AccessLogs, survive_a_reader_that_leaves) {
    ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
    int reader = ::open(path().c_str(), O_RDONLY | O_NONBLOCK);
    auto log = open({.place = {.path = path()}, .interval = 10ms});
    ::close(reader);
    log->write(0, entry("http://a/"));
    EXPECT_TRUE(soon([&] { return log->stats().lost == 1; }));
    EXPECT_EQ(log->stats().last_error, "Broken pipe");
}

TEST_F(AccessLogs, write_to_standard_output) {
    testing::internal::CaptureStdout();
    auto log = open({.place = {.path = "-"}});
    log->write(0, entry("http://a/"));
    EXPECT_EQ(log->reopen().fault_text(), "");
    log.reset();
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "0.000      0 127.0.0.1 TCP_MEM_HIT/200 0 GET http://a/ - HIER_NONE/- -\n");
}

TEST_F(AccessLogs, are_off_without_a_path) {
    auto log = open({.place = {.path = ""}});
    log->write(0, entry("http://a/"));
    EXPECT_EQ(log->reopen().fault_text(), "");
    EXPECT_EQ(log->stats().written, 0u);
    EXPECT_EQ(log->dropped(), 0u);
}

class AccessLogMoves : public AccessLogs {
protected:
    /// As a reload does it, with the worker's turn at the end.
    static void move(AccessLog& log, AccessLog::LogTarget const& place, unsigned workers = 1) {
        auto const output = test::made(log.prepare(place));
        log.move_to(output);
        for (unsigned worker = 0; worker < workers; ++worker) log.turn(worker, output);
    }
    fs::path other() const { return directory / "other.log"; }
};

TEST_F(AccessLogMoves, queued_lines_go_to_the_former_file_in_its_format) {
    auto log = open({.place = {.path = path()}, .interval = 10s});
    log->write(0, entry("http://before/"));
    move(*log, {other(), LogFormat::json});
    log->write(0, entry("http://after/"));
    log.reset();
    ASSERT_EQ(lines(path()).size(), 1u);
    EXPECT_EQ(lines(path()).front(), "0.000      0 127.0.0.1 TCP_MEM_HIT/200 0 GET http://before/ - HIER_NONE/- -");
    ASSERT_EQ(lines(other()).size(), 1u);
    EXPECT_TRUE(lines(other()).front().starts_with("{")) << lines(other()).front();
    EXPECT_NE(lines(other()).front().find("http://after/"), std::string::npos);
}

TEST_F(AccessLogMoves, to_and_fro_no_line_is_lost_or_torn) {
    constexpr unsigned workers = 3, each = 20'000, moves = 20;
    auto log = open({.place = {.path = path()}, .workers = workers, .buffer = 8 * MiB, .interval = 1ms});
    std::atomic<unsigned> turns[workers]{};
    std::vector<AccessLog::OutputPtr> outputs(moves);
    std::atomic<unsigned> ready{0};
    std::vector<std::thread> threads;
    for (unsigned worker = 0; worker < workers; ++worker)
        threads.emplace_back([&, worker] {
            for (unsigned i = 0; i < each; ++i) {
                if (auto& turn = turns[worker]; turn < ready) log->turn(worker, outputs[turn++]);
                log->write(worker, entry("http://" + std::to_string(worker) + "/" + std::to_string(i)));
            }
        });
    for (unsigned i = 0; i < moves; ++i) {
        outputs[i] = test::made(log->prepare({i % 2 ? path() : other(), LogFormat::squid}));
        EXPECT_TRUE(log->move_to(outputs[i]));
        ++ready;
        std::this_thread::sleep_for(2ms);
    }
    for (auto& thread : threads) thread.join();
    log.reset();
    std::set<std::string> urls;
    std::size_t count = 0;
    for (auto const& file : {path(), other()})
        for (auto const& line : lines(file)) {
            ++count;
            EXPECT_TRUE(line.starts_with("0.000 ") && line.ends_with(" - HIER_NONE/- -")) << line;
            auto const from = line.find("http://");
            urls.insert(line.substr(from, line.find(' ', from) - from));
        }
    EXPECT_EQ(count, workers * each);
    EXPECT_EQ(urls.size(), workers * each) << "each line once";
}

TEST_F(AccessLogMoves, on_and_off) {
    auto log = open({.place = {.path = ""}, .interval = 10ms});
    EXPECT_FALSE(log->writes(0));
    move(*log, {path(), LogFormat::squid});
    EXPECT_TRUE(log->writes(0));
    log->write(0, entry("http://on/"));
    move(*log, {"", LogFormat::squid});
    EXPECT_FALSE(log->writes(0));
    log->write(0, entry("http://off/"));
    EXPECT_EQ(log->reopen().fault_text(), "");
    EXPECT_TRUE(soon([&] { return log->stats().written == 1; }));
    log.reset();
    EXPECT_EQ(lines(path()).size(), 1u);
}

TEST_F(AccessLogMoves, a_path_that_cannot_be_opened_changes_nothing) {
    auto log = open({.place = {.path = path()}, .interval = 10ms});
    auto const bad = directory / "none" / "access.log";
    EXPECT_EQ(log->prepare({bad, LogFormat::json}).fault_text(),
              "log.access: cannot open " + bad.string() + ": No such file or directory; check the path and its permissions");
    { auto const unused = test::made(log->prepare({other(), LogFormat::squid})); }
    log->write(0, entry("http://a/"));
    log.reset();
    EXPECT_EQ(lines(path()).size(), 1u);
    EXPECT_EQ(lines(other()).size(), 0u);
}

TEST_F(AccessLogMoves, a_former_pipe_that_takes_nothing_holds_up_the_new_file_for_a_second_only) {
    ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
    auto log = open({.place = {.path = path()}, .interval = 10ms});
    int const pipe = ::open(path().c_str(), O_RDWR | O_NONBLOCK);
    std::string const much(64 * KiB, 'x');
    while (::write(pipe, much.data(), much.size()) > 0) {
    }
    log->write(0, entry("http://a/"));
    std::this_thread::sleep_for(50ms);
    move(*log, {other(), LogFormat::squid});
    log->write(0, entry("http://b/"));
    EXPECT_TRUE(soon([&] { return log->stats().written == 1; }));
    EXPECT_EQ(log->stats().lost, 1u);
    ::close(pipe);
    log.reset();
    EXPECT_EQ(lines(other()).size(), 1u);
}

}   // namespace
}   // namespace garner::proxy
