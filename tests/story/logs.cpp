// Logs: a full, closed or slow output delays neither requests nor signals, and files are reopened after their rename.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "story/scene.hpp"

namespace garner::test {

namespace {

using Clock = std::chrono::steady_clock;

/// A FIFO that is open for both directions: opening it again does not block.
class Fifo {
public:
    Fifo() {
        EXPECT_EQ(::mkfifo(path().c_str(), 0600), 0);
        end_ = ::open(path().c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    }
    ~Fifo() { close(); }
    Fifo(Fifo const&) = delete;
    std::string path() const { return dir_.path("fifo").string(); }
    /// From now on the other side's writes would wait.
    void fill() const {
        std::string const text(4096, '.');
        while (::write(end_, text.data(), text.size()) > 0) {
        }
    }
    std::string read() const {
        std::string text(1 << 20, '\0');
        auto const got = ::read(end_, text.data(), text.size());
        text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        return text;
    }
    void close() {
        if (end_ >= 0) ::close(end_);
        end_ = -1;
    }

private:
    TempDir dir_;
    int end_ = -1;
};

/// Messages for standard error, and requests on each worker meanwhile.
void expect_service(Proxy& proxy, Origin& origin) {
    for (int i = 0; i < 20; ++i) {
        if (i % 5 == 0) proxy.signal(SIGHUP);
        auto const path = "/page" + std::to_string(i);
        origin.answer(path, fresh("here"));
        auto const reply = get(proxy, origin, path);
        ASSERT_TRUE(reply.ends_within(5s));
        EXPECT_EQ(reply.body(), "here");
    }
}

/// A SIGTERM ends it in time.
void expect_stop(Proxy& proxy) {
    auto const begun = Clock::now();
    proxy.signal(SIGTERM);
    EXPECT_EQ(proxy.ended(), 0);
    EXPECT_LT(Clock::now() - begun, 8s);
}

}   // namespace

TEST(Logs, standard_error_that_accepts_nothing_delays_nothing) {
    Fifo full;
    full.fill();
    Origin origin;
    Proxy proxy(Proxy::Setup{.errors = full.path()});
    expect_service(proxy, origin);
    expect_stop(proxy);
}

TEST(Logs, messages_wait_for_standard_error) {
    Fifo slow;
    slow.fill();
    Origin origin;
    Proxy proxy(Proxy::Setup{.errors = slow.path()});
    proxy.signal(SIGHUP);
    std::string said;
    EXPECT_TRUE(eventually([&] { return (said += slow.read()).find("configuration reloaded") != said.npos; }));
    EXPECT_THAT(said, HasSubstr("garner listens on "));
    EXPECT_EQ(proxy.stats()["log"]["messages_lost"], 0);
    expect_stop(proxy);
    EXPECT_THAT(slow.read(), HasSubstr("shutting down")) << "the last messages are written before the end";
}

TEST(Logs, a_full_disk_below_standard_error_is_counted) {
    Origin origin;
    Proxy proxy(Proxy::Setup{.errors = "/dev/full"});
    expect_service(proxy, origin);
    EXPECT_TRUE(eventually([&] { return proxy.stats()["log"]["messages_lost"] > 0; }));
    EXPECT_THAT(proxy.metrics(), HasSubstr("\ngarner_log_messages_lost_total "));
    expect_stop(proxy);
}

TEST(Logs, standard_error_whose_reader_has_left_does_no_harm) {
    Fifo left;
    Origin origin;
    Proxy proxy(Proxy::Setup{.errors = left.path()});
    left.close();
    expect_service(proxy, origin);
    EXPECT_TRUE(eventually([&] { return proxy.stats()["log"]["messages_lost"] > 0; }));
    expect_stop(proxy);
}

TEST(Logs, the_access_log_may_be_a_FIFO_without_a_reader) {
    TempDir dir;
    auto const path = dir.path("fifo").string();
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    Origin origin;
    Proxy proxy(R"({"log": {"access": ")" + path + R"("}})");
    expect_service(proxy, origin);
    int const reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    std::string lines;
    EXPECT_TRUE(eventually([&] {
        char piece[4096];
        auto const got = ::read(reader, piece, sizeof piece);
        if (got > 0) lines.append(piece, static_cast<std::size_t>(got));
        return std::count(lines.begin(), lines.end(), '\n') == 20;   // those of two workers come in any order
    })) << lines;
    EXPECT_THAT(lines, HasSubstr("/page0"));
    EXPECT_THAT(lines, HasSubstr("/page19"));
    ::close(reader);
    expect_service(proxy, origin);
    expect_stop(proxy);
}

TEST(Logs, a_full_FIFO_as_access_log_delays_nothing) {
    Fifo full;
    full.fill();
    Origin origin;
    Proxy proxy(R"({"log": {"access": ")" + full.path() + R"("}})");
    expect_service(proxy, origin);
    expect_stop(proxy);
}

TEST(Logs, the_JSON_log_has_the_trace_of_a_request_and_the_origin_gets_it_unchanged) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    origin.answer("/other", no_store("x"));
    Proxy proxy;
    Fields const traced{{"traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}};
    get(proxy, origin, "/page", traced).body();
    EXPECT_EQ(proxy.logged("/page").all["trace"], "4bf92f3577b34da6a3ce929d0e0e4736");
    EXPECT_EQ(origin.last("/page").head.field("traceparent"), traced.front().second);
    EXPECT_TRUE(get(proxy, origin, "/page", traced).hit());
    EXPECT_EQ(proxy.logged("/page", 2).all["trace"], "4bf92f3577b34da6a3ce929d0e0e4736") << "of a hit, too";
    get(proxy, origin, "/other", {{"traceparent", "00-none"}}).body();
    EXPECT_FALSE(proxy.logged("/other").all.contains("trace"));
}

TEST(Logs, garner_log_reopen_reopens_them_or_says_why_not) {
    Origin origin;
    origin.answer("/before", fresh("x"));
    origin.answer("/after", fresh("x"));
    Proxy proxy;
    auto const reopen = [&] {
        return run({garner_binary(), "log", "reopen", "--config", proxy.dir().path("garner.json").string()});
    };
    get(proxy, origin, "/before").body();
    proxy.logged("/before");
    auto const moved = proxy.dir().path("access.log.1");
    std::filesystem::rename(proxy.log_file(), moved);
    EXPECT_EQ(reopen().code, 0);
    EXPECT_TRUE(std::filesystem::exists(proxy.log_file())) << "at the end of the command";
    ASSERT_TRUE(eventually([&] {
        get(proxy, origin, "/after").body();
        return read_file(proxy.log_file()).find("/after") != std::string::npos;
    }));
    EXPECT_THAT(read_file(moved), HasSubstr("/before"));

    std::filesystem::remove(proxy.log_file());
    std::filesystem::create_directory(proxy.log_file());
    auto const refused = reopen();
    EXPECT_EQ(refused.code, 1);
    EXPECT_THAT(refused.errors, HasSubstr("cannot reopen the access log " + proxy.log_file().string()));
    EXPECT_EQ(run({garner_binary(), "log"}).code, 2);
}

}   // namespace garner::test
