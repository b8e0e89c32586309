// The keys of the line: share and caps.
#include <gtest/gtest.h>

#include "support.hpp"

namespace garner::config {
namespace {

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
