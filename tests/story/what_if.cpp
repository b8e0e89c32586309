// Estimates of other policies and sizes for the traffic, and memory.policy "auto", which follows them.
#include <signal.h>

#include <algorithm>
#include <thread>

#include "story/scene.hpp"

namespace garner::test {

namespace {

/// Answers /NAME/SIZE with so many bytes.
void answer_by_size(Origin& origin) {
    origin.otherwise([](Hand& hand) {
        hand.read_body();
        auto const target = hand.request().head.target();
        hand.answer(fresh(std::string(std::stoul(target.substr(target.rfind('/') + 1)), 'x')));
    });
}

std::string what_if_table(Proxy const& proxy) {
    auto const file = proxy.dir().path("garner.json").string();
    auto const said = run({garner_binary(), "stats", "--what-if", "--config", file});
    EXPECT_EQ(said.code, 0) << said.errors;
    return said.output;
}

/// Faster requests would be sampled less, and an eighth of sixteen films tells nothing.
constexpr std::chrono::microseconds pace{600};

/// Sends requests one after another until a condition holds, or a limit is reached.
class Stream {
public:
    Stream(Proxy const& proxy, Origin& origin) : proxy_(proxy), origin_(origin), client_(proxy, origin) {}

    void get(std::string const& path) {
        std::this_thread::sleep_until(next_);
        next_ = std::max(next_, std::chrono::steady_clock::now()) + pace;
        EXPECT_EQ(client_.get(path).body().size(), std::stoul(path.substr(path.rfind('/') + 1)));
        if (++count_ % 1'000 == 0) origin_.forget_requests();
    }
    /// A hundred small pages repeatedly, among films that are requested once: policies by recency keep the films.
    void pages_among_films() {
        ++round_;
        get("/page" + std::to_string(round_ % 100) + "/300");
        get("/film" + std::to_string(count_) + "/60000");
    }
    /// Sixteen films in turn, among pages that are requested once: policies that prefer small objects keep the pages.
    void films_among_pages() {
        ++round_;
        get("/film" + std::to_string(round_ % 16) + "/50000");
        for (int page = 0; page < 3; ++page) get("/page" + std::to_string(count_) + "/300");
    }
    template <class Requests>
    bool until_the_policy_changes(Requests requests) {
        auto const before = policy();
        for (auto end = count_ + 30'000; count_ < end;) {
            for (int i = 0; i < 100; ++i) requests();
            if (policy() != before) return true;
        }
        return false;
    }
    std::string policy() const { return proxy_.stats()["what_if"]["policy"]; }

private:
    Proxy const& proxy_;
    Origin& origin_;
    Client client_;
    std::uint64_t count_ = 0, round_ = 0;
    std::chrono::steady_clock::time_point next_;
};

}   // namespace

TEST(WhatIf, tells_what_every_policy_would_have_made_of_the_traffic) {
    Origin origin;
    answer_by_size(origin);
    Proxy proxy(R"({"memory": {"size": "1 MiB", "policy": "lru"}})");
    EXPECT_THAT(what_if_table(proxy), HasSubstr("Too little traffic yet: 0 of the 1,000"));

    Stream stream(proxy, origin);
    for (int i = 0; i < 750; ++i) stream.pages_among_films();
    auto const what_if = proxy.stats()["what_if"];
    EXPECT_EQ(what_if["requests"], 1'500);   // all of them: the rate is not lowered for so few
    EXPECT_EQ(what_if["dropped"], 0);
    double lru = -1, best = -1, large = -1;
    for (auto const& row : what_if["rows"]) {
        double const hits = row["object_hit_ratio"];
        EXPECT_TRUE(hits >= 0 && hits <= 1) << row;
        if (row["size_bytes"] == 4 * 1'048'576) large = std::max(large, hits);
        if (row["size_bytes"] != 1'048'576) continue;
        best = std::max(best, hits);
        if (row["policy"] == "lru") lru = hits;
    }
    EXPECT_EQ(what_if["rows"].size() % 4, 0u);
    EXPECT_GE(best, lru + 0.1);   // at 1 MiB
    EXPECT_GE(large, best);
    double const had = proxy.stats()["hit_ratio"]["start"];
    EXPECT_NEAR(lru, had, 0.03);   // lru is running, so the estimate equals its hit ratio

    auto const table = what_if_table(proxy);
    EXPECT_THAT(table, HasSubstr("\n* lru "));
    EXPECT_THAT(table, HasSubstr("\n  gdsf "));
    EXPECT_THAT(table, HasSubstr("512 KiB          1.00 MiB          2.00 MiB          4.00 MiB\n"));
}

TEST(WhatIf, is_nothing_where_it_is_switched_off) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy(R"({"memory": {"what_if": false}})");
    get(proxy, origin, "/page").body();
    EXPECT_TRUE(get(proxy, origin, "/page").hit());
    EXPECT_EQ(proxy.stats()["what_if"]["on"], false);
    EXPECT_THAT(what_if_table(proxy), HasSubstr("memory.what_if is false"));
}

TEST(WhatIf, counts_what_the_cache_could_answer_and_nothing_else) {
    Origin origin;
    origin.answer("/page", fresh("hello", 600, {{"ETag", "\"1\""}}));
    origin.answer("/private", no_store("x"));
    auto chunked = fresh("abc");
    chunked.delimited = Delimited::by_chunks;
    origin.answer("/chunked", chunked);
    Proxy proxy;
    auto counted = [&] { return proxy.stats()["what_if"]["requests"].get<int>(); };
    auto const counts = [&](std::string const& path, Fields fields, int by) {
        auto const before = counted();
        get(proxy, origin, path, std::move(fields)).body();
        EXPECT_TRUE(eventually([&] { return counted() == before + by; })) << path << " " << counted() - before;
    };
    counts("/private", {}, 0);
    counts("/page", {}, 1);
    counts("/page", {}, 1);
    counts("/page", {{"Cache-Control", "no-cache"}}, 1);
    counts("/page", {{"If-None-Match", "\"1\""}}, 1);
    counts("/page", {{"Range", "bytes=0-1"}}, 0);
    counts("/page", {{"Cache-Control", "no-store"}}, 0);
    counts("/chunked", {}, 1);
    counts("/chunked", {}, 1);
    Client client(proxy, origin);
    auto const before = counted();
    client.head("/page").status();
    EXPECT_EQ(counted(), before);
}

TEST(AutoPolicy, follows_the_traffic_from_what_runs_and_can_be_told_to_stop) {
    Origin origin;
    answer_by_size(origin);
    auto const memory = [](std::string const& policy) { return R"({"memory": {"size": "1 MiB", "policy": ")" + policy + R"("}})"; };
    Proxy proxy(memory("gdsf"));
    Stream stream(proxy, origin);
    auto const told_to_run = [&](std::string const& spec, std::string const& policy, nlohmann::json const& aim) {
        proxy.reconfigure(memory(spec));
        proxy.signal(SIGHUP);
        EXPECT_TRUE(eventually([&] {
            auto const what_if = proxy.stats()["what_if"];
            return what_if["policy"] == policy && what_if["auto"]["aim"] == aim;
        })) << spec;
    };
    auto const quick = "auto:window=1:windows=2:rest=1";

    told_to_run(quick, "gdsf", "objects");
    EXPECT_TRUE(stream.until_the_policy_changes([&] { stream.films_among_pages(); })) << what_if_table(proxy);
    auto const logged = [&] { return proxy.child().errors().find("memory.policy auto: gdsf → ") != std::string::npos; };
    EXPECT_TRUE(eventually(logged));
    std::string const why = proxy.stats()["what_if"]["auto"]["last_change"];
    EXPECT_THAT(why, HasSubstr(" fewer object misses over "));
    EXPECT_THAT(what_if_table(proxy), HasSubstr("memory.policy auto: gdsf → "));

    stream.get("/known/1000");
    told_to_run("lru", "lru", nullptr);
    EXPECT_TRUE(get(proxy, origin, "/known/1000").hit());   // stored objects stay
    for (int i = 0; i < 1'500; ++i) stream.pages_among_films();
    EXPECT_EQ(stream.policy(), "lru");   // even if another policy would be better

    told_to_run(quick, "lru", "objects");
    EXPECT_TRUE(stream.until_the_policy_changes([&] { stream.pages_among_films(); })) << what_if_table(proxy);
    told_to_run("auto:aim=bytes", stream.policy(), "bytes");
}

TEST(AutoPolicy, begins_with_the_default_policy) {
    Proxy proxy(R"({"memory": {"policy": "auto"}})");
    Proxy plain;
    EXPECT_EQ(proxy.stats()["what_if"]["policy"], plain.stats()["what_if"]["policy"]);
    EXPECT_EQ(proxy.stats()["what_if"]["auto"]["aim"], "objects");
}

}   // namespace garner::test
