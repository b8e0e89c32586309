#include "admin/admin_server.hpp"

#include "admin/house.hpp"

namespace garner::admin {
namespace {

using test::Fields;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Fields const meant{{"Garner-Admin", "1"}};

TEST(AdminServer, tells_the_same_figures_three_ways) {
    test::Origin origin;
    origin.answer("/page", test::fresh("hello"));
    House house;
    for (int i = 0; i < 4; ++i) EXPECT_EQ(house.fetch(origin.url("/page")).body(), "hello");
    // A request is counted after its response was sent.
    ASSERT_TRUE(test::eventually([&] { return house.stats()["requests"]["total"] == 4; }));

    auto const stats = house.stats();
    EXPECT_EQ(stats["requests"]["hit"], 3);
    EXPECT_EQ(stats["requests"]["miss"], 1);
    EXPECT_EQ(stats["hit_ratio"]["start"], 0.75);
    EXPECT_EQ(stats["byte_hit_ratio"]["60s"], 0.75);
    EXPECT_EQ(stats["latency"]["hit"]["count"], 3);
    EXPECT_EQ(stats["cache"]["objects"], 1);
    EXPECT_EQ(stats["cache"]["capacity_bytes"], 8 * MiB);
    EXPECT_EQ(stats["connections"]["total"], 4);

    auto client = house.at_admin();
    auto const metrics = client.get("/metrics");
    EXPECT_EQ(metrics.field("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
    EXPECT_THAT(metrics.body(), HasSubstr("\ngarner_requests_total{answer=\"hit\"} 3\n"));
    EXPECT_THAT(metrics.body(), HasSubstr("\ngarner_hit_duration_seconds_count 3\n"));
    auto const page = client.get("/");
    EXPECT_EQ(page.field("Content-Type"), "text/html; charset=utf-8");
    EXPECT_THAT(page.body(), HasSubstr("data-stat=\"requests.total\" data-value=\"4\">4<"));
    EXPECT_EQ(client.connections(), 1);
}

TEST(AdminServer, HEAD_has_the_head_of_GET) {
    House house;
    auto client = house.at_admin();
    for (auto const* path : {"/", "/metrics", "/stats.json", "/nothing"}) {
        auto const head = client.head(path);
        EXPECT_EQ(head.body(), "");
        EXPECT_EQ(head.field("Content-Type"), client.get(path).field("Content-Type"));
        EXPECT_NE(head.field("Content-Length"), "0");
    }
    EXPECT_EQ(client.connections(), 1);
}

TEST(AdminServer, answers_only_under_its_own_address) {
    House house;
    auto const port = std::to_string(house.port());
    EXPECT_EQ(house.at_admin().get("/", {{"Host", "127.0.0.1:" + port}}).status(), 200);
    std::vector<std::string> others{"", "evil.example", "127.0.0.1", "127.0.0.1:1", house.address() + ", evil.example"};
    for (auto const* name : {"evil.example:", "localhost:", "127.0.0.2:", "127.1:", "2130706433:", "[::1]:"})
        others.push_back(name + port);
    for (auto const& host : others)
        for (auto const* path : {"/", "/metrics", "/stats.json", "/nothing"}) {
            auto const reply = house.at_admin().get(path, {{"Host", host}});
            EXPECT_EQ(reply.status(), 421) << host;
            EXPECT_THAT(reply.body(), Not(HasSubstr("garner_"))) << host;
        }
    EXPECT_EQ(house.at_admin().get("/", {{"Host", house.address()}, {"Host", "evil.example"}}).status(), 400);
    auto client = house.at_admin();
    client.raw("GET /metrics HTTP/1.0\r\n\r\n");
    EXPECT_EQ(client.expect().status(), 400);
    EXPECT_EQ(house.at_admin().get("http://" + house.address() + "/metrics").status(), 421);
}

TEST(AdminServer, answers_under_names_that_the_operator_lists) {
    House house({.names = {"gate.example", "localhost"}});
    for (auto const* host : {"gate.example", "GATE.example:8443", "localhost:9999"})
        EXPECT_EQ(house.at_admin().get("/metrics", {{"Host", host}}).status(), 200) << host;
    for (auto const* host : {"evil.example", "gate.example.evil.example", "example"}) {
        auto const reply = house.at_admin().get("/metrics", {{"Host", host}});
        EXPECT_EQ(reply.status(), 421) << host;
        EXPECT_THAT(reply.body(), HasSubstr("admin.names"));
    }
}

TEST(AdminServer, on_every_address_serves_both_families) {
    House house({.address = "::"});
    auto const port = std::to_string(house.port());
    EXPECT_EQ(test::Client("::1", house.port()).get("/", {{"Host", "[::1]:" + port}}).status(), 200);
    EXPECT_EQ(test::Client("127.0.0.1", house.port()).get("/", {{"Host", "127.0.0.1:" + port}}).status(), 200);
}

TEST(AdminServer, on_every_address_answers_under_the_one_it_was_reached_at) {
    House house({.address = "0.0.0.0"});
    EXPECT_THAT(house.address(), StartsWith("0.0.0.0:"));
    EXPECT_EQ(house.at_admin().get("/").status(), 200);
    auto const port = std::to_string(house.port());
    EXPECT_EQ(house.at_admin().get("/", {{"Host", "0.0.0.0:" + port}}).status(), 421);
    EXPECT_EQ(test::Client("127.0.0.2", house.port()).get("/", {{"Host", "127.0.0.2:" + port}}).status(), 200);
}

TEST(AdminServer, listens_on_IPv6_too) {
    House house({.address = "::1"});
    EXPECT_THAT(house.address(), StartsWith("[::1]:"));
    test::Client client("::1", house.port());
    EXPECT_EQ(client.get("/", {{"Host", house.address()}}).status(), 200);
}

TEST(AdminServer, gives_nothing_to_foreign_pages) {
    House house;
    Fields const foreign{{"Origin", "http://evil.example"}, {"Access-Control-Request-Method", "PURGE"}};
    for (auto const& method : {"GET", "OPTIONS"})
        for (auto const* path : {"/", "/metrics", "/stats.json", "/purge"}) {
            auto const reply = house.at_admin().send(method, path, foreign);
            for (auto const& [name, value] : reply.head().fields)
                EXPECT_THAT(test::lower(name), Not(StartsWith("access-control-")));
            EXPECT_EQ(reply.field("Cache-Control"), "no-store");
            EXPECT_EQ(reply.field("X-Content-Type-Options"), "nosniff");
            EXPECT_THAT(reply.field("Content-Security-Policy"), StartsWith("default-src 'none'"));
        }
}

TEST(AdminServer, knows_its_paths_and_methods) {
    House house;
    EXPECT_EQ(house.at_admin().get("/nothing").status(), 404);
    EXPECT_EQ(house.at_admin().send("PURGE", "/nothing", meant).status(), 404);
    auto const wrong = house.at_admin().send("DELETE", "/stats.json", meant);
    EXPECT_EQ(wrong.status(), 405);
    EXPECT_EQ(wrong.field("Allow"), "GET, HEAD");
    auto const read = house.at_admin().get("/purge?url=http://example.com/", meant);
    EXPECT_EQ(read.status(), 405);
    EXPECT_EQ(read.field("Allow"), "POST, PURGE");
}

TEST(AdminServer, refuses_what_is_no_request) {
    House house({.head_bytes = 1 * KiB, .body_bytes = 1 * KiB});
    auto status = [&house](std::string const& bytes) {
        auto client = house.at_admin();
        client.raw(bytes);
        return client.expect().status();
    };
    auto const host = "Host: " + house.address() + "\r\n";
    EXPECT_EQ(status("nonsense\r\n\r\n"), 400);
    EXPECT_EQ(status("GET / HTTP/1.1\r\n" + host + "X: " + std::string(2'000, 'x') + "\r\n\r\n"), 431);
    auto const post = "POST /purge HTTP/1.1\r\n" + host;
    EXPECT_EQ(status(post + "Content-Length: 2000\r\n\r\n" + std::string(2'000, 'x')), 413);
    EXPECT_EQ(status(post + "Content-Length: 99999999999\r\n\r\n"), 413);
    EXPECT_EQ(status(post + "Transfer-Encoding: chunked\r\n\r\n7d0\r\n" + std::string(2'000, 'x')), 413);
    EXPECT_EQ(house.at_admin().get("/").status(), 200);
}

TEST(AdminServer, purges_from_the_forward_proxy) {
    test::Origin origin;
    origin.answer("/page?a=1&b=2", test::fresh("hello"));
    House house;
    auto const url = origin.url("/page?a=1&b=2");
    auto fill = [&] {
        house.fetch(url).body();
        ASSERT_TRUE(test::eventually([&] { return house.fetch(url).hit(); }));
    };

    fill();
    auto const by_method = house.at_admin().send("PURGE", url, {{"Host", house.address()}, {"Garner-Admin", "1"}});
    EXPECT_EQ(by_method.status(), 200);
    EXPECT_EQ(by_method.field("Content-Type"), "application/json");
    EXPECT_EQ(Json::parse(by_method.body()), Json({{"purged", true}}));
    EXPECT_EQ(house.fetch(url).outcome(), "uri-miss");

    fill();
    auto const encoded = "url=http%3A%2F%2F" + origin.authority() + "%2Fpage%3fa=1%26b=2";
    EXPECT_EQ(Json::parse(house.at_admin().post("/purge", encoded, meant).body())["purged"], true);
    EXPECT_EQ(house.fetch(url).outcome(), "uri-miss");

    fill();
    EXPECT_EQ(Json::parse(house.at_admin().post("/purge?x=1&" + encoded, "", meant).body())["purged"], true);
    EXPECT_EQ(house.fetch(url).outcome(), "uri-miss");
    EXPECT_EQ(origin.requests("/page?a=1&b=2"), 4u);
}

TEST(AdminServer, purges_the_same_URL_however_it_is_written) {
    test::Origin origin;
    origin.answer("/", test::fresh("hello"));
    House house;
    house.fetch(origin.url("/")).body();
    auto const reply = house.at_admin().post("/purge", "url=HTTP://" + origin.authority(), meant);
    EXPECT_EQ(Json::parse(reply.body())["purged"], true);
    EXPECT_EQ(house.fetch(origin.url("/")).outcome(), "uri-miss");
}

TEST(AdminServer, purges_from_accelerators) {
    test::Origin origin;
    origin.answer("/page", test::fresh("hello"));
    House house({}, origin.url());
    house.fetch_accelerated("/page").body();
    ASSERT_TRUE(house.fetch_accelerated("/page").hit());
    EXPECT_EQ(Json::parse(house.at_admin().post("/purge", "url=" + origin.url("/page"), meant).body())["purged"], true);
    EXPECT_FALSE(house.fetch_accelerated("/page").hit());
}

TEST(AdminServer, says_when_there_was_nothing_to_purge) {
    House house;
    auto const reply = house.at_admin().post("/purge", "url=http://example.com/", meant);
    EXPECT_EQ(reply.status(), 200);
    EXPECT_EQ(Json::parse(reply.body())["purged"], false);
    for (auto const* form : {"", "url=", "url", "address=http://example.com/", "url=%zz", "url=%2", "url=page",
                             "url=ftp://example.com/", "url=http://example.com/a+b"})
        EXPECT_EQ(house.at_admin().post("/purge", form, meant).status(), 400) << form;
}

TEST(AdminServer, purges_only_for_those_who_mean_it) {
    test::Origin origin;
    origin.answer("/page", test::fresh("hello"));
    House house;
    auto const url = origin.url("/page");
    house.fetch(url).body();
    for (auto const& fields : std::vector<Fields>{{}, {{"Garner-Admin", "0"}}, {{"Garner-Admin", ""}}}) {
        EXPECT_EQ(house.at_admin().post("/purge", "url=" + url, fields).status(), 403);
        EXPECT_EQ(house.at_admin().send("PURGE", "/purge?url=" + url, fields).status(), 403);
    }
    EXPECT_EQ(house.at_admin().send("PURGE", url, {{"Host", house.address()}}).status(), 403);
    // A foreign page could send the field through DNS rebinding.
    EXPECT_EQ(house.at_admin().send("PURGE", url, meant).status(), 421);
    EXPECT_EQ(house.at_admin().get("/purge?url=" + url, meant).status(), 405);
    EXPECT_TRUE(house.fetch(url).hit());
}

TEST(AdminServer, answers_pipelined_requests_in_order) {
    House house;
    auto client = house.at_admin();
    std::string const host = " HTTP/1.1\r\nHost: " + house.address() + "\r\n\r\n";
    client.raw("GET /metrics" + host + "GET /nothing" + host + "GET /stats.json" + host);
    auto first = client.expect(), second = client.expect(), third = client.expect();
    EXPECT_THAT(first.body(), StartsWith("# HELP"));
    EXPECT_EQ(second.status(), 404);
    EXPECT_EQ(third.field("Content-Type"), "application/json");
}

TEST(AdminServer, silent_and_slow_clients_keep_nobody_out) {
    House house({.connections = 10});
    std::vector<test::Client> silent(20, house.at_admin());
    for (std::size_t i = 0; i < silent.size(); ++i) {
        silent[i].wire();
        if (i % 2) silent[i].raw("GET / HTTP/1.1\r\nHo");
    }
    // A client that requests much and reads nothing.
    auto greedy = house.at_admin();
    greedy.receive_buffer(1'024);
    std::string many;
    for (int i = 0; i < 2'000; ++i) many += "GET /metrics HTTP/1.1\r\nHost: " + house.address() + "\r\n\r\n";
    greedy.wire().send_until_blocked(many, test::Millis{200});
    for (int i = 0; i < 3; ++i) EXPECT_EQ(house.at_admin().get("/stats.json").status(), 200);
    EXPECT_TRUE(silent.front().closed_by_proxy());
}

TEST(AdminServer, patience_ends) {
    House house({.request = milliseconds{200}, .progress = milliseconds{200}});
    auto silent = house.at_admin();
    silent.raw("GET / HTTP/1.1\r\n");
    EXPECT_TRUE(silent.closed_by_proxy(test::Millis{5'000}));
    auto idle = house.at_admin();
    EXPECT_EQ(idle.get("/").status(), 200);
    EXPECT_TRUE(idle.closed_by_proxy(test::Millis{5'000}));
}

TEST(AdminServer, stops_with_connections_open) {
    House house;
    auto idle = house.at_admin(), silent = house.at_admin();
    EXPECT_EQ(idle.get("/").status(), 200);
    silent.raw("POST /purge HTTP/1.1\r\nHost: " + house.address() + "\r\nContent-Length: 100\r\n\r\n");
    house.admin().stop();
    EXPECT_TRUE(idle.closed_by_proxy());
    EXPECT_TRUE(silent.closed_by_proxy());
}

TEST(AdminServer, an_address_that_cannot_be_had_is_named) {
    House house;
    auto const taken = AdminServer::open({.address = "127.0.0.1", .port = house.port()}, house.server());
    EXPECT_THAT(taken.fault_text(), HasSubstr("127.0.0.1 port " + std::to_string(house.port())));
    EXPECT_THAT(taken.fault_text(), HasSubstr("in use"));
    EXPECT_FALSE(AdminServer::open({.address = "192.0.2.1", .port = 0}, house.server()));
}

}   // namespace
}   // namespace garner::admin
