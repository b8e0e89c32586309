// Memory by part: traffic of all kinds is in parts with names, each within its limit, and what it needed is freed afterwards.
#include "story/rest.hpp"
#include "story/tls/secure_listener.hpp"
#include "support/fake_dns.hpp"

namespace garner::test {

namespace {

struct Part {
    std::size_t bytes = 0;
    std::size_t limit = 0;
};

Part part(nlohmann::json const& stats, std::string const& name) {
    for (auto const& one : stats["memory_parts"])
        if (one["name"] == name) return {one["bytes"], one["limit"]};
    throw Trouble("no part of memory " + name);
}

struct MemoryParts : ::testing::Test {
    MemoryParts() {
        dns.set("www.memory.test", {.v4 = {"127.0.0.1"}});
        origin.answer("/page", fresh(pattern(20'000)));
        origin.answer("/large", no_store(pattern(3'000'000)));
        origin.by_hand("/up", [](Hand& hand) {
            hand.read_body();
            hand.answer(no_store("thanks"));
        });
    }
    nlohmann::json patch() const {
        return {
            {"disk", {{"path", dir.path("disk").string()}, {"size", "64 MiB"}}},
            {"dns", {{"servers", {dns.server()}}}},
            {"pool", {{"idle_timeout", "1s"}}},
            {"access",
             {{{"deny", {{"host", {"denied.test"}}}}}, {{"allow", {{"destination", {"127.0.0.0/8"}}, {"port", {"1-65535"}}}}}}}};
    }
    std::string by_name(std::string const& path) const { return "http://www.memory.test:" + std::to_string(origin.port()) + path; }

    TempDir dir;
    CertificateFiles files;
    FakeDns dns;
    Origin origin;
    Proxy proxy{Proxy::Setup{.patch = patch().dump(), .tls = files.tls()}};
};

}   // namespace

TEST_F(MemoryParts, each_that_traffic_uses_is_within_its_limit_and_buffers_are_freed_afterwards) {
    auto held = origin.hold("/slow");
    {
        auto secure = secure_client(proxy);
        EXPECT_EQ(secure.get(by_name("/page")).body().size(), 20'000u);
        Client client(proxy, origin);
        EXPECT_EQ(client.get("/large").body().size(), 3'000'000u);
        EXPECT_EQ(client.post("/up", pattern(300'000)).body(), "thanks");
        EXPECT_EQ(Client(proxy).get("http://denied.test/").status(), 403);
        auto tunnel = Client(proxy);
        EXPECT_EQ(tunnel.connect_to(origin.authority()).status(), 200);
        EXPECT_EQ(tunnel.get("/page").body().size(), 20'000u);
        auto const slow = client.get("/slow");
        held.head(fresh(""), 400'000);
        held.piece(pattern(200'000));
        EXPECT_EQ(slow.early(200'000).size(), 200'000u);
        ASSERT_TRUE(eventually([&] { return proxy.stats()["disk"]["stored"] > 0; }));

        auto const stats = proxy.stats();
        for (auto const* name : {"objects", "fills", "disk_index", "disk_buffers", "connections", "requests", "buffers", "tls",
                                 "dns_names", "refusals", "logs", "what_if"})
            EXPECT_GT(part(stats, name).bytes, 0u) << name;
        for (auto const& one : stats["memory_parts"]) EXPECT_LE(one["bytes"], one["limit"]) << one;
        EXPECT_LE(stats["memory_sum"]["bytes"], stats["memory_sum"]["limit"]);
        EXPECT_GT(stats["resident_bytes"], 0);
        held.piece(pattern(200'000));
        held.finish();
        EXPECT_EQ(slow.body().size(), 400'000u);
    }
    nlohmann::json stats;
    EXPECT_TRUE(eventually([&] {
        stats = proxy.stats();
        return part(stats, "connections").bytes == 0 && part(stats, "buffers").bytes == 0 && part(stats, "fills").bytes == 0;
    })) << stats["memory_parts"].dump(1);
    EXPECT_GT(part(stats, "dns_names").bytes, 0u) << "the name is remembered";
}

TEST_F(MemoryParts, are_in_the_metrics_and_in_garner_stats) {
    EXPECT_EQ(get(proxy, origin, "/page").body().size(), 20'000u);
    auto const metrics = proxy.metrics();
    for (auto const* line : {"\ngarner_memory_bytes{part=\"objects\"} ", "\ngarner_memory_limit_bytes{part=\"objects\"} 67108864\n",
                             "\ngarner_memory_bytes{part=\"logs\"} ", "\ngarner_process_resident_bytes "})
        EXPECT_THAT(metrics, HasSubstr(line));
    auto const shown = run({garner_binary(), "stats", "--config", proxy.dir().path("garner.json").string()});
    EXPECT_THAT(shown.output, HasSubstr("\nMemory by part "));
    EXPECT_THAT(shown.output, HasSubstr("\n  dns_names "));
    EXPECT_THAT(shown.output, HasSubstr("\n  process (resident) "));
}

}   // namespace garner::test
