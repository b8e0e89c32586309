// Operation: the command line, garner check, and signals.
#include <signal.h>
#include <sys/stat.h>

#include <atomic>
#include <sstream>
#include <thread>

#include "story/scene.hpp"

namespace garner::test {

namespace {

Finished check(std::string const& text) {
    TempDir dir;
    return run({garner_binary(), "check", dir.write("garner.json", text)});
}

std::string said(Finished const& finished) { return finished.output + finished.errors; }

}   // namespace

// ---- garner check ----

TEST(Check, a_good_file_passes) {
    auto const result = check(R"({
        // comments are allowed
        "listen": [ { "address": "127.0.0.1:3128" },
                    { "address": "127.0.0.1:8080", "origin": "http://127.0.0.1:8000" } ],
        "workers": 0,
        "memory": { "size": "256 MiB", "policy": "gdsf", "object_max": "4 MiB", "fill_share_max": 0.25 },
        "caching": { "never": ["cgi-bin"], "negative_ttl": "5m", "default_ttl": "0s", "offline": false },
        "access": [ { "allow": { "source": ["127.0.0.0/8", "::1"] } }, { "deny": "all" } ],
        "log": { "access": "-", "format": "squid", "level": "info" },
        "admin": { "address": "127.0.0.1:3131" }
    })");
    EXPECT_EQ(result.code, 0) << said(result);
}

TEST(Check, a_fault_is_told_with_its_line_its_key_and_its_mend) {
    struct Case {
        char const* text;
        std::vector<std::string> told;
    };
    for (auto const& [text, told] : std::vector<Case>{
             {"{\n\"memory\": {\n\"szie\": \"1 MiB\" } }", {":3:", "memory.szie", "memory.size"}},
             {"{\n\n\"workers\": \"many\" }", {":3:", "workers"}},
             {"{ \"memory\": {\n\"size\": \"64 parsecs\" } }", {":2:", "memory.size", "MiB"}},
             {"{\n\"listen\": [\n{ \"address\": \"127.0.0.300:3128\" } ] }", {":3:", "listen[0].address"}},
             {"{ \"deadlines\": {\n\"head\": \"5 parsecs\" } }", {":2:", "deadlines.head"}},
             {"{ \"access\": [\n{ \"allow\": { \"user\": [\"me\"] } } ] }", {":2:", "user"}},
             {"{ \"memory\": { \"policy\": \"best\" } }", {":1:", "memory.policy", "gdsf"}},
             {"{\n\"workers\": 1,\n\"workers\": 2 }", {":3:", "workers"}},
             {"{\n\"workers\": 1,\n}", {":3:", "comma"}},
         }) {
        auto const result = check(text);
        EXPECT_EQ(result.code, 1) << text;
        EXPECT_THAT(said(result), HasSubstr("garner.json")) << text;
        for (auto const& word : told) EXPECT_THAT(said(result), HasSubstr(word)) << text;
    }
}

TEST(Check, what_passes_starts_and_what_does_not_is_told_with_its_key) {
    TempDir dir;
    for (auto const& [text, key] : std::vector<std::pair<std::string, std::string>>{
             {"{\n\"tls\": { \"ca_file\": \"/nonexistent\" } }", ":2: tls.ca_file: "},
             {"{\n\"log\": { \"access\": \"/nonexistent/dir/x.log\" } }", ":2: log.access: "}}) {
        auto const file = dir.write("garner.json", text);
        for (auto const& command : {std::vector<std::string>{garner_binary(), "check", file},
                                    std::vector<std::string>{garner_binary(), "--config", file}}) {
            auto const result = run(command);
            EXPECT_EQ(result.code, 1) << said(result);
            EXPECT_THAT(said(result), HasSubstr(key));
            EXPECT_THAT(said(result), HasSubstr("No such file or directory"));
        }
    }
}

TEST(Check, all_faults_are_told_at_once) {
    auto const result = check("{\n\"wrokers\": 1,\n\"memory\": { \"size\": true } }");
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(said(result), HasSubstr("wrokers"));
    EXPECT_THAT(said(result), HasSubstr("memory.size"));
}

TEST(Check, a_file_that_is_not_there_is_a_fault) {
    auto const result = run({garner_binary(), "check", "/no/such/garner.json"});
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(said(result), HasSubstr("/no/such/garner.json"));
}

// ---- the command line ----

TEST(CommandLine, help_is_everywhere_and_nonsense_is_refused) {
    auto const help = run({garner_binary(), "--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.output, HasSubstr("--config"));
    EXPECT_THAT(help.output, HasSubstr("check"));
    EXPECT_EQ(run({garner_binary(), "check", "--help"}).code, 0);
    auto const nonsense = run({garner_binary(), "fnord"});
    EXPECT_NE(nonsense.code, 0);
    EXPECT_NE(nonsense.errors, "");
    EXPECT_NE(run({garner_binary(), "--fnord"}).code, 0);
}

TEST(CommandLine, nothing_starts_half_configured) {
    TempDir dir;
    auto const result = run({garner_binary(), "--config", dir.write("garner.json", R"({"memory": {"szie": 1}})")});
    EXPECT_NE(result.code, 0);
    EXPECT_THAT(result.errors, HasSubstr("memory.szie"));
    EXPECT_NE(run({garner_binary(), "--set", "memory.szie=1"}).code, 0);
}

TEST(CommandLine, set_overrides_the_file) {
    Origin origin;
    origin.answer("/never/page", fresh("x"));
    Proxy proxy(Proxy::Setup{.arguments = {"--set", R"(caching.never=["/never/"])", "--set", "memory.size=32MiB"}});
    get(proxy, origin, "/never/page").body();
    EXPECT_FALSE(get(proxy, origin, "/never/page").hit());
}

TEST(CommandLine, it_starts_without_a_file_and_says_where_it_listens) {
    auto const port = std::to_string(free_port()), admin = std::to_string(free_port());
    Child child({garner_binary(), "--set", R"(listen=[{"address": "127.0.0.1:)" + port + R"("}])", "--set",
                 "admin.address=127.0.0.1:" + admin});
    EXPECT_TRUE(eventually([&] { return (child.output() + child.errors()).find("127.0.0.1:" + port) != std::string::npos; }));
    EXPECT_THAT(child.output() + child.errors(), HasSubstr("curl"));
    child.signal(SIGINT);
    EXPECT_EQ(child.exit_code(), 0);
}

TEST(CommandLine, a_second_one_on_the_same_port_is_refused) {
    Proxy proxy;
    auto const second = run({garner_binary(), "--config", proxy.dir().path("garner.json").string()});
    EXPECT_GT(second.code, 0);
    EXPECT_THAT(second.errors, HasSubstr(std::to_string(proxy.port())));
}

// ---- signals ----

TEST(Signals, SIGHUP_changes_rules_without_dropping_a_connection) {
    Origin origin;
    origin.answer("/page", no_store("x"));
    auto slow = origin.hold("/film");
    Proxy proxy;
    Client client(proxy, origin), viewer(proxy, origin);
    EXPECT_EQ(client.get("/page").status(), 200);
    auto film = viewer.get("/film");
    slow.head(no_store(""), 8);
    slow.piece("reel");
    film.early(4);

    proxy.reconfigure(R"({"access": [{"deny": {"url_contains": ["/page"]}}, {"allow": {"destination": ["127.0.0.0/8"]}}]})");
    proxy.signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return client.get("/page").status() == 403; }));
    EXPECT_EQ(client.connections(), 1);
    slow.piece("ends");
    slow.finish();
    EXPECT_EQ(film.body(), "reelends");
}

TEST(Signals, SIGHUP_says_what_changed_and_what_needs_a_takeover) {
    Proxy proxy;
    proxy.reconfigure(R"({"workers": 3, "limits": {"hops_max": 9}})");
    proxy.signal(SIGHUP);
    auto const told = [&](char const* text) {
        return eventually([&] { return proxy.child().errors().find(text) != std::string::npos; });
    };
    EXPECT_TRUE(told("changed: workers: 2 -> 3 (takeover)"));
    EXPECT_TRUE(told("changed: limits.hops_max: "));
    EXPECT_TRUE(told("waits for a takeover: workers"));
}

TEST(Signals, SIGHUP_with_a_bad_file_leaves_the_old_one_in_force) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy;
    proxy.rewrite(R"({"acess": [{"deny": "all"}]})");
    proxy.signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return proxy.child().errors().find("acess") != std::string::npos; }));
    EXPECT_EQ(get(proxy, origin, "/page").status(), 200);
}

TEST(Signals, many_SIGHUPs_under_load_lose_no_request) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    origin.answer("/other", no_store("y"));
    Proxy proxy;
    Client client(proxy, origin);
    for (int i = 0; i < 200; ++i) {
        if (i % 10 == 0) proxy.signal(SIGHUP);
        EXPECT_EQ(client.get("/page").body(), "x");
        EXPECT_EQ(client.get("/other").body(), "y");
    }
    EXPECT_EQ(client.connections(), 1);
}

/// The policies that the program lists in an error text.
std::vector<std::string> policies() {
    auto const told = check(R"({"memory": {"policy": "?"}})").output;
    auto const from = told.find("write one of ") + std::string_view("write one of ").size();
    std::istringstream list(told.substr(from, told.find(')', from) - from));
    std::vector<std::string> names;
    for (std::string name; list >> name; names.push_back(name)) std::erase(name, ',');
    std::erase(names, "auto");   // it chooses one of the others
    return names;
}

TEST(Signals, SIGHUP_through_all_policies_under_load_keeps_what_is_stored) {
    constexpr int pages = 60;
    auto const path = [](int i) { return "/" + std::to_string(i); };
    Origin origin;
    origin.otherwise([](Hand& hand) { hand.answer(fresh(pattern(3'000))); });
    Proxy proxy(R"({"memory": {"size": "8 MiB", "policy": "lru"}})");
    Client client(proxy, origin);
    for (int i = 0; i < pages; ++i) EXPECT_FALSE(client.get(path(i)).hit());
    for (int i = 0; i < pages; ++i) EXPECT_TRUE(client.get(path(i)).hit());

    std::atomic<bool> over{false};
    std::atomic<int> answers{0}, misses{0};
    auto load = [&] {
        Client reader(proxy, origin);
        for (int i = 0; !over; i = (i + 7) % pages) {
            auto reply = reader.get(path(i));
            misses += !reply.hit() || reply.body() != pattern(3'000);
            ++answers;
            pause_for(10ms);
        }
    };
    std::jthread readers[]{std::jthread(load), std::jthread(load)};
    auto names = policies();
    EXPECT_GE(names.size(), 2u);
    names.push_back("lru");
    std::string in_force = "lru";
    for (auto const& name : names) {
        proxy.reconfigure(R"({"memory": {"size": "8 MiB", "policy": ")" + name + R"("}})");
        proxy.signal(SIGHUP);
        EXPECT_TRUE(eventually([&] { return proxy.stats()["cache"]["policy"] == name; })) << name;
        auto const told = "changed: memory.policy: \"" + in_force + "\" -> \"" + name + "\" (now)";
        auto const is_told = [&] { return proxy.child().errors().find(told) != std::string::npos; };
        EXPECT_TRUE(name == in_force || eventually(is_told)) << told;
        EXPECT_THAT(proxy.metrics(), HasSubstr("garner_cache_policy_info{policy=\"" + name + "\"} 1"));
        in_force = name;
        for (int i = 0; i < pages; ++i) EXPECT_TRUE(client.get(path(i)).hit()) << name;
        EXPECT_TRUE(eventually([&, before = answers.load()] { return answers > before + 5; })) << name;
    }
    over = true;
    for (auto& reader : readers) reader.join();
    EXPECT_GT(answers, pages);
    EXPECT_EQ(misses, 0);
    for (int i = 0; i < pages; ++i) EXPECT_EQ(origin.requests(path(i)), 1u) << i;
    auto const stats = proxy.stats();
    EXPECT_LE(stats["cache"]["used_bytes"], stats["cache"]["capacity_bytes"]);
    EXPECT_EQ(stats["cache"]["evictions"], 0);
}

TEST(Signals, SIGTERM_lets_running_answers_finish_and_takes_no_new_connection) {
    Origin origin;
    auto slow = origin.hold("/film");
    Proxy proxy;
    Client viewer(proxy, origin), idle(proxy, origin);
    idle.wire();
    auto film = viewer.get("/film");
    slow.head(fresh(""), 8);
    slow.piece("reel");
    film.early(4);
    proxy.signal(SIGTERM);
    EXPECT_TRUE(idle.closed_by_proxy(5s));
    EXPECT_TRUE(eventually([&] {
        try {
            Client late(proxy, origin);
            late.wire();
            return late.closed_by_proxy(2s);
        } catch (Trouble const&) {
            return true;
        }
    }));
    slow.piece("ends");
    slow.finish();
    EXPECT_EQ(film.body(), "reelends");
    EXPECT_TRUE(film.complete());
    EXPECT_EQ(proxy.ended(), 0);
}

TEST(Signals, an_answer_that_begins_after_SIGTERM_says_that_it_is_the_last) {
    Origin origin;
    auto slow = origin.hold("/page");
    Proxy proxy;
    Client client(proxy, origin);
    auto reply = client.get("/page");
    slow.arrived();
    proxy.signal(SIGTERM);
    EXPECT_TRUE(proxy.refuses_connections());
    slow.release("last words");
    EXPECT_EQ(reply.body(), "last words");
    EXPECT_EQ(reply.field("Connection"), "close");
    client.close();
    EXPECT_EQ(proxy.ended(), 0);
}

TEST(Signals, SIGTERM_waits_no_longer_than_the_drain_deadline) {
    Origin origin;
    auto slow = origin.hold("/film");
    Proxy proxy(R"({"deadlines": {"drain": "1s"}})");
    Client viewer(proxy, origin);
    auto film = viewer.get("/film");
    slow.head(fresh(""), 8);
    slow.piece("reel");
    film.early(4);
    auto const begun = std::chrono::steady_clock::now();
    proxy.stop();
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 6s);
    EXPECT_FALSE(film.complete());
}

TEST(Signals, a_second_one_ends_it_at_once) {
    Origin origin;
    auto slow = origin.hold("/film");
    Proxy proxy(R"({"deadlines": {"drain": "60s"}})");
    Client viewer(proxy, origin);
    auto film = viewer.get("/film");
    slow.head(fresh(""), 8);
    slow.piece("reel");
    film.early(4);
    proxy.signal(SIGINT);
    ASSERT_TRUE(eventually([&] { return proxy.errors().find("press Ctrl-C again to quit now") != std::string::npos; }));
    pause_for(600ms);   // an immediate second signal counts as the same key press
    EXPECT_TRUE(proxy.says("for requests in progress")) << proxy.errors();
    proxy.signal(SIGINT);
    EXPECT_EQ(proxy.ended(), 130);
    EXPECT_EQ(proxy.logged("/film").status, 200) << "the aborted request is logged";
}

TEST(Signals, SIGUSR1_reopens_the_log) {
    Origin origin;
    origin.answer("/before", fresh("x"));
    origin.answer("/after", fresh("x"));
    Proxy proxy;
    get(proxy, origin, "/before").body();
    proxy.logged("/before");
    auto const moved = proxy.dir().path("access.log.1");
    std::filesystem::rename(proxy.log_file(), moved);
    proxy.signal(SIGUSR1);
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(proxy.log_file()); }));
    get(proxy, origin, "/after").body();
    proxy.logged("/after");
    EXPECT_THAT(read_file(moved), HasSubstr("/before"));
    EXPECT_THAT(read_file(moved), Not(HasSubstr("/after")));
}

}   // namespace garner::test
