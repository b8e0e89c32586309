// The stop of the proxy: SIGTERM loses no request, and ends the process in time.
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <fstream>

#include "story/scene.hpp"
#include "support/places.hpp"
#include "support/programs.hpp"

namespace garner::test {

namespace {

using Clock = std::chrono::steady_clock;

Finished ask(Proxy const& proxy, std::vector<std::string> words) {
    words.insert(words.begin(), garner_binary());
    words.insert(words.end(), {"--config", proxy.dir().path("garner.json").string()});
    return run(words);
}

std::string request(Origin const& origin, std::string const& path) {
    return "GET " + origin.url(path) + " HTTP/1.1\r\nHost: " + origin.authority() + "\r\n\r\n";
}

/// Stops one thread of a child process, as a fault would.
class StoppedThread {
public:
    StoppedThread(pid_t process, std::string const& name) {
        for (auto const& task : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task"))
            if (read_file(task.path() / "comm") == name + "\n") thread_ = std::stoi(task.path().filename());
        stopped_ = thread_ > 0 && ::ptrace(PTRACE_SEIZE, thread_, nullptr, nullptr) == 0 &&
                   ::ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr) == 0 && ::waitpid(thread_, nullptr, __WALL) == thread_;
    }
    bool stopped() const { return stopped_; }
    /// The process cannot be awaited before its traced thread.
    bool ended() const { return ::waitpid(thread_, nullptr, __WALL | WNOHANG) == thread_; }

private:
    pid_t thread_ = 0;
    bool stopped_ = false;
};

}   // namespace

TEST(Stop, an_idle_connection_may_send_one_more_request) {
    Origin origin;
    origin.answer("/page", fresh("here"));
    Proxy proxy(R"({"deadlines": {"drain_idle": "5s"}})");
    Client client(proxy, origin);
    EXPECT_FALSE(client.get("/page").has("Connection"));
    proxy.signal(SIGTERM);
    ASSERT_TRUE(proxy.refuses_connections());
    auto const last = client.get("/page");
    EXPECT_EQ(last.body(), "here");
    EXPECT_EQ(last.field("Connection"), "close");
    EXPECT_EQ(client.connections(), 1);
    client.close();
    EXPECT_EQ(proxy.ended(), 0);
}

TEST(Stop, an_idle_connection_without_a_request_is_closed_after_drain_idle) {
    Origin origin;
    Proxy proxy(R"({"deadlines": {"drain_idle": "1s", "drain": "60s"}})");
    Client first(proxy, origin), second(proxy, origin);
    first.wire();
    second.wire();
    ASSERT_TRUE(eventually([&] { return proxy.stats()["connections"]["now"] == 2; }));
    auto const begun = Clock::now();
    proxy.signal(SIGTERM);
    EXPECT_TRUE(first.closed_by_proxy(10s));
    EXPECT_GE(Clock::now() - begun, 900ms);
    EXPECT_EQ(proxy.ended(), 0);
    EXPECT_LT(Clock::now() - begun, 10s);
}

TEST(Stop, a_request_whose_head_has_begun_is_answered) {
    Origin origin;
    origin.answer("/page", fresh("here"));
    Proxy proxy;
    Client client(proxy, origin);
    auto const head = request(origin, "/page");
    client.raw(head.substr(0, 20));
    ASSERT_TRUE(eventually([&] { return proxy.stats()["connections"]["now"] == 1; }));
    pause_for(100ms);
    proxy.signal(SIGTERM);
    ASSERT_TRUE(proxy.refuses_connections());
    pause_for(500ms);   // longer than drain_idle
    client.raw(head.substr(20));
    auto const page = client.expect();
    EXPECT_EQ(page.body(), "here");
    EXPECT_EQ(page.field("Connection"), "close");
    client.close();
    EXPECT_EQ(proxy.ended(), 0);
}

TEST(Stop, pipelined_requests_are_all_answered) {
    Origin origin;
    auto slow = origin.hold("/first");
    origin.answer("/second", no_store("second"));
    origin.answer("/third", fresh("third"));
    Proxy proxy;
    Client client(proxy, origin);
    client.raw(request(origin, "/first") + request(origin, "/second") + request(origin, "/third"));
    auto const first = client.expect(), second = client.expect(), third = client.expect();
    slow.arrived();
    proxy.signal(SIGTERM);
    ASSERT_TRUE(proxy.refuses_connections());
    slow.release("first");
    EXPECT_EQ(first.body(), "first");
    EXPECT_EQ(second.body(), "second");
    EXPECT_EQ(third.body(), "third");
    EXPECT_FALSE(first.has("Connection"));
    EXPECT_FALSE(second.has("Connection"));
    EXPECT_EQ(third.field("Connection"), "close");
    client.close();
    EXPECT_EQ(proxy.ended(), 0);
}

TEST(Stop, a_response_that_began_before_it_leaves_one_more_request) {
    Origin origin;
    auto slow = origin.hold("/film");
    origin.answer("/page", fresh("here"));
    Proxy proxy(R"({"deadlines": {"drain_idle": "5s"}})");
    Client client(proxy, origin);
    auto film = client.get("/film");
    slow.head(fresh(""), 8);
    slow.piece("reel");
    film.early(4);
    proxy.signal(SIGTERM);
    ASSERT_TRUE(proxy.refuses_connections());
    slow.piece("ends");
    slow.finish();
    EXPECT_EQ(film.body(), "reelends");
    EXPECT_FALSE(film.has("Connection"));
    EXPECT_EQ(client.get("/page").field("Connection"), "close");
    EXPECT_EQ(client.connections(), 1);
    client.close();
    EXPECT_EQ(proxy.ended(), 0);
}

TEST(Stop, the_admin_address_tells_the_drain_and_garner_health_has_exit_codes) {
    Origin origin;
    auto slow = origin.hold("/film");
    Proxy proxy;
    EXPECT_EQ(ask(proxy, {"health"}).output, "serving\n");
    EXPECT_EQ(ask(proxy, {"health", "--ready"}).code, 0);
    EXPECT_EQ(ask(proxy, {"health", "--redy"}).code, 2);
    Client viewer(proxy, origin);
    auto film = viewer.get("/film");
    slow.arrived();
    proxy.signal(SIGTERM);
    ASSERT_TRUE(proxy.refuses_connections());
    auto const live = ask(proxy, {"health"}), ready = ask(proxy, {"health", "--ready"});
    EXPECT_EQ(live.code, 0);
    EXPECT_EQ(ready.code, 1);
    EXPECT_EQ(live.output + ready.output, "draining\ndraining\n");
    EXPECT_EQ(proxy.stats()["connections"]["now"], 1);
    slow.release("film");
    EXPECT_EQ(film.body(), "film");
    viewer.close();
    EXPECT_EQ(proxy.ended(), 0);
    auto const gone = ask(proxy, {"health"});
    EXPECT_EQ(gone.code, 1);
    EXPECT_THAT(gone.errors, HasSubstr("no Garner replies"));
}

TEST(Stop, pending_requests_are_named_at_the_end_of_the_drain) {
    Origin origin;
    auto slow = origin.hold("/film?token=secret");
    Proxy proxy(R"({"deadlines": {"drain": "300ms"}, "log": {"query": false}})");
    Client viewer(proxy, origin);
    auto film = viewer.get("/film?token=secret");
    slow.arrived();
    proxy.stop();
    EXPECT_TRUE(proxy.says("aborting a pending request: GET " + origin.url("/film") + " for 127.0.0.1, for ")) << proxy.errors();
    EXPECT_THAT(proxy.errors(), Not(HasSubstr("secret")));
}

TEST(Stop, a_second_SIGTERM_ends_it_at_once) {
    for (auto const* const deadlines : {R"({"deadlines": {"drain": "60s"}})", R"({"deadlines": {"drain_delay": "60s"}})"}) {
        Origin origin;
        auto slow = origin.hold("/film");
        Proxy proxy(deadlines);
        Client viewer(proxy, origin);
        auto film = viewer.get("/film");
        slow.arrived();
        proxy.signal(SIGTERM);
        ASSERT_TRUE(eventually([&] { return proxy.errors().find("shutting down") != std::string::npos; }));
        auto const begun = Clock::now();
        proxy.signal(SIGTERM);
        EXPECT_EQ(proxy.ended(), 128 + SIGTERM);
        EXPECT_LT(Clock::now() - begun, 5s);
        EXPECT_EQ(proxy.log().size(), 1u) << "the aborted request is logged";
    }
}

TEST(Stop, a_reload_during_the_drain_is_refused) {
    Origin origin;
    auto slow = origin.hold("/film");
    Proxy proxy;
    Client viewer(proxy, origin);
    auto film = viewer.get("/film");
    slow.arrived();
    proxy.signal(SIGTERM);
    ASSERT_TRUE(proxy.refuses_connections());
    proxy.signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return proxy.errors().find("not reloaded: the process is shutting down") != std::string::npos; }));
    slow.release("film");
    EXPECT_EQ(film.body(), "film");
    viewer.close();
    EXPECT_EQ(proxy.ended(), 0);
}

TEST(Stop, a_worker_that_does_not_respond_delays_it_no_longer_than_the_deadline) {
    Origin origin;
    Proxy proxy(R"({"deadlines": {"drain": "1s"}})");
    EXPECT_EQ(ask(proxy, {"health"}).code, 0);
    StoppedThread const worker(proxy.child().pid(), "worker-1");
    if (!worker.stopped()) GTEST_SKIP() << "this process may not trace its children";
    EXPECT_TRUE(eventually([&] { return ask(proxy, {"health"}).code == 1; }));
    EXPECT_THAT(ask(proxy, {"health"}).errors, HasSubstr("\"state\":\"stuck\""));
    auto const begun = Clock::now();
    proxy.signal(SIGTERM);
    EXPECT_TRUE(eventually([&] { return worker.ended(); }));
    EXPECT_EQ(proxy.ended(), 0);
    EXPECT_LT(Clock::now() - begun, 6s);
    EXPECT_TRUE(proxy.says("worker 1 does not respond")) << proxy.errors();
}

TEST(Stop, loses_no_request_of_many_clients) {
    NEEDS("python3");
    NEEDS("openssl");
    auto const done = run({source("tools/stops"), "--garner", garner_binary(), "--stops", "10", "--hurry"}, Millis{300'000});
    EXPECT_EQ(done.code, 0) << done.output << done.errors;
    EXPECT_THAT(done.output, HasSubstr(": 0 lost, 0 truncated"));
}

}   // namespace garner::test
