// Takeovers between this program and one of another release, up and down under load. GARNER_FORMER: the other program; see
// tools/upgrade.
#include <cstdlib>
#include <sstream>

#include "story/takeover/load.hpp"
#include "story/takeover/service.hpp"

namespace garner::test {

namespace {

/// The counter with this name and label.
double counter(Proxy const& proxy, std::string const& name) {
    std::istringstream lines(proxy.metrics());
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(name + " ")) return std::stod(line.substr(name.size()));
    return -1;
}

struct Releases : ::testing::TestWithParam<bool> {
    Releases() {
        origin.answer("/page", fresh("page"));
        origin.answer("/live", no_store("live"));
    }
    std::string patch() const {
        std::string const usual = R"({"deadlines": {"drain_idle": "5s"})";
        return usual + (GetParam() ? R"(, "disk": {"path": ")" + disk.path("").string() + R"(", "size": "64 MiB"}})" : "}");
    }
    /// The tunnels may stay in the former process: an older program does not hand them over.
    void take_over_beside_tunnels(Service& service, std::string const& program) {
        Tunnel tunnel(service.proxy());
        Chat chat(service.proxy(), origin);
        for (int i = 0; i < 20; ++i) {
            if (i == 10) ASSERT_TRUE(service.take_over({}, program)) << service.refused();
            EXPECT_EQ(tunnel.exchange(), "") << service.errors();
            EXPECT_EQ(chat.exchange(), "") << service.errors();
        }
        tunnel.close();
        chat.close();
    }
    Origin origin;
    TempDir disk;
};

}   // namespace

TEST_P(Releases, take_over_from_each_other_under_load) {
    char const* const former = std::getenv("GARNER_FORMER");
    if (!former) GTEST_SKIP() << "GARNER_FORMER names no program of another release";
    Service service(patch());
    auto& proxy = service.proxy();
    origin.answer("/object", fresh("object"));
    EXPECT_EQ(get(proxy, origin, "/object").body(), "object");
    std::vector<std::string> troubles;
    {
        Traffic traffic;
        add_kept(traffic, proxy, origin);
        add_bodies(traffic, proxy, origin);
        double hits = 0;
        for (int i = 0; i < 6; ++i) {
            SCOPED_TRACE(i % 2 ? "from the other release to this program" : "from this program to the other release");
            take_over_beside_tunnels(service, i % 2 ? garner_binary() : former);
            if (HasFatalFailure()) break;
            EXPECT_TRUE(get(proxy, origin, "/object").hit()) << service.errors();
            service.expect_former_to_end();
            auto const now = counter(proxy, R"(garner_requests_total{answer="hit"})");
            EXPECT_GE(now, hits);
            hits = now;
        }
        troubles = traffic.stop();
        EXPECT_GT(traffic.requests(), 0);
        std::printf("%d requests, %.0f hits in all processes\n", traffic.requests(), hits);
    }
    EXPECT_THAT(troubles, ElementsAre()) << service.errors();
    EXPECT_EQ(origin.requests("/object"), 1u);
}

INSTANTIATE_TEST_SUITE_P(Takeover, Releases, ::testing::Bool(),
                         [](auto const& disk) { return disk.param ? "with_a_disk" : "in_memory"; });

}   // namespace garner::test
