// Clients behind a load balancer that names them by the PROXY protocol: a real HAProxy, and headers byte by byte.
#include "story/scene.hpp"
#include "support/programs.hpp"

namespace garner::test {

namespace {

constexpr auto listed = R"({
    "listen": [{"address": "127.0.0.1:PORT", "proxy_protocol": ["127.0.0.1"]}],
    "access": [{"allow": {"source": ["192.0.2.0/24"], "destination": ["127.0.0.0/8"], "port": ["1-65535"]}}, {"deny": "all"}]
})";

std::string patch_for(std::uint16_t port) { return filled_in(listed, {{"PORT", std::to_string(port)}}); }

constexpr auto haproxy = R"(
global
    stats timeout 5s
defaults
    mode tcp
    timeout connect 5s
    timeout client 30s
    timeout server 30s
listen one
    bind 127.0.0.1:FRONT accept-proxy
    server garner 127.0.0.1:ONWARD SEND
)";

/// Takes PROXY headers from the test, and sends its own.
struct Balancer {
    Balancer(std::uint16_t onward, std::string const& send) : port(free_port()) {
        auto const file =
            dir.write("haproxy.cfg",
                      filled_in(haproxy, {{"FRONT", std::to_string(port)}, {"ONWARD", std::to_string(onward)}, {"SEND", send}}));
        child = start_server({server_program("haproxy"), "-db", "-f", file}, port, dir.path("none"));
    }
    TempDir dir;
    std::uint16_t port;
    std::unique_ptr<Child> child;
};

struct BehindBalancer : ::testing::Test {
    BehindBalancer() {
        origin.otherwise([](Hand& hand) { hand.answer(fresh("page")); });
    }
    Origin origin;
    std::uint16_t const port = free_port();
    Proxy proxy{Proxy::Setup{.patch = patch_for(port), .port = port}};

    std::string request(std::string const& path) const {
        return "GET " + origin.url(path) + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    }
    std::string exchange(std::string const& bytes) const {
        auto wire = Wire::connect("127.0.0.1", port);
        wire.send(bytes);
        return wire.take_all();
    }
    int headers(char const* result) const { return proxy.stats()["connections"]["proxy_headers"][result]; }
};

}   // namespace

TEST_F(BehindBalancer, the_header_names_the_client_for_rules_and_log) {
    auto const reply = exchange("PROXY TCP4 192.0.2.7 198.51.100.1 40000 443\r\n" + request("/named"));
    EXPECT_THAT(reply, StartsWith("HTTP/1.1 200 "));
    EXPECT_EQ(proxy.logged("/named").all["client"], "192.0.2.7");
    EXPECT_THAT(exchange("PROXY TCP4 198.51.100.9 198.51.100.1 40000 443\r\n" + request("/other")), StartsWith("HTTP/1.1 403 "));
    EXPECT_EQ(headers("ok"), 2);
}

TEST_F(BehindBalancer, a_local_address_in_a_header_counts_as_the_balancer) {
    for (auto const* address : {"127.0.0.1", "127.9.9.9", "0.0.0.0"}) {
        auto const reply = exchange("PROXY TCP4 " + std::string(address) + " 198.51.100.1 40000 443\r\n" + request("/local"));
        EXPECT_THAT(reply, StartsWith("HTTP/1.1 403 ")) << address;
        EXPECT_EQ(proxy.logged("/local").all["client"], "127.0.0.1");
    }
    for (auto const* address : {"::1", "::", "::ffff:127.0.0.1"}) {
        auto const reply = exchange("PROXY TCP6 " + std::string(address) + " 2001:db8::1 40000 443\r\n" + request("/local6"));
        EXPECT_THAT(reply, StartsWith("HTTP/1.1 403 ")) << address;
        EXPECT_EQ(proxy.logged("/local6").all["client"], "127.0.0.1");
    }
    EXPECT_THAT(exchange("PROXY UNKNOWN\r\n" + request("/unknown")), StartsWith("HTTP/1.1 403 "));
}

TEST_F(BehindBalancer, a_connection_without_a_header_is_closed_without_a_byte) {
    EXPECT_EQ(exchange(request("/bare")), "");
    EXPECT_EQ(exchange("PROXY TCP4 192.0.2.7\r\n" + request("/short")), "");
    EXPECT_TRUE(eventually([&] { return headers("absent") >= 1 && headers("malformed") == 1; }));
    Client client(proxy, origin);
    EXPECT_NE(client.get("/direct").trouble(), "");
}

TEST_F(BehindBalancer, a_header_in_pieces_is_read_and_a_client_that_ends_in_it_is_counted) {
    auto wire = Wire::connect("127.0.0.1", port);
    for (char const byte : std::string("PROXY TCP4 192.0.2.7 198.51.100.1 40000 443\r\n")) {
        wire.send({&byte, 1});
        pause_for(Millis{2});
    }
    wire.send(request("/pieces"));
    EXPECT_THAT(wire.take_all(), StartsWith("HTTP/1.1 200 "));
    auto const before = headers("closed");
    Wire::connect("127.0.0.1", port).send("PROXY TC");
    EXPECT_TRUE(eventually([&] { return headers("closed") > before; }));
}

TEST_F(BehindBalancer, HAProxy_names_its_clients_by_both_versions) {
    NEEDS("haproxy");
    for (auto const* send : {"send-proxy", "send-proxy-v2", "send-proxy-v2 proxy-v2-options crc32c,unique-id,authority"}) {
        Balancer balancer(port, send);
        auto wire = Wire::connect("127.0.0.1", balancer.port);
        wire.send("PROXY TCP6 2001:db8::7 2001:db8::1 40000 443\r\n" + request("/six"));
        EXPECT_THAT(wire.take_all(), StartsWith("HTTP/1.1 403 ")) << send;
        EXPECT_EQ(proxy.logged("/six").all["client"], "2001:db8::7") << send;
        auto four = Wire::connect("127.0.0.1", balancer.port);
        four.send("PROXY TCP4 192.0.2.8 198.51.100.1 40000 443\r\n" + request("/four"));
        EXPECT_THAT(four.take_all(), StartsWith("HTTP/1.1 200 ")) << send;
        EXPECT_EQ(proxy.logged("/four").all["client"], "192.0.2.8") << send;
        auto dual = Wire::connect("127.0.0.1", balancer.port);
        dual.send("PROXY TCP6 ::ffff:192.0.2.9 ::ffff:198.51.100.1 40000 443\r\n" + request("/dual"));
        EXPECT_THAT(dual.take_all(), StartsWith("HTTP/1.1 200 ")) << send << ": the sender listens for both families";
        EXPECT_EQ(proxy.logged("/dual").all["client"], "192.0.2.9") << send;
    }
    EXPECT_EQ(headers("malformed") + headers("checksum"), 0);
}

TEST_F(BehindBalancer, curl_sends_a_header_too) {
    NEEDS("curl");
    auto const done =
        run({"curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--haproxy-protocol", "-x", proxy.url(), origin.url("/curl")});
    EXPECT_EQ(done.output, "403") << done.errors << "its address is that of this machine";
}

TEST(Balancer, that_is_not_listed_is_told_which_key_lists_it) {
    using namespace std::string_literals;
    Proxy proxy;
    auto const v2 = "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\x00\x02\x07\xc6\x33\x64\x01\x9c\x40\x01\xbb"s;
    for (auto const& header : {"PROXY TCP4 192.0.2.7 198.51.100.1 40000 443\r\n"s, "PROXY UNKNOWN\r\n"s, v2}) {
        auto wire = Wire::connect("127.0.0.1", proxy.port());
        wire.send(header + "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n");
        EXPECT_THAT(wire.take_all(),
                    AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr("add the address of the sender to listen[].proxy_protocol")));
    }
    EXPECT_TRUE(eventually([&] { return proxy.log().size() >= 3; }));
    for (auto const& line : proxy.log()) EXPECT_EQ(line.all.value("client", ""), "127.0.0.1") << "the header is used for nothing";
}

TEST(Balancer, is_closed_and_counted_if_its_header_is_late_or_fails_its_checksum) {
    using namespace std::string_literals;
    auto const port = free_port();
    auto patch = nlohmann::json::parse(patch_for(port));
    patch["deadlines"]["head"] = "500ms";
    Proxy proxy(Proxy::Setup{.patch = patch.dump(), .port = port});
    auto const headers = [&](char const* result) { return proxy.stats()["connections"]["proxy_headers"][result].get<int>(); };
    auto wrong = Wire::connect("127.0.0.1", port);
    wrong.send("\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x13\xc0\x00\x02\x07\xc6\x33\x64\x01\x9c\x40\x01\xbb\x03\0\x04"s + "abcd");
    EXPECT_EQ(wrong.take_all(), "");
    EXPECT_TRUE(eventually([&] { return headers("checksum") == 1; }));
    auto late = Wire::connect("127.0.0.1", port);
    late.send("PROXY TCP4 192.0.2.7 ");
    EXPECT_EQ(late.take_all(), "");
    EXPECT_TRUE(eventually([&] { return headers("timed_out") >= 1; }));
    EXPECT_EQ(headers("ok"), 0);
}

TEST(Balancer, names_clients_whose_connections_are_counted_by_network) {
    auto const port = free_port();
    auto patch = nlohmann::json::parse(patch_for(port));
    patch["limits"]["connections_per_client"] = 2;
    patch["limits"]["client_prefix4"] = 24;
    Proxy proxy(Proxy::Setup{.patch = patch.dump(), .port = port});
    auto const connect_for = [&](std::string const& client) {
        auto wire = Wire::connect("127.0.0.1", port);
        wire.send("PROXY TCP4 " + client + " 198.51.100.1 40000 443\r\n");
        return wire;
    };
    auto const answer_for = [&](std::string const& client) {
        auto wire = connect_for(client);
        wire.send("OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        return wire.take_all();
    };
    auto const named = [&] { return proxy.stats()["connections"]["proxy_headers"]["ok"].get<int>(); };
    std::vector<Wire> open;
    for (auto const* client : {"192.0.2.7", "192.0.2.8"}) open.push_back(connect_for(client));
    ASSERT_TRUE(eventually([&] { return named() == 2; }));
    EXPECT_EQ(answer_for("192.0.2.9"), "");
    EXPECT_TRUE(eventually([&] {
        auto const log = proxy.log();
        return std::any_of(log.begin(), log.end(), [](Logged const& line) {
            return line.status == 429 && line.all.value("client", "") == "192.0.2.9" &&
                   line.all.value("reason", "") == "limits.connections_per_client";
        });
    }));
    EXPECT_THAT(answer_for("198.51.100.9"), StartsWith("HTTP/1.1 ")) << "another network, by the same balancer";
    open.clear();
    EXPECT_TRUE(eventually([&] { return answer_for("192.0.2.9").starts_with("HTTP/1.1 "); }));
}

TEST(Balancer, may_have_a_quarter_of_all_connections_without_a_header) {
    auto const port = free_port();
    auto patch = nlohmann::json::parse(patch_for(port));
    patch["limits"]["connections_max"] = 40;
    Proxy proxy(Proxy::Setup{.patch = patch.dump(), .port = port});
    auto const open = [&] { return proxy.stats()["connections"]["now"].get<int>(); };
    ASSERT_TRUE(eventually([&] { return open() == 0; }));
    std::vector<Wire> silent;
    for (int i = 0; i < 10; ++i) silent.push_back(Wire::connect("127.0.0.1", port));
    ASSERT_TRUE(eventually([&] { return open() == 10; }));
    auto const refused = proxy.stats()["connections"]["refused"].get<int>();
    EXPECT_EQ(Wire::connect("127.0.0.1", port).take_all(), "");
    EXPECT_EQ(proxy.stats()["connections"]["refused"], refused + 1);
    silent.front().send("PROXY TCP4 192.0.2.7 198.51.100.1 40000 443\r\n");   // it counts as one of that client now
    EXPECT_TRUE(eventually([&] { return proxy.stats()["connections"]["proxy_headers"]["ok"] == 1; }));
    auto wire = Wire::connect("127.0.0.1", port);
    wire.send("PROXY TCP4 192.0.2.8 198.51.100.1 40000 443\r\nOPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    EXPECT_THAT(wire.take_all(), StartsWith("HTTP/1.1 "));
}

}   // namespace garner::test
