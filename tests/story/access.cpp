// Access rules: which clients may request which URLs, and which destinations are blocked by default.
#include <signal.h>

#include <functional>

#include "story/scene.hpp"

namespace garner::test {

namespace {

std::string rules(std::string const& list) { return R"({"access": [)" + list + "]}"; }
std::string const loopback_open = R"({"allow": {"destination": ["127.0.0.0/8", "::1"], "port": ["1-65535"]}})";

/// The URL of a path with the origin's name in /etc/hosts.
std::string by_name(Origin const& origin, std::string const& path) {
    return "http://localhost:" + std::to_string(origin.port()) + path;
}

}   // namespace

TEST(Access, loopback_origins_are_closed_by_default) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy(rules(R"({"allow": {"source": ["127.0.0.0/8"]}})"));
    auto const port = ":" + std::to_string(origin.port());
    for (std::string host : {"127.0.0.1", "localhost", "127.0.0.2", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "[::]",
                             "[64:ff9b::7f00:1]", "169.254.1.1", "[fe80::1]", "2130706433", "127.1"}) {
        auto reply = Client(proxy).get("http://" + host + port + "/page");
        EXPECT_THAT(reply.status(), AnyOf(403, 400, 502)) << host;
        if (host != "127.0.0.1" && host != "localhost") continue;
        EXPECT_EQ(reply.status(), 403);
        EXPECT_THAT(reply.field("Proxy-Status"), HasSubstr("; error=destination_ip_prohibited; details=\"destination on loopback"));
    }
    EXPECT_EQ(Client(proxy).connect_to("127.0.0.1:443").status(), 403);
    EXPECT_EQ(origin.connections(), 0u);
}

TEST(Access, the_proxys_own_places_are_never_reached_through_it) {
    Proxy proxy;
    for (auto port : {proxy.port(), proxy.admin()})
        for (std::string host : {"127.0.0.1", "localhost"}) {
            auto const url = "http://" + host + ":" + std::to_string(port) + "/stats.json";
            // localhost may also have an IPv6 address without a listener; then the error of that connection is reported.
            auto const refused = AnyOf(403, host == "localhost" ? 502 : 403);
            EXPECT_THAT(Client(proxy).get(url).status(), refused) << url;
            EXPECT_THAT(Client(proxy).connect_to(host + ":" + std::to_string(port)).status(), refused) << url;
        }
}

TEST(Access, a_denied_host_gets_403_with_the_rule) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy(rules(R"({"deny": {"host": ["localhost", ".example.com"]}}, )" + loopback_open));
    auto denied = Client(proxy).get(by_name(origin, "/page"));
    EXPECT_EQ(denied.status(), 403);
    EXPECT_THAT(denied.body(), HasSubstr("access[0]"));
    EXPECT_EQ(Client(proxy).get("http://www.example.com/").status(), 403);
    EXPECT_EQ(Client(proxy).get("http://EXAMPLE.com./").status(), 403);
    EXPECT_EQ(get(proxy, origin, "/page").status(), 200);
    EXPECT_EQ(proxy.logged("localhost:" + std::to_string(origin.port()) + "/page").tag, "TCP_DENIED");
}

TEST(Access, a_denied_address_is_denied_in_every_spelling) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy(rules(R"({"deny": {"host": ["127.0.0.1", "::1"]}}, )" + loopback_open));
    auto const port = ":" + std::to_string(origin.port());
    for (std::string host : {"127.0.0.1", "127.0.0.1.", "[::1]", "[0:0::0:0001]"})
        EXPECT_EQ(Client(proxy).get("http://" + host + port + "/page").status(), 403) << host;
    for (std::string host :
         {"127.0.0.01", "0127.0.0.1", "127.0.0.001", "127.1", "0x7f.0.0.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"}) {
        EXPECT_EQ(Client(proxy).get("http://" + host + port + "/page").status(), 400) << host;
        EXPECT_EQ(Client(proxy).connect_to(host + port).status(), 400) << host;
        Client misled(proxy);
        misled.raw("GET http://localhost" + port + "/page HTTP/1.1\r\nHost: " + host + port + "\r\n\r\n");
        EXPECT_EQ(misled.expect().status(), 400) << host;
    }
    EXPECT_EQ(origin.connections(), 0u);
    EXPECT_EQ(Client(proxy).get(by_name(origin, "/page")).status(), 200);
}

TEST(Access, a_denied_address_is_found_behind_its_name) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy(rules(R"({"deny": {"destination": ["127.0.0.1", "::1"]}}, {"allow": "all"})"));
    EXPECT_EQ(Client(proxy).get(by_name(origin, "/page")).status(), 403);
    EXPECT_EQ(origin.connections(), 0u);
}

TEST(Access, the_first_rule_that_matches_decides) {
    Origin origin;
    origin.answer("/open/page", fresh("x"));
    origin.answer("/shut/page", fresh("x"));
    Proxy proxy(rules(R"({"deny": {"url_contains": ["/shut/"]}}, {"deny": {"method": ["DELETE"]}},
                         {"deny": {"url_matches": ["[0-9]{4}$"]}}, )" +
                      loopback_open + R"(, {"deny": "all"})"));
    // Each request needs a new client, because a refusal closes the connection.
    EXPECT_EQ(Client(proxy, origin).get("/open/page").status(), 200);
    EXPECT_EQ(Client(proxy, origin).get("/shut/page").status(), 403);
    EXPECT_EQ(Client(proxy, origin).send("DELETE", "/open/page").status(), 403);
    EXPECT_EQ(Client(proxy, origin).get("/open/2024").status(), 403);
    EXPECT_EQ(Client(proxy, origin).get("/open/20241").status(), 403);
    EXPECT_EQ(Client(proxy, origin).get("/open/202").status(), 404);
    EXPECT_EQ(Client(proxy, origin).get("http://192.0.2.1/").status(), 403);
}

TEST(Access, a_source_that_no_rule_allows_is_refused) {
    Origin origin;
    Proxy proxy(rules(R"({"allow": {"source": ["10.0.0.0/8"], "destination": ["127.0.0.0/8"]}}, {"deny": "all"})"));
    auto reply = get(proxy, origin, "/page");
    EXPECT_EQ(reply.status(), 403);
    EXPECT_EQ(origin.connections(), 0u);
}

TEST(Access, a_refused_request_opens_no_connection_and_waits_for_nothing) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy(rules(R"({"deny": {"source": "127.0.0.9"}}, {"deny": {"host": "localhost"}}, {"deny": {"method": "DELETE"}},
                         {"deny": {"url_contains": "/shut"}}, {"deny": {"header": "X-Kind: bad"}},
                         {"deny": {"host": "a.localhost", "destination": ["127.0.0.0/8", "::1"]}},
                         {"deny": {"destination": "127.0.0.3"}}, )" +
                      loopback_open));
    auto const port = ":" + std::to_string(origin.port());
    struct Kind {
        char const* name;
        std::function<Reply(Client&)> ask;
    };
    Kind const kinds[]{
        {"source", [](Client& client) { return client.from("127.0.0.9").get("/page"); }},
        {"host", [&](Client& client) { return client.get(by_name(origin, "/page")); }},
        {"host of CONNECT", [&](Client& client) { return client.connect_to("localhost" + port); }},
        {"method", [](Client& client) { return client.send("DELETE", "/page"); }},
        {"URL", [](Client& client) { return client.post("/shut", "x"); }},
        {"field",
         [](Client& client) {
             return client.get("/page", {{"X-Kind", "bad"}});
         }},
        {"destination", [&](Client& client) { return client.get("http://127.0.0.3" + port + "/page"); }},
        {"destination of a name", [&](Client& client) { return client.get("http://a.localhost" + port + "/page"); }},
    };
    for (auto const& kind : kinds) {
        auto fastest = Millis::max();   // this machine may be busy
        for (int i = 0; i < 10; ++i) {
            Client client(proxy, origin);
            auto const begun = std::chrono::steady_clock::now();
            EXPECT_EQ(kind.ask(client).status(), 403) << kind.name;
            fastest = std::min(fastest, std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - begun));
        }
        EXPECT_LT(fastest, 50ms) << kind.name;
    }
    EXPECT_EQ(origin.connections(), 0u);
    EXPECT_EQ(get(proxy, origin, "/page").body(), "x");
    EXPECT_EQ(origin.connections(), 1u);
}

TEST(Access, a_memory_hit_never_bypasses_a_rule_about_the_destination) {
    Origin origin;
    origin.answer("/page", fresh("secret"));
    Proxy proxy(rules(R"({"deny": {"method": ["HEAD"], "destination": ["127.0.0.0/8", "::1"]}}, )" + loopback_open));
    Client client(proxy);
    auto const url = by_name(origin, "/page");
    EXPECT_EQ(client.get(url).body(), "secret");
    EXPECT_TRUE(client.get(url).hit());
    EXPECT_EQ(client.head(url).status(), 403);
    EXPECT_EQ(Client(proxy, origin).head("/page").status(), 403);
}

TEST(Access, a_rule_that_comes_later_covers_what_is_stored_already) {
    Origin origin;
    origin.answer("/page", fresh("secret"));
    Proxy proxy;
    Client client(proxy);
    auto const url = by_name(origin, "/page");
    EXPECT_EQ(client.get(url).body(), "secret");
    proxy.reconfigure(rules(R"({"deny": {"destination": ["127.0.0.0/8", "::1"]}}, {"allow": "all"})"));
    proxy.signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return client.get(url).status() == 403; }));
}

TEST(Access, a_decision_that_is_kept_is_for_the_same_client_and_origin_until_a_reload) {
    Origin origin, other;
    origin.answer("/page", fresh("x"));
    other.answer("/page", fresh("y"));
    auto const port = std::to_string(origin.port());
    Proxy proxy(rules(R"({"deny": {"source": "127.0.0.9"}}, {"allow": {"destination": "127.0.0.0/8", "port": [)" + port +
                      R"(]}}, {"deny": "all"})"));
    Client client(proxy, origin);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(client.get("/page").body(), "x");
    Client denied(proxy, origin);
    EXPECT_EQ(denied.from("127.0.0.9").get("/page").status(), 403);
    EXPECT_EQ(Client(proxy, other).get("/page").status(), 403);
    EXPECT_EQ(Client(proxy).get("http://10.0.0.1:" + port + "/page").status(), 403);
    EXPECT_EQ(client.get("/page").body(), "x");
    proxy.reconfigure(rules(R"({"deny": {"destination": "127.0.0.0/8"}})"));
    proxy.signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return client.get("/page").status() == 403; }));
    EXPECT_EQ(Client(proxy, origin).get("/page").status(), 403);
}

TEST(Access, CONNECT_obeys_the_same_rules) {
    Origin origin;
    Proxy proxy(rules(R"({"deny": {"host": ["localhost"]}}, )" + loopback_open));
    EXPECT_EQ(Client(proxy).connect_to(origin.authority()).status(), 200);
    EXPECT_EQ(Client(proxy).connect_to("localhost:" + std::to_string(origin.port())).status(), 403);
}

}   // namespace garner::test
