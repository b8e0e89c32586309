// Requests inside of decrypted tunnels, as their attackers would write them, and the client that they belong to.
#include "story/tls/interception.hpp"
#include "support/connection_login.hpp"
#include "support/handshake.hpp"
#include "support/raw_http2.hpp"
#include "support/websocket.hpp"

namespace garner::test {

namespace {

using namespace h2;   // the frames

/// A client of HTTP/2 inside of a tunnel to `place`, whose host is bumped.test.
RawHttp2 inside_of(Proxy const& proxy, std::string const& place) { return RawHttp2(tunnel_to(proxy, place), "bumped.test"); }

}   // namespace

TEST_F(Interception, a_ClientHello_may_come_in_pieces) {
    auto const certificate = issued("DNS:bumped.test");
    Origin origin({.certificate = &certificate});
    Proxy proxy(patch(bump_all));
    auto const place = "bumped.test:" + std::to_string(origin.port());
    EXPECT_TRUE(shakes_hands(tunnel_to(proxy, place), Handshake("bumped.test"), 7));
    EXPECT_EQ(proxy.stats()["bump"]["tunnels"]["bumped"], 1);
    EXPECT_FALSE(shakes_hands(tunnel_to(proxy, place), Handshake("bumped.test", 150), 700));   // no protocol of it is known
    EXPECT_EQ(proxy.stats()["bump"]["tunnels"]["refused"], 1);
}

TEST_F(Interception, HTTP_2_inside_cannot_leave_the_tunnel) {
    auto const certificate = issued("DNS:bumped.test");
    Origin origin({.certificate = &certificate}), other;
    origin.answer("/page", no_store("hello"));
    Proxy proxy(patch(bump_all));
    auto const place = "bumped.test:" + std::to_string(origin.port());
    auto const other_place = other.authority(), other_port = "bumped.test:" + std::to_string(other.port());
    auto client = inside_of(proxy, place);
    struct Row {
        WireFields fields;
        std::string url;
        int status;
    };
    std::vector<Row> const rows{
        {{{":method", "GET"}, {":scheme", "http"}, {":authority", place}, {":path", "/clear"}}, "/clear", 421},
        {{{":method", "GET"}, {":scheme", "https"}, {":authority", "other.test"}, {":path", "/name"}}, "/name", 421},
        {{{":method", "GET"}, {":scheme", "https"}, {":authority", "bumped.test"}, {":path", "/443"}}, "/443", 421},
        {{{":method", "GET"}, {":scheme", "https"}, {":authority", other_port}, {":path", "/port"}}, "/port", 421},
        {{{":method", "CONNECT"}, {":authority", other_place}}, other_place, 400},
    };
    std::uint32_t stream = 1;
    for (auto const& row : rows) {
        ASSERT_TRUE(client.send(request_frame(stream, row.fields, row.fields.size() == 2 ? no_flag : end_stream)));
        EXPECT_EQ(proxy.logged(row.url).status, row.status) << row.url;
        stream += 2;
    }
    ASSERT_TRUE(
        client.send(request_frame(stream, {{":method", "GET"}, {":scheme", "https"}, {":authority", place}, {":path", "/page"}})));
    EXPECT_TRUE(client.receives("hello", 1));
    EXPECT_EQ(origin.connections(), 1u);
    EXPECT_EQ(other.connections(), 0u);
}

TEST_F(Interception, a_WebSocket_speaks_inside_by_extended_CONNECT) {
    auto const certificate = issued("DNS:bumped.test");
    Origin origin({.certificate = &certificate});
    origin.by_hand("/chat", websocket_echo);
    Proxy proxy(patch(bump_all));
    auto const place = "bumped.test:" + std::to_string(origin.port());
    auto client = inside_of(proxy, place);
    WireFields const opening{{":method", "CONNECT"}, {":protocol", "websocket"}, {":scheme", "https"},
                             {":authority", place},  {":path", "/chat"},         {"sec-websocket-version", "13"}};
    ASSERT_TRUE(client.send(request_frame(1, opening, no_flag)));
    ASSERT_TRUE(client.send(frame(data_frame, no_flag, 1, websocket_frame("hello", true))));
    EXPECT_TRUE(client.receives(websocket_frame("hello", false), 1));
}

TEST_F(Interception, requests_inside_have_the_certificate_of_their_client) {
    NEEDS("curl");
    auto const certificate = issued("DNS:bumped.test");
    Origin origin({.certificate = &certificate});
    for (auto const* path : {"/page", "/secret"}) origin.answer(path, no_store("page"));
    CertificateFiles own("localhost"), alice("alice.test");
    Proxy proxy(Proxy::Setup{.patch = patch(bump_all, R"({"access": [
        {"deny": {"certificate": ["alice.test"], "url_contains": ["/secret"]}},
        {"allow": {"certificate": ["any"], "destination": ["127.0.0.0/8"], "port": ["1-65535"]}},
        {"deny": "all"}]})"),
                             .tls = own.tls(R"(, "client_required": false, "client_ca": ")" + alice.chain() + "\"")});
    auto const visit = [&](std::string const& path, std::vector<std::string> const& more) {
        std::vector<std::string> command{"curl",
                                         "-sS",
                                         "--max-time",
                                         "30",
                                         "-x",
                                         "https://localhost:" + std::to_string(proxy.secure()),
                                         "--proxy-cacert",
                                         own.chain(),
                                         "--cacert",
                                         root,
                                         "-w",
                                         " %{http_code}",
                                         url_of("bumped.test", origin, path)};
        command.insert(command.end(), more.begin(), more.end());
        return run(command, 40s).output;
    };
    for (std::string const version : {"--http1.1", "--http2"}) {
        std::vector<std::string> const by_alice{version, "--proxy-cert", alice.chain(), "--proxy-key", alice.key()};
        EXPECT_EQ(visit("/page", by_alice), "page 200") << version;
        EXPECT_THAT(visit("/secret", by_alice), EndsWith(" 403")) << version;
        EXPECT_THAT(visit("/page", {version}), EndsWith(" 403")) << version;
    }
    EXPECT_EQ(proxy.logged("/secret").all.value("user", ""), "alice.test");
    EXPECT_EQ(origin.requests("/page"), 2u);
    EXPECT_EQ(origin.requests("/secret"), 0u);
}

TEST_F(Interception, quotas_count_and_refuse_requests_inside) {
    auto const certificate = issued("DNS:bumped.test");
    Origin origin({.certificate = &certificate});
    origin.answer("/kept", fresh(pattern(100'000)));
    origin.answer("/large", no_store(pattern(1'200'000)));
    origin.answer("/small", no_store("small"));
    Proxy proxy(patch(bump_all, R"({"quotas": [{"name": "guests", "bytes": "1 MB", "per": "month"}]})"));
    auto const asked = [&](std::string const& path, std::string const& version) {
        return curl(proxy,
                    {version, "-o", "/dev/null", "-w", "%{http_code} %{size_download}", url_of("bumped.test", origin, path)});
    };
    EXPECT_EQ(asked("/kept", "--http2").output, "200 100000");
    auto const cut = asked("/large", "--http1.1");
    EXPECT_NE(cut.code, 0) << "a running body is ended: " << cut.output;
    for (auto const* version : {"--http1.1", "--http2"}) {
        EXPECT_THAT(asked("/small", version).output, StartsWith("429 ")) << version;
        EXPECT_EQ(asked("/kept", version).output, "200 100000") << version << ": a stored response is sent";
    }
    EXPECT_EQ(origin.requests("/small"), 0u);
    auto const rows = proxy.stats()["quotas"];
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_GT(rows[0]["bytes"], 1'000'000);
    EXPECT_LT(rows[0]["bytes"], 2'000'000);
}

TEST_F(Interception, a_login_that_belongs_to_a_connection_is_of_no_use_to_another_client) {
    auto const certificate = issued("DNS:bumped.test");
    Origin origin({.certificate = &certificate});
    origin.by_hand("/inbox", logs_connections_in());
    Proxy proxy(patch(bump_all));
    auto const place = "bumped.test:" + std::to_string(origin.port());
    auto const begin = [&](Client& client) {
        EXPECT_EQ(client.connect_to(place).status(), 200);
        client.start_tls("bumped.test");
    };
    Client alice(proxy), mallory(proxy);
    begin(alice);
    EXPECT_EQ(alice.get("/inbox").status(), 401);
    EXPECT_EQ(alice.get("/inbox", {{"Authorization", "NTLM alice"}}).body(), "mail of NTLM alice");
    EXPECT_EQ(alice.get("/inbox").body(), "mail of NTLM alice") << "her connection";
    begin(mallory);
    EXPECT_EQ(mallory.get("/inbox").status(), 401);
    EXPECT_EQ(mallory.get("/inbox", {{"Authorization", "ntlm mallory"}}).body(), "mail of ntlm mallory");
    EXPECT_EQ(alice.get("/inbox").body(), "mail of NTLM alice");
    EXPECT_EQ(Client(proxy).get("https://" + place + "/inbox").status(), 401);
}

}   // namespace garner::test
