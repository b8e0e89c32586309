// The operator's page of a proxy with everything: peers, a disk, TLS, shares, caps and refusals.
#include "story/page_scene.hpp"
#include "story/tls/secure_listener.hpp"
#include "support/fake_peer.hpp"

namespace garner::test {

namespace {

using nlohmann::json;

/// All sections have rows, and nothing changes any more.
struct Everything {
    CertificateFiles files;
    TempDir disk;
    Origin origin;
    FakePeer sibling{Icp::miss};
    Proxy proxy{Proxy::Setup{.patch = patch(), .accelerates = origin.url(), .tls = files.tls()}};

    std::string patch() {
        json const near{{"name", "near"},
                        {"type", "sibling"},
                        {"host", "127.0.0.1"},
                        {"http_port", sibling.http().port()},
                        {"icp_port", sibling.icp()}};
        json const gone{{"name", "gone"},           {"type", "parent"}, {"host", "127.0.0.1"},
                        {"http_port", free_port()}, {"icp_port", 0},    {"no_query", true}};
        json const rules{{{"deny", {{"host", {".games.test"}}}}, {"name", "exams"}},
                         {{"allow", {{"destination", {"127.0.0.0/8"}}, {"port", {"1-65535"}}}}}};
        return json{{"peers", {near, gone}},
                    {"disk", {{"path", disk.path("store").string()}, {"size", "64 MiB"}}},
                    {"share", {{"down", "1 GB/s"}}},
                    {"caps", {{{"name", "guests"}, {"down", "1 GB/s"}}}},
                    {"memory", {{"size", "8 MiB"}, {"what_if", true}}},
                    {"access", rules}}
            .dump();
    }

    void load() {
        origin.otherwise([](Hand& hand) { hand.answer(fresh(std::string(20'000, 'x'))); });
        origin.answer("/never", no_store("x"));
        Client client(proxy, origin);
        for (int i = 0; i < 1'300; ++i) EXPECT_EQ(client.get("/page" + std::to_string(i % 600)).status(), 200);
        EXPECT_EQ(client.get("/never").status(), 200);
        EXPECT_EQ(Client("127.0.0.1", proxy.accelerator()).get("/accelerated").status(), 200);
        EXPECT_EQ(secure_client(proxy).get(origin.url("/secure")).status(), 200);
        EXPECT_EQ(Client(proxy).get("http://chess.games.test/").status(), 403);
    }
};

}   // namespace

TEST(OperatorPage, has_the_figures_of_a_proxy_with_peers_disk_TLS_shares_and_refusals) {
    NEEDS("chromium");
    Everything all;
    all.load();
    Viewer viewer(all.proxy);
    EXPECT_TRUE(eventually([&] { return all.proxy.stats()["what_if"]["rows"].size() > 0; }));
    viewer.open();
    ASSERT_TRUE(viewer.is_live());
    for (auto const* stat : {"peers.0.state", "peers.1.state", "disk.size_bytes", "share.subjects.0.down_bytes",
                             "caps.0.down_bytes", "certificates.0.days_left", "refusals.0.id", "rules.1.hits",
                             "what_if.rows.0.object_hit_ratio", "top.misses.0.reason", "latency.miss.5m.p99_us"})
        EXPECT_TRUE(viewer.value_of(stat).is_string()) << stat;
    auto const found = differing_at_last(viewer);
    EXPECT_EQ(found["wrong"], json::array());
    EXPECT_GT(found["count"], 250);
    for (auto const* scheme : {"light", "dark"}) {
        set_scheme(viewer, scheme);
        viewer.open("/?url=policy%20gdsf");
        keep_screenshot(viewer, std::string("page-everything-") + scheme);
        open_details(viewer);
        EXPECT_EQ(viewer.browser.evaluate(barriers), json::array()) << scheme;
        EXPECT_EQ(axe_findings(viewer), "") << scheme;
    }
    EXPECT_THAT(viewer.text_of("#explanation"), HasSubstr("evicts large and rarely used objects"));
    EXPECT_THAT(viewer.browser.console(), ::testing::IsEmpty());
}

}   // namespace garner::test
