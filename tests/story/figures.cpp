// The statistics while they are needed: bytes move during transfers, lists name hosts and refusals, and the health names problems.
#include <signal.h>

#include "story/scene.hpp"
#include "support/fake_dns.hpp"

namespace garner::test {

namespace {

using nlohmann::json;

std::size_t number(Proxy const& proxy, char const* section, char const* name) {
    return proxy.stats()[section][name].get<std::size_t>();
}

json row_of(json const& rows, std::string const& name) {
    for (auto const& row : rows)
        if (row["name"] == name) return row;
    return nullptr;
}

std::string stats_text(Proxy const& proxy) {
    return run({garner_binary(), "stats", "--config", proxy.dir().path("garner.json").string()}).output;
}

std::string health_of(Proxy const& proxy) { return proxy.stats()["health"]["state"].get<std::string>(); }

constexpr std::size_t step = 2'000'000;   // bytes

/// Sends more of a body in pieces that fit into the sockets' buffers, while the client reads them.
void send_step(Held& held, Reply const& reply, std::size_t& sent) {
    constexpr std::size_t piece = 250'000;
    for (auto const end = sent + step; sent < end;) {
        held.piece(std::string(piece, 'x'));
        sent += piece;
        ASSERT_EQ(reply.early(sent).size(), sent);
    }
}

}   // namespace

TEST(Figures, of_a_download_move_while_it_runs) {
    Origin origin;
    auto held = origin.hold("/film");
    Proxy proxy;
    Client client(proxy, origin);
    auto const reply = client.get("/film");
    held.head(no_store(""), 100'000'000);
    for (std::size_t sent = 0; sent < 3 * step;) {
        send_step(held, reply, sent);
        EXPECT_TRUE(eventually([&] { return number(proxy, "client", "body_bytes") == sent; })) << proxy.stats()["client"];
        EXPECT_GT(number(proxy, "client", "sent_bytes"), sent);
        EXPECT_GT(number(proxy, "origin", "received_bytes"), sent);
    }
    EXPECT_TRUE(eventually([&] {
        auto const host = row_of(proxy.stats()["top"]["hosts"], "127.0.0.1");
        return host.is_object() && host["requests"] == 1 && host["bytes"] > 2 * step;
    })) << proxy.stats()["top"];
    EXPECT_EQ(proxy.stats()["requests"]["total"], 0) << "the request is not over";
    held.close();
    EXPECT_FALSE(reply.complete());
}

TEST(Figures, of_an_upload_move_while_it_runs) {
    Origin origin;
    origin.by_hand("/up", [](Hand& hand) {
        hand.read_body();
        hand.answer(no_store("thanks"));
    });
    Proxy proxy;
    Client client(proxy, origin);
    auto const reply = client.begin("POST", "/up", {{"Content-Length", std::to_string(2 * step)}});
    client.raw(std::string(step, 'x'));
    EXPECT_TRUE(eventually([&] {
        return number(proxy, "client", "received_bytes") > step && number(proxy, "origin", "sent_bytes") > step;
    })) << proxy.stats()["client"]
        << proxy.stats()["origin"];
    client.raw(std::string(step, 'x'));
    EXPECT_EQ(reply.body(), "thanks");
    EXPECT_TRUE(eventually([&] { return number(proxy, "client", "received_bytes") > 2 * step; }));
    EXPECT_LT(number(proxy, "origin", "sent_bytes"), 2 * step + 10'000);
}

TEST(Figures, of_a_tunnel_move_while_it_runs) {
    Origin origin;
    auto held = origin.hold("/film");
    Proxy proxy;
    Client client(proxy);
    ASSERT_EQ(client.connect_to(origin.authority()).status(), 200);
    auto const reply = client.get("/film");
    held.head(no_store(""), 2 * step);
    std::size_t sent = 0;
    send_step(held, reply, sent);
    EXPECT_TRUE(eventually(
        [&] { return number(proxy, "client", "sent_bytes") > step && number(proxy, "origin", "received_bytes") > step; }));
    EXPECT_EQ(number(proxy, "client", "body_bytes"), 0u);
    EXPECT_TRUE(eventually([&] { return row_of(proxy.stats()["top"]["hosts"], "127.0.0.1").is_object(); }));
    held.close();
}

TEST(Figures, of_a_peer_move_while_it_sends) {
    Origin origin;
    auto held = origin.hold("/film");
    Proxy parent;
    json const campus{{"name", "campus"}, {"type", "parent"}, {"host", "127.0.0.1"}, {"http_port", parent.port()},
                      {"icp_port", 0},    {"no_query", true}, {"default", true}};
    Proxy proxy(json{{"peers", {campus}}}.dump());
    Client client(proxy, origin);
    auto const reply = client.get("/film");
    held.head(no_store(""), 2 * step);
    std::size_t sent = 0;
    send_step(held, reply, sent);
    EXPECT_TRUE(eventually([&] { return proxy.stats()["peers"][0]["bytes"].get<std::size_t>() > step; })) << proxy.stats()["peers"];
    EXPECT_EQ(proxy.stats()["peers"][0]["fetches"], 0);
    EXPECT_EQ(number(proxy, "origin", "received_bytes"), 0u);
    send_step(held, reply, sent);
    EXPECT_EQ(reply.body().size(), 2 * step);
}

TEST(Figures, name_the_hosts_with_the_most_requests_and_the_misses) {
    FakeDns dns;
    for (auto const* name : {"often.test", "seldom.test"}) dns.set(name, {.v4 = {"127.0.0.1"}});
    Origin origin;
    origin.answer("/kept", fresh("kept"));
    origin.answer("/never", no_store("never"));
    Proxy proxy(json{{"dns", {{"servers", {dns.server()}}}}}.dump());
    auto const url = [&](std::string const& host, std::string const& path) {
        return "http://" + host + ":" + std::to_string(origin.port()) + path;
    };
    for (int i = 0; i < 8; ++i) EXPECT_EQ(Client(proxy).get(url("often.test", "/kept")).body(), "kept");
    for (int i = 0; i < 3; ++i) EXPECT_EQ(Client(proxy).get(url("seldom.test", "/never")).body(), "never");
    Client other(proxy);
    other.from("127.0.0.9");
    EXPECT_EQ(other.get(url("often.test", "/kept")).body(), "kept");
    json top;
    ASSERT_TRUE(eventually([&] {
        top = proxy.stats()["top"];
        return row_of(top["clients"], "127.0.0.9").is_object() && row_of(top["hosts"], "seldom.test")["requests"] == 3;
    })) << top.dump(1);
    EXPECT_EQ(top["hosts"][0]["name"], "often.test");
    EXPECT_EQ(top["hosts"][0]["requests"], 9);
    EXPECT_EQ(top["hosts"][0]["hits"], 8);
    EXPECT_EQ(top["clients"][0]["name"], "127.0.0.1");
    EXPECT_EQ(top["clients"][0]["requests"], 11);
    EXPECT_EQ(top["misses"][0]["name"], url("seldom.test", "/never"));
    EXPECT_EQ(top["misses"][0]["requests"], 3);
    EXPECT_EQ(top["misses"][0]["reason"], "no-store in response");
    EXPECT_THAT(proxy.metrics(), Not(HasSubstr(".test"))) << "no host is a label";
}

TEST(Figures, tell_refusals_and_the_hits_of_rules_which_begin_anew_with_other_rules) {
    Proxy proxy(R"({"access": [{"deny": {"host": [".games.test"]}, "name": "exams"}, {"deny": {"host": ["chess.games.test"]}},
                               {"allow": {"source": ["127.0.0.0/8"]}}]})");
    auto const hits = [&](std::size_t rule) { return proxy.stats()["rules"][rule]["hits"].get<int>(); };
    for (auto const* path : {"/first?secret", "/second"}) {
        auto const refused = Client(proxy).get(std::string("http://chess.games.test") + path);
        EXPECT_EQ(refused.status(), 403);
    }
    ASSERT_TRUE(eventually([&] { return hits(0) == 2; })) << proxy.stats()["rules"];
    auto const stats = proxy.stats();
    ASSERT_EQ(stats["refusals"].size(), 2u);
    EXPECT_EQ(stats["refusals"][0]["url"], "http://chess.games.test/second");
    EXPECT_EQ(stats["refusals"][1]["url"], "http://chess.games.test/first");
    EXPECT_EQ(stats["refusals"][0]["rule"], "exams (access[0]: deny)");
    EXPECT_EQ(stats["refusals"][0]["client"], "127.0.0.1");
    EXPECT_EQ(stats["rules"].size(), 3u);
    EXPECT_EQ(stats["rules"][1]["dead"], true);
    EXPECT_EQ(stats["rules"][1]["why"], "access[0] matches all its requests");
    EXPECT_EQ(stats["rules"][2]["dead"], false);
    auto const checked = run({garner_binary(), "check", proxy.dir().path("garner.json").string()});
    EXPECT_THAT(checked.output + checked.errors, HasSubstr("access[0] matches all its requests")) << "garner check says the same";
    EXPECT_THAT(proxy.metrics(), HasSubstr("\ngarner_rule_hits_total{rule=\"exams (access[0]: deny)\"} 2\n"));

    proxy.reconfigure(R"({"limits": {"hops_max": 9}})");
    proxy.signal(SIGHUP);
    ASSERT_TRUE(eventually([&] { return proxy.stats()["config"]["generation"] == 2; }));
    EXPECT_EQ(hits(0), 2) << "the rules are the same";
    proxy.reconfigure(R"({"access": [{"deny": {"host": [".games.test"]}, "name": "exams"}]})");
    proxy.signal(SIGHUP);
    ASSERT_TRUE(eventually([&] { return proxy.stats()["config"]["generation"] == 3; }));
    EXPECT_EQ(hits(0), 0);
    EXPECT_EQ(Client(proxy).get("http://chess.games.test/").status(), 403);
    EXPECT_TRUE(eventually([&] { return hits(0) == 1; }));
}

TEST(Figures, the_health_needs_attention_while_a_parent_is_dead) {
    Origin origin;
    origin.answer("/page", no_store("body"));
    auto const port = free_port();
    json const campus{{"name", "campus"}, {"type", "parent"}, {"host", "127.0.0.1"}, {"http_port", port},
                      {"icp_port", 0},    {"no_query", true}, {"default", true}};
    Proxy proxy(json{{"peers", {campus}}}.dump());
    EXPECT_EQ(health_of(proxy), "ok");
    EXPECT_THAT(stats_text(proxy), StartsWith("OK: no problem is known.\n"));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "body") << "the origin is reached without the parent";
    ASSERT_TRUE(eventually([&] { return health_of(proxy) == "attention"; })) << proxy.stats()["health"];
    auto const health = proxy.stats()["health"];
    EXPECT_EQ(health["sentence"], "Attention: parent campus is dead.");
    ASSERT_EQ(health["items"].size(), 1u);
    EXPECT_NE(health["items"][0]["fix"], "");
    EXPECT_THAT(stats_text(proxy), StartsWith("Attention: parent campus is dead.\n"));
    Proxy parent(Proxy::Setup{.port = port});
    EXPECT_TRUE(eventually(
        [&] {
            get(proxy, origin, "/page").body();
            return health_of(proxy) == "ok";
        },
        60s))
        << proxy.stats()["health"] << proxy.errors();
}

TEST(Figures, dns_servers_that_do_not_answer_are_trouble_and_the_log_says_so) {
    auto const servers = json::array({"127.0.0.1:" + std::to_string(free_port())});
    Proxy proxy(json{{"dns", {{"servers", servers}}}, {"access", {{{"allow", "all"}}}}}.dump());
    for (auto const* host : {"a.test", "b.test", "c.test"}) {
        EXPECT_EQ(health_of(proxy), "ok");
        EXPECT_EQ(Client(proxy).get("http://" + std::string(host) + "/").status(), 502);
    }
    EXPECT_THAT(stats_text(proxy), StartsWith("Trouble: the DNS servers have not answered the last lookups"));
    EXPECT_EQ(proxy.stats()["health"]["checks"]["dns"], 2);
    EXPECT_TRUE(proxy.says("the DNS servers have not answered the last lookups (DNS server "));
}

TEST(Figures, the_health_needs_attention_when_the_log_cannot_be_written) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy(R"({"log": {"access": "/dev/full"}})");
    EXPECT_EQ(get(proxy, origin, "/page").body(), "x");
    ASSERT_TRUE(eventually([&] { return health_of(proxy) == "attention"; })) << proxy.stats()["health"];
    EXPECT_THAT(proxy.stats()["health"]["sentence"].get<std::string>(), HasSubstr("No space left on device"));
}

TEST(Figures, the_health_needs_attention_after_a_refused_reload) {
    Proxy proxy;
    auto const good = proxy.configuration().dump();
    proxy.rewrite(R"({"memory": {"size": "much"}})");
    proxy.signal(SIGHUP);
    ASSERT_TRUE(eventually([&] { return health_of(proxy) == "attention"; })) << proxy.stats()["health"];
    EXPECT_THAT(proxy.stats()["health"]["items"][0]["what"].get<std::string>(), HasSubstr("memory.size"));
    EXPECT_THAT(proxy.stats()["config"]["refused"].get<std::string>(), HasSubstr("memory.size"));
    proxy.rewrite(good);
    proxy.signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return health_of(proxy) == "ok"; })) << proxy.stats()["health"];
}

}   // namespace garner::test
