// Clients behind gateways that speak HTTP, and PROXY headers to origins and peers: with HAProxy on either side of Garner.
#include "story/scene.hpp"
#include "support/programs.hpp"

namespace garner::test {

namespace {

constexpr auto haproxy_for_http = R"(
global
    stats timeout 5s
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
listen one
    bind 127.0.0.1:FRONT accept-proxy
    LINES
    server next 127.0.0.1:ONWARD
)";

/// An HAProxy that takes PROXY headers.
struct HttpBalancer {
    HttpBalancer(std::string const& lines, std::uint16_t onward) : port(free_port()) {
        Fields const words{{"FRONT", std::to_string(port)}, {"LINES", lines}, {"ONWARD", std::to_string(onward)}};
        auto const file = dir.write("haproxy.cfg", filled_in(haproxy_for_http, words));
        child = start_server({server_program("haproxy"), "-db", "-f", file}, port, dir.path("none"));
    }
    TempDir dir;
    std::uint16_t port;
    std::unique_ptr<Child> child;
};

/// Bytes on a new connection, and all bytes of the answer.
std::string exchanged(std::uint16_t port, std::string const& bytes) {
    auto wire = Wire::connect("127.0.0.1", port);
    wire.send(bytes);
    return wire.take_all();
}

std::string header_of(std::string const& client) { return "PROXY TCP4 " + client + " 198.51.100.1 40000 443\r\n"; }

std::string request_for(std::string const& target, std::string const& fields = "") {
    return "GET " + target + " HTTP/1.1\r\nHost: site.example\r\nConnection: close\r\n" + fields + "\r\n";
}

struct Gateways : ::testing::Test {
    Gateways() {
        origin.otherwise([](Hand& hand) { hand.answer(no_store("page")); });
    }
    std::string client_of(Proxy const& proxy, std::string const& path) const { return proxy.logged(path).all["client"]; }
    Origin origin;
};

nlohmann::json allowing_named_clients() {
    return nlohmann::json::parse(
        R"([{"allow": {"source": ["192.0.2.0/24"], "destination": ["127.0.0.0/8"], "port": ["1-65535"]}}])");
}

nlohmann::json listening_for_headers(std::uint16_t port) {
    return {{{"address", "127.0.0.1:" + std::to_string(port)}, {"proxy_protocol", {"127.0.0.1"}}}};
}

constexpr auto trusting_loopback = R"({"forwarded_trust": ["127.0.0.0/8", "10.0.0.0/8"],
    "access": [{"deny": {"source": "203.0.113.0/24"}},
               {"allow": {"source": ["192.0.2.0/24", "127.0.0.1"], "destination": ["127.0.0.0/8"], "port": ["1-65535"]}},
               {"deny": "all"}]})";

}   // namespace

TEST_F(Gateways, one_that_is_trusted_names_the_client_for_rules_and_log) {
    Proxy proxy(trusting_loopback);
    auto const status = [&](std::string const& path, Fields fields) { return get(proxy, origin, path, fields).status(); };
    EXPECT_EQ(status("/plain", {}), 200);
    EXPECT_EQ(client_of(proxy, "/plain"), "127.0.0.1");
    EXPECT_EQ(status("/named", {{"X-Forwarded-For", "203.0.113.9, 192.0.2.7, 10.0.0.2"}}), 200);
    EXPECT_EQ(client_of(proxy, "/named"), "192.0.2.7");
    EXPECT_EQ(status("/denied", {{"Forwarded", "for=203.0.113.9;proto=https"}}), 403);
    EXPECT_EQ(client_of(proxy, "/denied"), "203.0.113.9");
    EXPECT_EQ(status("/local", {{"X-Forwarded-For", "127.0.0.9"}}), 200);
    EXPECT_EQ(client_of(proxy, "/local"), "127.0.0.1");
}

TEST_F(Gateways, each_request_of_a_connection_has_its_own_client) {
    Proxy proxy(trusting_loopback);
    Client gateway(proxy, origin);
    for (auto const* client : {"192.0.2.7", "192.0.2.8"}) {
        auto const path = std::string("/") + client;
        EXPECT_EQ(gateway.get(path, {{"X-Forwarded-For", client}}).status(), 200);
        EXPECT_EQ(client_of(proxy, path), client);
    }
    EXPECT_EQ(gateway.get("/again").status(), 200);
    EXPECT_EQ(client_of(proxy, "/again"), "127.0.0.1");
    EXPECT_EQ(gateway.connections(), 1);
}

TEST_F(Gateways, no_other_client_is_believed) {
    Proxy proxy(R"({"forwarded_trust": ["127.0.0.1"], "forwarded_received": "delete"})");
    EXPECT_EQ(Client(proxy, origin).from("127.0.0.9").get("/page", {{"X-Forwarded-For", "192.0.2.7"}}).status(), 200);
    EXPECT_EQ(client_of(proxy, "/page"), "127.0.0.9");
    EXPECT_FALSE(origin.last("/page").head.has("X-Forwarded-For"));
    EXPECT_EQ(Client(proxy, origin).get("/kept", {{"X-Forwarded-For", "192.0.2.7"}}).status(), 200);
    EXPECT_EQ(origin.last("/kept").head.field("X-Forwarded-For"), "192.0.2.7");
}

TEST_F(Gateways, a_client_that_is_named_may_not_purge_as_a_local_one) {
    Proxy proxy(trusting_loopback);
    EXPECT_EQ(Client(proxy, origin).send("PURGE", "/page", {{"X-Forwarded-For", "192.0.2.7"}}).status(), 403);
    EXPECT_EQ(Client(proxy, origin).send("PURGE", "/page").status(), 404) << "the gateway itself is a local client";
}

TEST_F(Gateways, HAProxy_before_an_accelerator_names_its_visitors) {
    NEEDS("haproxy");
    Proxy proxy(Proxy::Setup{.patch = R"({"forwarded_trust": ["127.0.0.1"], "access": [{"deny": {"source": "203.0.113.0/24"}}]})",
                             .accelerates = origin.url()});
    HttpBalancer gateway("option forwardfor", proxy.accelerator());
    EXPECT_THAT(exchanged(gateway.port, header_of("192.0.2.7") + request_for("/page", "X-Forwarded-For: 198.51.100.9\r\n")),
                StartsWith("HTTP/1.1 200 "));
    EXPECT_EQ(client_of(proxy, "/page"), "192.0.2.7") << "a visitor's own claim comes before it";
    EXPECT_THAT(exchanged(gateway.port, header_of("203.0.113.9") + request_for("/denied")), StartsWith("HTTP/1.1 403 "));
}

TEST_F(Gateways, HAProxy_behind_an_accelerator_learns_the_visitor) {
    NEEDS("haproxy");
    HttpBalancer inner("http-request set-header X-Seen %[src]:%[src_port]", origin.port());
    for (auto const* version : {"v1", "v2"}) {
        auto const port = free_port();
        auto listen = listening_for_headers(port);
        listen[0]["origin"] = "http://127.0.0.1:" + std::to_string(inner.port);
        listen[0]["origin_proxy_protocol"] = version;
        nlohmann::json const patch{{"listen", listen}};
        Proxy proxy(Proxy::Setup{.patch = patch.dump(), .port = port});
        for (auto const* visitor : {"192.0.2.7", "192.0.2.8"}) {
            auto const path = std::string("/") + version + visitor;
            EXPECT_THAT(exchanged(port, header_of(visitor) + request_for(path)), StartsWith("HTTP/1.1 200 ")) << version;
            EXPECT_EQ(origin.last(path).head.field("X-Seen"), std::string(visitor) + ":40000") << version;
        }
    }
}

TEST_F(Gateways, visitors_of_one_gateway_share_no_connection_to_the_origin) {
    NEEDS("haproxy");
    HttpBalancer inner("http-request set-header X-Seen %[src]", origin.port());
    auto const port = free_port();
    nlohmann::json const patch{{"listen",
                                {{{"address", "127.0.0.1:" + std::to_string(port)},
                                  {"origin", "http://127.0.0.1:" + std::to_string(inner.port)},
                                  {"origin_proxy_protocol", "v2"}}}},
                               {"forwarded_trust", {"127.0.0.1"}}};
    Proxy proxy(Proxy::Setup{.patch = patch.dump(), .port = port});
    Client gateway("127.0.0.1", port);
    for (auto const* visitor : {"192.0.2.7", "192.0.2.8", "192.0.2.9"}) {
        auto const path = std::string("/") + visitor;
        EXPECT_EQ(gateway.get(path, {{"X-Forwarded-For", visitor}}).status(), 200);
        EXPECT_EQ(origin.last(path).head.field("X-Seen"), visitor);
    }
    EXPECT_EQ(gateway.connections(), 1);
    EXPECT_EQ(proxy.stats()["origin"]["reused"], 0);
}

TEST_F(Gateways, a_peer_learns_the_client_also_of_a_tunnel) {
    auto const parent_port = free_port();
    nlohmann::json const of_parent{{"listen", listening_for_headers(parent_port)}, {"access", allowing_named_clients()}};
    Proxy parent(Proxy::Setup{.patch = of_parent.dump(), .port = parent_port});
    for (auto const* version : {"v1", "v2"}) {
        auto const child_port = free_port();
        nlohmann::json const peer{{"name", "parent"}, {"host", "127.0.0.1"}, {"http_port", parent_port},
                                  {"icp_port", 0},    {"no_query", true},    {"proxy_protocol", version}};
        nlohmann::json of_child{{"listen", listening_for_headers(child_port)}, {"access", allowing_named_clients()}};
        of_child["peers"].push_back(peer);
        of_child["direct"]["never"].push_back("all");
        Proxy child(Proxy::Setup{.patch = of_child.dump(), .port = child_port});
        for (auto const* client : {"192.0.2.7", "192.0.2.8"}) {
            auto const path = std::string("/") + version + client;
            EXPECT_THAT(exchanged(child_port, header_of(client) + request_for(origin.url(path))), StartsWith("HTTP/1.1 200 "));
            EXPECT_EQ(client_of(parent, path), client) << version;
        }
        Origin tunnelled;   // a separate one, so that its authority is in one line of the log
        auto page = no_store("in a tunnel");
        page.delimited = Delimited::by_close;   // the tunnel ends with it
        tunnelled.answer("/page", page);
        auto const tunnel = header_of("192.0.2.9") + "CONNECT " + tunnelled.authority() + " HTTP/1.1\r\nHost: x\r\n\r\n";
        EXPECT_THAT(exchanged(child_port, tunnel + request_for("/page")), HasSubstr("in a tunnel"));
        EXPECT_EQ(client_of(parent, tunnelled.authority()), "192.0.2.9") << version;
    }
}

TEST_F(Gateways, the_JSON_log_has_what_a_PROXY_header_says_beside_the_address) {
    using namespace std::string_literals;
    auto const port = free_port();
    nlohmann::json const patch{{"listen", listening_for_headers(port)}, {"access", allowing_named_clients()}};
    Proxy proxy(Proxy::Setup{.patch = patch.dump(), .port = port});
    auto const tlv = [](char type, std::string const& value) { return type + "\0"s + static_cast<char>(value.size()) + value; };
    auto const rest = "\xc0\x00\x02\x07\xc6\x33\x64\x01\x9c\x40\x01\xbb"s + tlv(2, "www.example.org") + tlv(5, "id\xff\"7");
    auto const header = "\r\n\r\n\0\r\nQUIT\n\x21\x11\0"s + static_cast<char>(rest.size()) + rest;
    EXPECT_THAT(exchanged(port, header + request_for(origin.url("/page"))), StartsWith("HTTP/1.1 200 "));
    auto const line = proxy.logged("/page").all;
    EXPECT_EQ(line["client"], "192.0.2.7");
    EXPECT_EQ(line["proxy_authority"], "www.example.org");
    EXPECT_EQ(line["proxy_unique_id"], "id\xc3\xbf\"7");
    EXPECT_THAT(exchanged(port, header_of("192.0.2.7") + request_for(origin.url("/none"))), StartsWith("HTTP/1.1 200 "));
    EXPECT_FALSE(proxy.logged("/none").all.contains("proxy_authority"));
}

}   // namespace garner::test
