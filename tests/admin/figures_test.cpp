// The statistics of a running proxy: health, lists, refusals and the hits of rules.
#include <algorithm>

#include "house.hpp"

namespace garner::admin {
namespace {

using testing::HasSubstr;
using testing::Not;

Json row_named(Json const& rows, std::string const& name) {
    for (auto const& row : rows)
        if (row["name"] == name) return row;
    ADD_FAILURE() << "no " << name << " in " << rows.dump(1);
    return {};
}

TEST(LiveFigures, have_the_hosts_clients_and_misses) {
    House house;
    test::Origin origin;
    origin.answer("/kept", test::fresh("hello"));
    origin.answer("/private", test::no_store("secret"));
    for (int i = 0; i < 4; ++i) EXPECT_EQ(house.fetch(origin.url("/kept")).body(), "hello");
    for (int i = 0; i < 2; ++i) EXPECT_EQ(house.fetch(origin.url("/private")).body(), "secret");
    ASSERT_TRUE(test::eventually([&] {
        auto const hosts = house.stats()["top"]["hosts"];
        return !hosts.empty() && hosts[0]["requests"] == 6;
    })) << house.stats()["top"].dump(1);
    auto const top = house.stats()["top"];
    auto const host = row_named(top["hosts"], "127.0.0.1");
    EXPECT_EQ(host["hits"], 3);
    EXPECT_GT(host["bytes"], 6 * 5);
    EXPECT_EQ(row_named(top["clients"], "127.0.0.1")["requests"], 6);
    auto const miss = row_named(top["misses"], origin.url("/private"));
    EXPECT_EQ(miss["requests"], 2);
    EXPECT_EQ(miss["reason"], "no-store in response");
    EXPECT_EQ(row_named(top["misses"], origin.url("/kept"))["requests"], 1);
    EXPECT_EQ(row_named(top["misses"], origin.url("/kept"))["reason"], "uri-miss");
    EXPECT_THAT(house.at_admin().get("/metrics").body(), Not(HasSubstr(origin.url("")))) << "no URL is a label";
}

TEST(LiveFigures, have_refusals_and_the_hits_of_rules) {
    House house;
    test::Origin origin;
    origin.answer("/page", test::fresh("hello"));
    EXPECT_EQ(house.fetch(origin.url("/page")).status(), 200);
    EXPECT_EQ(house.fetch("http://127.0.0.1:25/?secret").status(), 403);   // a blocked port
    ASSERT_TRUE(test::eventually([&] { return house.stats()["rules"][0]["hits"] == 2; })) << house.stats()["rules"].dump(1);
    auto const stats = house.stats();
    ASSERT_EQ(stats["refusals"].size(), 1u);
    auto const& refused = stats["refusals"][0];
    EXPECT_EQ(refused["client"], "127.0.0.1");
    EXPECT_EQ(refused["method"], "GET");
    EXPECT_EQ(refused["url"], "http://127.0.0.1:25/");
    EXPECT_EQ(refused["user"], "");
    EXPECT_THAT(refused["rule"].get<std::string>(), HasSubstr("loopback"));
    EXPECT_NE(refused["id"], "");
    EXPECT_THAT(refused["time"].get<std::string>(), testing::EndsWith("Z"));
    EXPECT_EQ(stats["rules"][0], (Json{{"rule", "loopback"}, {"hits", 2}, {"dead", false}, {"why", ""}}));
    EXPECT_THAT(house.at_admin().get("/metrics").body(), HasSubstr("\ngarner_rule_hits_total{rule=\"loopback\"} 2\n"));
}

TEST(LiveFigures, say_that_no_problem_is_known) {
    House house;
    auto const health = house.stats()["health"];
    EXPECT_EQ(health["state"], "ok");
    EXPECT_EQ(health["sentence"], "OK: no problem is known.");
    EXPECT_TRUE(health["items"].empty());
}

TEST(LiveFigures, have_each_window_of_the_latencies_and_each_series) {
    House house;
    auto const stats = house.stats();
    for (auto const* kind : {"hit", "miss"})
        for (auto const* window : {"60s", "5m", "1h"})
            for (auto const* value : {"p50_us", "p90_us", "p99_us"})
                EXPECT_TRUE(stats["latency"][kind][window].contains(value)) << kind << " " << window << " " << value;
    for (auto const& [name, unit] : history_names()) {
        ASSERT_TRUE(stats["history"].contains(std::string(name))) << name;
        for (auto const* values : {"5s", "1m"}) EXPECT_TRUE(stats["history"][std::string(name)][values].is_array()) << name;
    }
    EXPECT_TRUE(stats["certificates"].is_array());
}

}   // namespace
}   // namespace garner::admin
