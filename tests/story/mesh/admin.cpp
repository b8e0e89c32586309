// The mesh for operators: garner peers, garner explain, and the figures.
#include <atomic>
#include <thread>

#include "story/scene.hpp"
#include "support/fake_peer.hpp"

namespace garner::test {

namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

Finished garner(Proxy const& proxy, Words words) {
    words.insert(words.begin(), garner_binary());
    words.insert(words.end(), {"--config", proxy.dir().path("garner.json").string()});
    return run(words);
}

json peers_of(Proxy const& proxy) {
    auto const finished = garner(proxy, {"peers", "--json"});
    EXPECT_EQ(finished.code, 0) << finished.errors;
    return json::parse(finished.output);
}

json sources_of(Proxy const& proxy, std::string const& url, Words const& more = {}) {
    Words words{"explain", url, "--json"};
    words.insert(words.end(), more.begin(), more.end());
    auto const finished = garner(proxy, words);
    EXPECT_EQ(finished.code, 0) << finished.errors;
    return json::parse(finished.output).at("sources");
}

/// For example "SIBLING_HIT/next door", "HIER_DIRECT".
Words order_of(json const& sources) {
    Words order;
    for (auto const& way : sources.at("order"))
        order.push_back(way.at("why").get<std::string>() +
                        (way.at("peer").is_string() ? "/" + way.at("peer").get<std::string>() : ""));
    return order;
}

json peer(std::string const& name, std::string const& type, Proxy const& there, std::uint16_t icp) {
    return {{"name", name}, {"type", type}, {"host", "127.0.0.1"}, {"http_port", there.port()}, {"icp_port", icp}};
}

std::string with_peers(json const& peers) { return json{{"peers", peers}}.dump(); }

std::string answering_at(std::uint16_t icp) {
    return json{{"icp", {{"address", "127.0.0.1:" + std::to_string(icp)}, {"allow", {"127.0.0.0/8"}}}}}.dump();
}

}   // namespace

TEST(MeshAdmin, without_peers_that_is_said) {
    Origin origin;
    Proxy proxy;
    auto const told = garner(proxy, {"peers"});
    EXPECT_EQ(told.code, 0) << told.errors;
    EXPECT_EQ(told.output, "no peers: none are configured, or DNS has named no server for them\n");
    EXPECT_EQ(peers_of(proxy), json::array());
    EXPECT_TRUE(sources_of(proxy, origin.url("/page")).is_null());
    EXPECT_THAT(garner(proxy, {"stats"}).output, Not(HasSubstr("Mesh")));
}

TEST(MeshAdmin, a_parent_that_is_only_used_is_told_and_counted) {
    Origin origin;
    origin.answer("/page", fresh("body"));
    Proxy parent;
    auto campus = peer("campus", "parent", parent, 0);
    campus["no_query"] = campus["default"] = true;
    Proxy proxy(with_peers(json::array({campus})));

    auto const sources = sources_of(proxy, origin.url("/page"));
    EXPECT_THAT(order_of(sources), ElementsAre("DEFAULT_PARENT/campus", "HIER_DIRECT"));
    EXPECT_EQ(sources["asked"], json::array());
    EXPECT_EQ(origin.requests("/page"), 0u);
    EXPECT_EQ(get(proxy, origin, "/page").body(), "body");
    EXPECT_EQ(origin.requests("/page"), 1u);

    ASSERT_TRUE(eventually([&] { return peers_of(proxy)[0]["fetches"] == 1; })) << peers_of(proxy);
    auto const told = peers_of(proxy)[0];
    EXPECT_EQ(told["state"], "alive");
    EXPECT_EQ(told["address"], "127.0.0.1");
    EXPECT_EQ(told["queries"], 0);
    EXPECT_EQ(told["bytes_saved"], 0) << "the origin sent the response nevertheless";
    auto const table = garner(proxy, {"peers"}).output;
    EXPECT_THAT(table, StartsWith("name"));
    EXPECT_THAT(table, HasSubstr("127.0.0.1:" + std::to_string(parent.port())));
    EXPECT_THAT(proxy.metrics(), HasSubstr("\ngarner_peer_fetches_total{peer=\"campus\"} 1\n"));
    EXPECT_THAT(garner(proxy, {"stats"}).output, HasSubstr("\ncampus"));
    EXPECT_TRUE(sources_of(proxy, origin.url("/page")).is_null()) << "a hit needs no source";
}

TEST(MeshAdmin, the_lists_are_explained) {
    Origin origin;
    Proxy parent;
    auto campus = peer("campus", "parent", parent, 0);
    campus["no_query"] = campus["default"] = true;
    json const patch{{"peers", json::array({campus})},
                     {"direct", {{"always", {{{"url_contains", {"always"}}}}}, {"never", {{{"url_contains", {"never"}}}}}}}};
    Proxy proxy(patch.dump());
    EXPECT_THAT(order_of(sources_of(proxy, origin.url("/always"))), ElementsAre("HIER_DIRECT"));
    EXPECT_THAT(order_of(sources_of(proxy, origin.url("/never"))), ElementsAre("DEFAULT_PARENT/campus"));
    EXPECT_THAT(garner(proxy, {"explain", origin.url("/always")}).output, HasSubstr("no peer is queried: direct.always"));
    auto const posted = sources_of(proxy, origin.url("/page"), {"-X", "POST", "-H", "Content-Length: 0"});
    EXPECT_EQ(posted["hierarchical"], false);
    EXPECT_EQ(order_of(posted).front(), "HIER_DIRECT");
}

TEST(MeshAdmin, a_dead_parent_is_named_as_dead_wherever_it_is_used_all_the_same) {
    Origin origin;
    json const campus{{"name", "campus"}, {"host", "127.0.0.1"}, {"http_port", free_port()}, {"icp_port", 0}, {"no_query", true}};
    Proxy proxy(json{{"peers", {campus}}, {"direct", {{"never", json::array({"all"})}}}}.dump());
    EXPECT_EQ(get(proxy, origin, "/page").status(), 502);
    EXPECT_EQ(peers_of(proxy)[0]["state"], "dead");
    auto const words = garner(proxy, {"explain", origin.url("/other")}).output;
    EXPECT_THAT(words, HasSubstr("fetched from peer campus although it is dead (no other source is left)"));
    EXPECT_THAT(words, HasSubstr("ANY_OLD_PARENT/campus (dead)"));
    EXPECT_EQ(sources_of(proxy, origin.url("/other"))["order"][0]["state"], "dead");
}

TEST(MeshAdmin, who_was_asked_what_they_said_and_who_won_is_explained) {
    Origin origin;
    origin.answer("/page", fresh("body"));
    auto const parent_icp = free_port(), sibling_icp = free_port();
    Proxy parent(answering_at(parent_icp)), sibling(answering_at(sibling_icp));
    Proxy proxy(with_peers({peer("campus", "parent", parent, parent_icp), peer("next door", "sibling", sibling, sibling_icp)}));

    auto sources = sources_of(proxy, origin.url("/page"));
    ASSERT_EQ(sources["asked"].size(), 2u) << sources;
    for (auto const& word : sources["asked"]) {
        EXPECT_EQ(word["said"], "MISS") << sources;
        EXPECT_EQ(word["protocol"], "ICP");
        EXPECT_GT(word["took_ms"], 0.0);
    }
    EXPECT_THAT(order_of(sources), ElementsAre("FIRST_PARENT_MISS/campus", "HIER_DIRECT"));
    EXPECT_EQ(origin.requests("/page"), 0u);

    get(sibling, origin, "/page").body();
    // Repeats if a busy machine delayed the sibling's reply.
    EXPECT_TRUE(eventually([&] {
        sources = sources_of(proxy, origin.url("/page"));
        return order_of(sources).front() == "SIBLING_HIT/next door";
    })) << sources;
    auto const words = garner(proxy, {"explain", origin.url("/page")}).output;
    EXPECT_THAT(words, HasSubstr("next door (sibling, ICP) HIT in "));
    EXPECT_THAT(words, HasSubstr("\n  source      SIBLING_HIT/next door, then "));
    EXPECT_THAT(words, HasSubstr("\n              fetched from peer next door\n"));

    get(proxy, origin, "/page").body();
    EXPECT_EQ(origin.requests("/page"), 1u) << "the sibling had it";
    ASSERT_TRUE(eventually([&] { return peers_of(proxy)[1]["fetches"] == 1; })) << peers_of(proxy);
    auto const told = peers_of(proxy)[1];
    EXPECT_EQ(told["hits"], 3);
    EXPECT_GE(told["bytes_saved"], 4);
    EXPECT_GT(told["query_rtt_ms"], 0.0);
    EXPECT_EQ(sibling.stats()["icp"]["hits"], 3);
}

TEST(MeshAdmin, only_who_means_it_has_peers_asked) {
    Origin origin;
    Proxy parent;
    Proxy proxy(with_peers(json::array({peer("campus", "parent", parent, free_port())})));
    auto ask = [&](Fields const& fields) {
        return json::parse(Client("127.0.0.1", proxy.admin()).get("/explain?url=" + origin.url("/page"), fields).body());
    };
    EXPECT_TRUE(ask({})["sources"].is_null());
    EXPECT_EQ(peers_of(proxy)[0]["queries"], 0);
    EXPECT_TRUE(ask({{"Garner-Admin", "1"}})["sources"].is_object());
}

TEST(MeshAdmin, the_digest_is_built_anew_only_for_those_who_mean_it) {
    Proxy proxy;
    EXPECT_EQ(Client("127.0.0.1", proxy.admin()).post("/rebuild-digest", "").status(), 403);
    EXPECT_EQ(Client("127.0.0.1", proxy.admin()).get("/rebuild-digest", {{"Garner-Admin", "1"}}).status(), 405);
    auto const told = garner(proxy, {"peers", "--rebuild-digest"});
    EXPECT_EQ(told.code, 0) << told.errors;
    EXPECT_THAT(told.output, HasSubstr("being rebuilt"));
    Proxy silent(R"({"digest": {"publish": false}})");
    EXPECT_EQ(garner(silent, {"peers", "--rebuild-digest"}).code, 1);
}

TEST(MeshAdmin, figures_and_the_page_do_not_wait_for_an_explanation_that_waits_for_peers) {
    Origin origin;
    FakePeer silent;
    silent.says(FakePeer::Answers([](IcpDatagram const&) { return std::vector<std::string>(); }));
    json const parent{{"name", "silent"},
                      {"type", "parent"},
                      {"host", "127.0.0.1"},
                      {"http_port", silent.http().port()},
                      {"icp_port", silent.icp()}};
    Proxy proxy(json{{"peers", {parent}}, {"icp", {{"timeout_min", "2s"}}}}.dump());
    auto const at_admin = [&](std::string const& path) {
        return Client("127.0.0.1", proxy.admin()).get(path, {{"Garner-Admin", "1"}});
    };
    std::atomic<bool> explained{false};
    std::thread explaining([&] {
        EXPECT_THAT(at_admin("/explanation?url=" + origin.url("/page")).body(), HasSubstr("no reply"));
        explained = true;
    });
    EXPECT_TRUE(eventually([&] { return silent.queries() > 0; }));
    EXPECT_EQ(proxy.stats()["requests"]["total"], 0);
    EXPECT_EQ(at_admin("/").status(), 200);
    EXPECT_EQ(at_admin("/events").early(6).substr(0, 6), "data: ");
    EXPECT_FALSE(explained);
    explaining.join();
}

}   // namespace garner::test
