// TLS listeners: the handshake, SNI, keep-alive, a hang-up, and clients that speak the wrong protocol.
#include <signal.h>

#include "story/tls/secure_listener.hpp"

namespace garner::test {

namespace {

struct TlsListener : ::testing::Test {
    std::string metric(Proxy const& proxy, std::string const& line) {
        auto const text = proxy.metrics();
        auto const begin = text.find(line + " ");
        if (begin == text.npos) return "absent";
        auto const value = begin + line.size() + 1;
        return text.substr(value, text.find('\n', value) - value);
    }

    /// The access log and the messages name the listener that the client should not have used.
    void expect_listener_in_logs(Proxy const& proxy, std::uint16_t port, std::string const& why) {
        auto const listener = "127.0.0.1:" + std::to_string(port);
        EXPECT_THAT(std::string(proxy.logged("").all["reason"]), HasSubstr("(listener " + listener + ")"));
        EXPECT_TRUE(eventually([&] { return proxy.says("the latest: 127.0.0.1 at " + listener + ": " + why); })) << proxy.errors();
    }

    CertificateFiles files;
    Origin origin;
};

}   // namespace

TEST_F(TlsListener, a_forward_proxy_over_TLS_shares_its_cache_with_the_plain_listener) {
    origin.answer("/page", fresh("hello"));
    Proxy proxy(Proxy::Setup{.tls = files.tls()});
    auto client = secure_client(proxy);
    auto const first = client.get(origin.url("/page"));
    EXPECT_EQ(first.body(), "hello");
    EXPECT_EQ(first.outcome(), "uri-miss");
    EXPECT_TRUE(client.get(origin.url("/page")).hit());
    EXPECT_EQ(client.connections(), 1);
    EXPECT_TRUE(get(proxy, origin, "/page").hit());
    EXPECT_EQ(origin.requests("/page"), 1u);
}

TEST_F(TlsListener, the_line_at_the_start_says_how_to_point_a_browser_at_it) {
    Proxy proxy(Proxy::Setup{.tls = files.tls()});
    auto const port = std::to_string(proxy.secure());
    EXPECT_TRUE(proxy.says("127.0.0.1:" + port + " (TLS)")) << proxy.errors();
    EXPECT_TRUE(proxy.says("; proxy over TLS: chromium --proxy-server=https://NAME:" + port + ", or \"HTTPS NAME:" + port +
                           "\" in a PAC file, or: curl -x https://NAME:" + port + " "))
        << proxy.errors();
}

TEST_F(TlsListener, offers_its_PAC_file_by_both_versions_of_HTTP) {
    NEEDS("curl");
    Proxy proxy(Proxy::Setup{.tls = files.tls()});
    auto const place = "127.0.0.1:" + std::to_string(proxy.secure());
    for (std::string const version : {"--http1.1", "--http2"}) {
        auto const got =
            run({"curl", "-sSk", "--noproxy", "*", version, "-w", "%{http_version}", "https://" + place + "/proxy.pac"});
        EXPECT_THAT(got.output, HasSubstr("\"HTTPS " + place + "\"")) << version << got.errors;
        EXPECT_TRUE(got.output.ends_with(version == "--http2" ? "2" : "1.1")) << got.output;
    }
}

TEST_F(TlsListener, an_accelerator_over_TLS_tells_its_origin_so_and_keeps_its_objects_apart) {
    origin.answer("/page", fresh("hello"));
    Proxy proxy(Proxy::Setup{.accelerates = origin.url(), .tls = files.tls(), .secure_origin = origin.url()});
    auto secure = secure_client(proxy);
    EXPECT_EQ(secure.get("/page").body(), "hello");
    EXPECT_EQ(origin.last("/page").head.field("X-Forwarded-Proto"), "https");
    Client plain("127.0.0.1", proxy.accelerator());
    EXPECT_FALSE(plain.get("/page").hit());
    EXPECT_EQ(origin.last("/page").head.field("X-Forwarded-Proto"), "http");
    EXPECT_TRUE(secure.get("/page").hit());
    EXPECT_TRUE(plain.get("/page").hit());
}

TEST_F(TlsListener, a_purge_removes_both_objects_of_an_accelerated_URL) {
    origin.answer("/page", fresh("hello"));
    Proxy proxy(Proxy::Setup{
        .patch = R"({"purge": [{"allow": {}}]})", .accelerates = origin.url(), .tls = files.tls(), .secure_origin = origin.url()});
    auto secure = secure_client(proxy);
    Client plain("127.0.0.1", proxy.accelerator());
    EXPECT_EQ(secure.get("/page").body(), "hello");
    EXPECT_EQ(plain.get("/page").body(), "hello");
    EXPECT_EQ(plain.send("PURGE", "/page").status(), 200);
    EXPECT_FALSE(secure.get("/page").hit());
    EXPECT_FALSE(plain.get("/page").hit());
}

TEST_F(TlsListener, an_unsafe_request_over_TLS_invalidates_what_plain_clients_get) {
    origin.answer("/page", fresh("old"));
    Proxy proxy(Proxy::Setup{.accelerates = origin.url(), .tls = files.tls(), .secure_origin = origin.url()});
    auto secure = secure_client(proxy);
    Client plain("127.0.0.1", proxy.accelerator());
    EXPECT_EQ(plain.get("/page").body(), "old");
    EXPECT_EQ(secure.post("/page", "x").status(), 200);
    origin.answer("/page", fresh("new"));
    EXPECT_EQ(plain.get("/page").body(), "new");
}

TEST_F(TlsListener, a_body_of_twenty_mebibytes_arrives_and_a_slow_reader_gets_it_too) {
    auto const film = pattern(20 * 1024 * 1024);
    origin.answer("/film", fresh(film));
    Proxy proxy(Proxy::Setup{.tls = files.tls()});
    auto client = secure_client(proxy);
    EXPECT_TRUE(client.get(origin.url("/film")).body() == film);
    Client slow("127.0.0.1", proxy.secure());
    slow.receive_buffer(4096);
    slow.start_tls("proxy.test");
    auto const reply = slow.get(origin.url("/film"));
    pause_for(300ms);
    EXPECT_TRUE(reply.body() == film);
    auto const body = pattern(5'000'000, 3);
    origin.answer("/upload", no_store("taken"));
    EXPECT_EQ(client.post(origin.url("/upload"), body).body(), "taken");
    EXPECT_TRUE(origin.last("/upload").body == body);
}

TEST_F(TlsListener, pipelined_requests_are_answered_in_order) {
    origin.answer("/1", fresh("one"));
    origin.answer("/2", fresh("two"));
    Proxy proxy(Proxy::Setup{.tls = files.tls()});
    auto client = secure_client(proxy);
    auto const line = [&](char const* path) {
        return "GET " + origin.url(path) + " HTTP/1.1\r\nHost: " + origin.authority() + "\r\n\r\n";
    };
    ASSERT_TRUE(client.raw(line("/1") + line("/2") + line("/1")));
    EXPECT_EQ(client.expect().body(), "one");
    EXPECT_EQ(client.expect().body(), "two");
    EXPECT_EQ(client.expect().body(), "one");
}

TEST_F(TlsListener, a_client_that_leaves_ends_its_fetch) {
    origin.by_hand("/slow", [](Hand& hand) { hand.wire().receive(10s); });
    Proxy proxy(Proxy::Setup{.tls = files.tls()});
    {
        auto client = secure_client(proxy);
        client.send("GET", origin.url("/slow"), {{"Cache-Control", "no-cache"}});
        ASSERT_TRUE(eventually([&] { return origin.requests("/slow") == 1; }));
        client.close();
    }
    EXPECT_THAT(proxy.logged("/slow").tag, EndsWith("_ABORTED"));
}

TEST_F(TlsListener, the_certificate_is_chosen_by_SNI_and_the_first_one_serves_unknown_names) {
    CertificateFiles other("other.test");
    Proxy proxy(Proxy::Setup{.tls = R"({"certificates": [)" + files.item() + "," + other.item() + "]}"});
    EXPECT_EQ(secure_client(proxy, "other.test").wire().peer_certificate(), other.certificate.pem());
    EXPECT_EQ(secure_client(proxy, "proxy.test").wire().peer_certificate(), files.certificate.pem());
    EXPECT_EQ(secure_client(proxy, "third.test").wire().peer_certificate(), files.certificate.pem());
    EXPECT_EQ(secure_client(proxy, "").wire().peer_certificate(), files.certificate.pem());
}

TEST_F(TlsListener, clear_HTTP_gets_a_reason_in_clear) {
    Proxy proxy(Proxy::Setup{.patch = R"({"log": {"format": "json"}})", .tls = files.tls()});
    Client client("127.0.0.1", proxy.secure());
    auto const reply = client.get("http://example.test/");
    EXPECT_EQ(reply.status(), 400);
    EXPECT_THAT(reply.body(), HasSubstr("this port accepts TLS only"));
    EXPECT_TRUE(client.closed_by_proxy());
    EXPECT_EQ(metric(proxy, R"(garner_tls_handshakes_total{result="clear_text"})"), "1");
    expect_listener_in_logs(proxy, proxy.secure(), "the client does not speak TLS");
    EXPECT_EQ(Client("127.0.0.1", proxy.secure()).get("http://example.test/").status(), 400);
    pause_for(2'500ms);
    auto const errors = proxy.errors();
    std::string const notice = "TLS handshakes with clients that failed";
    EXPECT_EQ(errors.find(notice), errors.rfind(notice)) << "more than one in a minute: " << errors;
}

TEST_F(TlsListener, TLS_to_a_plain_port_gets_a_reason_in_clear) {
    Proxy proxy(R"({"log": {"format": "json"}})");
    Client client("127.0.0.1", proxy.port());
    ASSERT_TRUE(client.raw("\x16\x03\x01\x02\x00\x01\x00"));
    auto const reply = client.expect();
    EXPECT_EQ(reply.status(), 400);
    EXPECT_THAT(reply.body(), HasSubstr("this port accepts plain HTTP, not TLS"));
    expect_listener_in_logs(proxy, proxy.port(), "this port accepts plain HTTP, not TLS");
}

TEST_F(TlsListener, a_client_that_sends_nothing_or_nonsense_is_dropped_and_others_are_served) {
    origin.answer("/page", fresh("hello"));
    Proxy proxy(Proxy::Setup{.patch = R"({"deadlines": {"head": "300ms"}})", .tls = files.tls()});
    Client silent("127.0.0.1", proxy.secure());
    silent.wire();
    Client nonsense("127.0.0.1", proxy.secure());
    ASSERT_TRUE(nonsense.raw(std::string_view("\x16\x03\x01\x00\x08\x05\x00\x00\x04"
                                              "abcd",
                                              13)));
    EXPECT_EQ(secure_client(proxy).get(origin.url("/page")).body(), "hello");
    EXPECT_TRUE(silent.closed_by_proxy());
    EXPECT_TRUE(nonsense.closed_by_proxy());
    EXPECT_EQ(metric(proxy, R"(garner_tls_handshakes_total{result="timed_out"})"), "1");
    EXPECT_EQ(metric(proxy, R"(garner_tls_handshakes_total{result="other"})"), "1");
    EXPECT_EQ(metric(proxy, R"(garner_tls_handshakes_total{result="ok"})"), "1");
}

TEST_F(TlsListener, SIGTERM_ends_an_idle_connection_with_a_close_notify) {
    origin.answer("/page", fresh("hello"));
    Proxy proxy(Proxy::Setup{.tls = files.tls()});
    auto client = secure_client(proxy);
    EXPECT_EQ(client.get(origin.url("/page")).body(), "hello");
    proxy.signal(SIGTERM);
    EXPECT_EQ(client.wire().receive(), Wire::Read::end);
    EXPECT_TRUE(client.wire().closed_by_notify());
    EXPECT_EQ(proxy.ended(), 0);
}

}   // namespace garner::test
