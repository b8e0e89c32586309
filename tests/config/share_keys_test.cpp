// The keys of the line: share, caps and quotas.
#include <gtest/gtest.h>

#include "support.hpp"

namespace garner::config {
namespace {

std::string noticed(Loaded const& loaded) {
    std::string out;
    for (auto const& notice : loaded.notices) out += text_of(notice) + "\n";
    return out;
}

Loaded of_line(std::string const& members) { return load(R"({"user": "root", )" + members + "}"); }

TEST(ShareKeys, all_keys_are_read) {
    auto const loaded = of_line(R"("share": {"down": "900 Mbit/s", "up": 1000000, "by": "source", "credit": "64 KiB",
        "weights": [{"weight": 2, "source": ["10.1.0.0/16"]}, {"weight": 3}]},
        "caps": [{"name": "guests", "source": ["10.9.0.0/16"], "each": "connection", "down": "20 Mbit/s"},
                 {"host": ".films.example", "each": "all", "up": "1 MiB/s"}])");
    EXPECT_EQ(told(loaded), "");
    auto const& share = loaded.config.proxy.share;
    EXPECT_TRUE(share.is_on());
    EXPECT_EQ(share.down, 112'500'000u);
    EXPECT_EQ(share.up, 1'000'000u);
    EXPECT_EQ(share.by, share::By::source);
    EXPECT_EQ(share.credit, 64 * KiB);
    ASSERT_EQ(share.weights.size(), 2u);
    EXPECT_EQ(share.weights[0].weight, 2u);
    EXPECT_TRUE(share.weights[1].match.matches_all());
    auto const& caps = loaded.config.proxy.caps;
    ASSERT_EQ(caps.size(), 2u);
    EXPECT_EQ(caps[0].name, "guests");
    EXPECT_EQ(caps[0].each, share::Each::connection);
    EXPECT_EQ(caps[0].down, 2'500'000u);
    EXPECT_EQ(caps[1].name, "caps[1]");
    EXPECT_EQ(caps[1].up, MiB);
}

TEST(ShareKeys, nothing_is_divided_by_default) {
    auto const loaded = of_line(R"("share": {"credit": 0})");
    EXPECT_EQ(told(loaded), "");
    EXPECT_FALSE(loaded.config.proxy.share.is_on());
    EXPECT_TRUE(loaded.config.proxy.caps.empty());
}

TEST(ShareKeys, quotas_are_read) {
    auto const loaded = of_line(R"("quotas": [
        {"name": "guests", "source": ["10.9.0.0/16"], "each": "client", "per": "month", "bytes": "2 GB", "requests": 100,
         "time": "90m", "soft": 0.5, "slow": "1 Mbit/s", "over": "slow"},
        {"host": ".films.example", "each": "all", "bytes": "1 GB"}], "state": {"path": "/tmp"})");
    EXPECT_EQ(told(loaded), "");
    auto const& quotas = loaded.config.proxy.quotas;
    ASSERT_EQ(quotas.size(), 2u);
    EXPECT_EQ(quotas[0].per, share::Per::month);
    EXPECT_EQ(quotas[0].bytes, 2'000'000'000u);
    EXPECT_EQ(quotas[0].requests, 100u);
    EXPECT_EQ(quotas[0].minutes(), 90u);
    EXPECT_EQ(quotas[0].soft, 0.5);
    EXPECT_EQ(quotas[0].slow, 125'000u);
    EXPECT_EQ(quotas[0].over, share::Over::slow);
    EXPECT_EQ(quotas[1].name, "quotas[1]");
    EXPECT_EQ(quotas[1].per, share::Per::day);
    EXPECT_EQ(quotas[1].soft, 0.8);
    EXPECT_EQ(quotas[1].over, share::Over::refuse);
    EXPECT_EQ(loaded.config.state.path, "/tmp");
}

TEST(ShareKeys, faults_of_quotas_have_a_mend) {
    auto const fault = [](std::string const& members) {
        return told(of_line(R"("state": {"path": "/tmp"}, "quotas": [{"name": "a", )" + members + "}]"));
    };
    EXPECT_EQ(fault(R"("bytes": 1)"), "");
    EXPECT_NE(fault(R"("bytes": "2 GX")").find("test.json:1: quotas[0].bytes: \"2 GX\" is not a size"), std::string::npos);
    EXPECT_NE(fault(R"("bytes": 1, "soft": 1.5)").find("quotas[0].soft: "), std::string::npos);
    EXPECT_NE(fault(R"("bytes": 1, "per": "hour")"), "");
    EXPECT_NE(fault(R"("bytes": 1, "each": "connection")"), "");
    EXPECT_EQ(fault(R"("bytes": 1, "over": "slow")"),
              "test.json:1: quotas[0].over: is \"slow\", but the quota has no rate for that (add \"slow\": \"1 Mbit/s\")\n");
    EXPECT_EQ(fault(R"("time": "30h", "per": "day")"),
              "test.json:1: quotas[0].time: is never used up: a day has no more minutes (write less, or a longer \"per\")\n");
    EXPECT_EQ(fault(R"("time": "90s")"), "test.json:1: quotas[0].time: is not in whole minutes (write minutes, such as \"90m\")\n");
    EXPECT_NE(fault(R"("slow": "1 MB/s")").find("has no limit"), std::string::npos);
    EXPECT_NE(fault(R"("bytes": 1, "destination": ["10.0.0.0/8"])").find("destination is not for quotas"), std::string::npos);
    EXPECT_EQ(fault(R"("bytes": 1}, {"name": "a", "bytes": 2)"),
              "test.json:1: quotas[1].name: \"a\" is already the name of another quota (give each its own name)\n");
    auto const notice = [](std::string const& members) {
        return noticed(of_line(R"("quotas": [{"name": "a", )" + members + "}]"));
    };
    EXPECT_EQ(notice(R"("bytes": 1)"),
              "test.json:1: quotas: what was used is forgotten at a restart (add \"state\": { \"path\": \"/var/lib/garner\" })\n");
    EXPECT_EQ(notice(R"("bytes": 0)"), "") << "an exemption needs no ledger";
    EXPECT_NE(notice(R"("per": "day")").find("this quota has no limit and exempts what it matches"), std::string::npos);
    EXPECT_NE(notice(R"("bytes": 1, "soft": 0.5)").find("soft: has no effect without a rate of the slow lane"), std::string::npos);
    EXPECT_NE(notice(R"("bytes": 1, "soft": 1, "slow": "1 MB/s")").find("slow: has no effect: the slow lane would begin where"),
              std::string::npos);
    EXPECT_NE(notice(R"("bytes": 1, "soft": 1, "slow": "1 MB/s", "over": "slow")").find("soft: has no effect: the limit begins"),
              std::string::npos);
}

TEST(ShareKeys, rules_that_are_never_reached_are_noticed) {
    auto const notice = [](std::string const& list) { return noticed(of_line(R"("state": {"path": "/tmp"}, )" + list)); };
    EXPECT_EQ(
        notice(R"("quotas": [{"name": "a", "source": ["10.0.0.0/8"], "bytes": 1},
                                   {"name": "b", "source": ["10.9.0.0/16"], "bytes": 2},
                                   {"name": "c", "source": ["10.0.0.0/7"], "bytes": 3}])"),
        "test.json:2: quotas[1]: is never reached: the earlier \"a\" matches all of its requests (move it before that rule, or "
        "remove it)\n");
    EXPECT_NE(notice(R"("caps": [{"name": "a", "down": 1}, {"name": "b", "host": ".films.example", "down": 2}])")
                  .find("caps[1]: is never"),
              std::string::npos);
    EXPECT_EQ(notice(R"("quotas": [{"name": "a", "host": ".example", "source": ["10.9.0.0/16"], "bytes": 1},
                                   {"name": "b", "source": ["10.9.0.0/16"], "bytes": 2}])"),
              "");
    EXPECT_EQ(notice(R"("quotas": [{"name": "a", "url_contains": ["/films"], "bytes": 0},
                                   {"name": "b", "url_contains": ["/films"], "bytes": 2}])"),
              "")
        << "a request with escapes is not exempt for certain";
}

TEST(ShareKeys, faults_have_a_mend) {
    auto const fault = [](std::string const& members) { return told(of_line(members)); };
    EXPECT_EQ(fault(R"("share": {"down": "900 Mbps"})"), "test.json:1: share.down: \"900 Mbps\" is not a rate (write it like \"900 "
                                                         "Mbit/s\" or \"12 MiB/s\"; units are bit/s, kbit/s, "
                                                         "Mbit/s, Gbit/s, B/s, KB/s, MB/s, GB/s, KiB/s, MiB/s, GiB/s)\n");
    EXPECT_NE(fault(R"("share": {"weights": [{"weight": 0}]})"), "");
    EXPECT_NE(fault(R"("share": {"weights": [{"source": ["10.0.0.0/8"]}]})"), "") << "no weight";
    EXPECT_EQ(fault(R"("share": {"weights": [{"weight": 2, "host": "a.example"}]})"),
              "test.json:1: share.weights[0].host: host is not for weights, which are of clients (use source, user or group)\n");
    EXPECT_EQ(fault(R"("caps": [{"down": "1 MB/s", "destination": ["10.0.0.0/8"]}])"),
              "test.json:1: caps[0].destination: destination is not for caps, which are chosen before the address of the origin is "
              "known (use host)\n");
    EXPECT_EQ(fault(R"("caps": [{"name": "a", "down": 1}, {"name": "a", "down": 2}])"),
              "test.json:1: caps[1].name: \"a\" is already the name of another cap (give each its own name)\n");
    EXPECT_NE(fault(R"("caps": [{"each": "user", "down": 1}])"), "");
}

}   // namespace
}   // namespace garner::config
