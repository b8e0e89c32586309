// Interception: tunnels that Garner decrypts, with its own CA, by rules.
#include <signal.h>

#include <atomic>
#include <filesystem>
#include <future>

#include "story/tls/interception.hpp"
#include "support/websocket.hpp"

namespace garner::test {

namespace {

/// SHA-256 of the public key of the signing certificate, for Chromium's --ignore-certificate-errors-spki-list.
std::string spki_of(std::string const& chain_file) {
    auto const hash = run({"sh", "-c",
                           "openssl x509 -pubkey -noout -in " + chain_file +
                               " | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | openssl base64"});
    return hash.output.substr(0, hash.output.find('\n'));
}

}   // namespace

TEST_F(Interception, a_bumped_page_is_stored_and_shared_with_absolute_form) {
    NEEDS("curl");
    auto const certificate = issued("DNS:bumped.test");
    Origin origin({.certificate = &certificate});
    origin.answer("/page?secret=1", fresh("page"));
    Proxy proxy(patch(bump_all));
    for (std::string const version : {"--http1.1", "--http2"}) {
        auto const got = curl(proxy, {version, "-w", " %{http_version}", url_of("bumped.test", origin, "/page?secret=1")});
        EXPECT_EQ(got.output, version == "--http2" ? "page 2" : "page 1.1") << got.errors;
    }
    EXPECT_EQ(origin.requests("/page?secret=1"), 1u);
    EXPECT_EQ(origin.connections(), 1u);   // the connection that was verified is used
    Client client(proxy);
    EXPECT_TRUE(client.get(url_of("bumped.test", origin, "/page?secret=1")).hit());
    EXPECT_EQ(proxy.logged("/page", 2).all["http"], "2.0");   // the query is not logged
    EXPECT_TRUE(proxy.says("decrypts HTTPS to all hosts")) << proxy.errors();
}

TEST_F(Interception, a_host_that_a_request_has_verified_is_not_connected_to_for_its_certificate) {
    NEEDS("curl");
    auto const certificate = issued("DNS:bumped.test");
    Origin origin({.certificate = &certificate});
    origin.answer("/page", {.fields = {{"Cache-Control", "max-age=600"}, {"Connection", "close"}}, .body = "page"});
    Proxy proxy(patch(bump_all));
    auto const url = url_of("bumped.test", origin, "/page");
    Client client(proxy);
    EXPECT_EQ(client.get(url).body(), "page");
    EXPECT_EQ(curl(proxy, {url}).output, "page");
    EXPECT_EQ(origin.connections(), 1u);
}

TEST_F(Interception, without_the_root_curl_refuses_the_certificate_and_is_spliced_after_two_refusals) {
    NEEDS("curl");
    auto const certificate = issued("DNS:pinned.test");
    Origin origin({.certificate = &certificate});
    origin.answer("/page", fresh("page"));
    Proxy proxy(patch(bump_all));
    auto const url = url_of("pinned.test", origin, "/page");
    for (int refusal = 0; refusal < 2; ++refusal) EXPECT_EQ(curl(proxy, trusted, {url}).code, 60);
    ASSERT_TRUE(eventually([&] { return proxy.log().size() >= 2; }));
    EXPECT_EQ(curl(proxy, trusted, {url}).output, "page");
    EXPECT_EQ(curl(proxy, {url}).code, 60);   // the origin's own certificate
    auto const config = proxy.dir().path("garner.json").string();
    EXPECT_THAT(run({garner_binary(), "explain", url, "--config", config}).output,
                HasSubstr("spliced: the client refused minted certificates of this host; until "));
    auto const pins = [&](std::vector<std::string> const& more) {
        std::vector<std::string> command{garner_binary(), "ca", "pins", "--config", config};
        command.insert(command.end(), more.begin(), more.end());
        return run(command).output;
    };
    EXPECT_THAT(pins({}), HasSubstr("pinned.test"));
    EXPECT_EQ(pins({"--erase", "pinned.test"}), "erased 1 pin\n");
    EXPECT_EQ(curl(proxy, {url}).output, "page");
}

TEST_F(Interception, the_rules_splice_and_terminate) {
    NEEDS("curl");
    auto const certificate = issued("DNS:spliced.test,DNS:ended.test,DNS:bumped.test");
    Origin origin({.certificate = &certificate});
    origin.answer("/page", fresh("page"));
    Proxy proxy(patch(R"([{"splice": {"host": "spliced.test"}}, {"terminate": {"host": "ended.test"}}, {"bump": {}}])"));
    EXPECT_EQ(curl(proxy, trusted, {url_of("spliced.test", origin, "/page")}).output, "page");
    EXPECT_NE(curl(proxy, trusted, {url_of("ended.test", origin, "/page")}).code, 0);
    EXPECT_EQ(curl(proxy, {url_of("bumped.test", origin, "/page")}).output, "page");
}

TEST_F(Interception, without_rules_nothing_is_inspected) {
    NEEDS("curl");
    auto const certificate = issued("DNS:bumped.test");
    Origin origin({.certificate = &certificate});
    origin.answer("/page", fresh("page"));
    Proxy proxy(patch("[]"));
    EXPECT_EQ(curl(proxy, trusted, {url_of("bumped.test", origin, "/page")}).output, "page");
    EXPECT_THAT(proxy.errors(), Not(HasSubstr("decrypts")));
}

TEST_F(Interception, bytes_that_are_no_TLS_may_be_spliced) {
    Origin origin;
    origin.answer("/page", fresh("page"));
    Proxy proxy(patch(bump_all, R"({"bump": {"otherwise": "splice"}})"));
    Client client(proxy);
    EXPECT_EQ(client.connect_to(origin.authority()).status(), 200);
    EXPECT_EQ(client.get("/page").body(), "page");
}

TEST_F(Interception, an_invalid_origin_is_mimicked_and_nothing_is_stored) {
    NEEDS("curl");
    auto const expired = issued("DNS:bumped.test", -60);
    auto const self_signed = issued("DNS:bumped.test", 86'400, true);
    auto const misnamed = issued("DNS:elsewhere.test");
    Proxy proxy(patch(bump_all));
    for (auto const* certificate : {&expired, &self_signed, &misnamed}) {
        Origin origin({.certificate = certificate});
        origin.answer("/page", fresh("page"));
        auto const url = url_of("bumped.test", origin, "/page");
        EXPECT_EQ(curl(proxy, {url}).code, 60);
        EXPECT_EQ(origin.requests("/page"), 0u);
        for (int visit = 0; visit < 2; ++visit) EXPECT_EQ(curl(proxy, {"--insecure", url}).output, "page");
        EXPECT_EQ(origin.requests("/page"), 2u);
    }
    EXPECT_EQ(proxy.stats()["bump"]["refused"], 0);   // refused because of the origin: nothing is learned
    EXPECT_EQ(proxy.stats()["bump"]["tunnels"]["spliced"], 0);
}

TEST_F(Interception, an_invalid_origin_may_get_a_page_or_an_end) {
    NEEDS("curl");
    auto const expired = issued("DNS:bumped.test", -60);
    Origin origin({.certificate = &expired});
    origin.answer("/page", fresh("page"));
    auto const url = url_of("bumped.test", origin, "/page");
    Proxy proxy(patch(bump_all, R"({"bump": {"invalid": "page"}})"));
    auto const page = curl(proxy, {"-w", "%{http_code}", url});
    EXPECT_THAT(page.output, EndsWith("502")) << page.errors;
    EXPECT_THAT(page.output, HasSubstr("certificate has expired"));
    Proxy ending(patch(bump_all, R"({"bump": {"invalid": "terminate"}})"));
    EXPECT_NE(curl(ending, {"--insecure", url}).code, 0);
    EXPECT_EQ(origin.requests("/page"), 0u);
}

TEST_F(Interception, a_denied_host_shows_its_page) {
    NEEDS("curl");
    Proxy proxy(patch(bump_all, R"({"access": [{"deny": {"host": "bumped.test"}}, {"allow": {"port": ["1-65535"]}}]})"));
    auto const page = curl(proxy, {"-w", "%{http_code}", "https://bumped.test/page"});
    EXPECT_THAT(page.output, EndsWith("403")) << page.errors;
}

TEST_F(Interception, an_unreachable_origin_shows_its_page) {
    NEEDS("curl");
    Proxy proxy(patch(bump_all));
    auto const page = curl(proxy, {"-w", "%{http_code}", "https://bumped.test:" + std::to_string(free_port()) + "/page"});
    EXPECT_THAT(page.output, EndsWith("502")) << page.errors;
}

TEST_F(Interception, another_host_inside_is_421) {
    NEEDS("curl");
    auto const certificate = issued("DNS:bumped.test");
    Origin origin({.certificate = &certificate});
    origin.answer("/page", fresh("page"));
    Proxy proxy(patch(bump_all));
    auto const url = url_of("bumped.test", origin, "/page");
    for (std::string const version : {"--http1.1", "--http2"})
        EXPECT_THAT(curl(proxy, {version, "-w", "%{http_code}", "-H", "Host: other.test", url}).output, EndsWith("421"));
    EXPECT_EQ(origin.requests("/page"), 0u);
}

TEST_F(Interception, cookies_of_bumped_responses_are_never_stored) {
    NEEDS("curl");
    auto const certificate = issued("DNS:bumped.test");
    Origin origin({.certificate = &certificate});
    origin.answer("/page", {.fields = {{"Cache-Control", "public, s-maxage=600"}, {"Set-Cookie", "a=b"}}, .body = "page"});
    Proxy proxy(patch(bump_all));
    for (int visit = 0; visit < 2; ++visit) EXPECT_EQ(curl(proxy, {url_of("bumped.test", origin, "/page")}).output, "page");
    EXPECT_EQ(origin.requests("/page"), 2u);
}

TEST_F(Interception, the_root_is_at_a_fixed_path) {
    Proxy proxy(patch(bump_all));
    Client client("127.0.0.1", proxy.port());
    auto const reply = client.get("/garner-internal/ca.crt");
    EXPECT_EQ(reply.status(), 200);
    EXPECT_EQ(reply.body(), read_file(root));
    EXPECT_EQ(reply.field("Content-Type"), "application/x-x509-ca-cert");
}

TEST_F(Interception, a_tunnel_through_an_HTTPS_proxy_is_bumped) {
    NEEDS("curl");
    auto const certificate = issued("DNS:bumped.test");
    Origin origin({.certificate = &certificate});
    auto const film = pattern(2'000'000);
    origin.answer("/film", fresh(film));
    Certificate own("localhost");
    auto const chain = dir.write("own.pem", own.pem()), key = dir.write("own.key", own.key_pem());
    Proxy proxy(Proxy::Setup{.patch = patch(bump_all),
                             .tls = R"({"certificates": [{"chain": ")" + chain + R"(", "key": ")" + key + R"("}]})"});
    auto const got = run({"curl", "-sS", "--max-time", "30", "-x", "https://localhost:" + std::to_string(proxy.secure()),
                          "--proxy-cacert", chain, "--cacert", root, url_of("bumped.test", origin, "/film")},
                         40s);
    EXPECT_TRUE(got.output == film) << got.errors;
}

TEST_F(Interception, returning_clients_resume_their_sessions) {
    NEEDS("openssl");
    auto const certificate = issued("DNS:bumped.test");
    Origin origin({.certificate = &certificate});
    origin.answer("/", fresh("page"));
    Proxy proxy(patch(bump_all));
    auto const session = dir.path("session").string();
    auto const visit = [&](std::string const& option) {
        return run({"sh", "-c",
                    "printf 'GET / HTTP/1.0\\r\\nHost: bumped.test:" + std::to_string(origin.port()) +
                        "\\r\\n\\r\\n' | openssl s_client -proxy 127.0.0.1:" + std::to_string(proxy.port()) +
                        " -connect bumped.test:" + std::to_string(origin.port()) + " -servername bumped.test -ign_eof " + option +
                        " " + session + " 2>&1"},
                   30s)
            .output;
    };
    EXPECT_THAT(visit("-sess_out"), HasSubstr("New, TLSv1.3"));
    int resumed = 0;
    for (int i = 0; i < 20; ++i) resumed += visit("-sess_in").find("Reused, TLSv1.3") != std::string::npos;
    EXPECT_GE(resumed, 19);
}

TEST_F(Interception, the_splice_list_comes_before_the_rules) {
    NEEDS("curl");
    auto const certificate = issued("DNS:www.paypal.com");
    Origin origin({.certificate = &certificate});
    origin.answer("/page", fresh("page"));
    json more{{"dns", {{"hosts_file", dir.write("listed", "127.0.0.1 www.paypal.com\n")}}}};
    auto const url = url_of("www.paypal.com", origin, "/page");
    {
        Proxy proxy(patch(bump_all, more.dump()));
        EXPECT_EQ(curl(proxy, trusted, {url}).output, "page");
    }
    more["bump"]["splice_list"] = false;
    Proxy proxy(patch(bump_all, more.dump()));
    EXPECT_EQ(curl(proxy, {url}).output, "page");
}

TEST_F(Interception, a_host_outside_the_name_constraints_is_spliced) {
    NEEDS("curl");
    auto const certificate = issued("DNS:bumped.test,DNS:other.test");
    Origin origin({.certificate = &certificate});
    origin.answer("/page", fresh("page"));
    auto const narrow = dir.path("narrow").string();
    auto const config = dir.write("narrow.json", R"({"bump": {"rules": [{"bump": {"host": "bumped.test"}}]}})");
    ASSERT_EQ(run({garner_binary(), "ca", "init", narrow, "--config", config}).code, 0);
    Proxy proxy(patch(bump_all, json{{"bump", {{"ca_chain", narrow + "/chain.pem"}, {"ca_key", narrow + "/ca.key"}}}}.dump()));
    EXPECT_EQ(curl(proxy, narrow + "/root.pem", {url_of("bumped.test", origin, "/page")}).output, "page");
    EXPECT_EQ(curl(proxy, trusted, {url_of("other.test", origin, "/page")}).output, "page");
}

TEST_F(Interception, a_reload_takes_another_CA) {
    NEEDS("curl");
    auto const certificate = issued("DNS:bumped.test");
    Origin origin({.certificate = &certificate});
    origin.answer("/page", fresh("page"));
    auto const newer = dir.path("newer").string();
    ASSERT_EQ(run({garner_binary(), "ca", "init", newer, "--any-host"}).code, 0);
    Proxy proxy(patch(bump_all));
    auto const url = url_of("bumped.test", origin, "/page");
    EXPECT_EQ(curl(proxy, {url}).output, "page");
    proxy.reconfigure(json{{"bump", {{"ca_chain", newer + "/chain.pem"}, {"ca_key", newer + "/ca.key"}}}}.dump());
    proxy.signal(SIGHUP);
    ASSERT_TRUE(eventually([&] { return proxy.errors().find("configuration reloaded") != std::string::npos; }));
    EXPECT_EQ(curl(proxy, newer + "/root.pem", {url}).output, "page");   // no certificate of the old CA is left
    EXPECT_EQ(curl(proxy, root, {url}).code, 60);
}

TEST_F(Interception, a_reload_takes_another_CA_from_the_same_files) {
    NEEDS("curl");
    auto const certificate = issued("DNS:bumped.test");
    Origin origin({.certificate = &certificate});
    origin.answer("/page", fresh("page"));
    auto const newer = dir.path("newer").string();
    ASSERT_EQ(run({garner_binary(), "ca", "init", newer, "--any-host"}).code, 0);
    Proxy proxy(patch(bump_all));
    auto const url = url_of("bumped.test", origin, "/page");
    EXPECT_EQ(curl(proxy, {url}).output, "page");
    for (std::string const file : {"/chain.pem", "/ca.key"})
        std::filesystem::copy_file(newer + file, ca + file, std::filesystem::copy_options::overwrite_existing);
    proxy.signal(SIGHUP);
    ASSERT_TRUE(eventually([&] { return proxy.says("configuration reloaded: no key changed; "); })) << proxy.errors();
    for (auto const* change : {"new", "removed"})
        EXPECT_TRUE(proxy.says(change + std::string(" certificate: O = Garner"))) << proxy.errors();
    EXPECT_TRUE(proxy.says(" (bump.ca_chain), valid until ")) << proxy.errors();
    EXPECT_TRUE(eventually([&] { return curl(proxy, newer + "/root.pem", {url}).output == "page"; }));
    EXPECT_EQ(curl(proxy, root, {url}).code, 60);
}

TEST_F(Interception, a_reload_takes_other_rules_and_refuses_a_faulty_CA) {
    NEEDS("curl");
    auto const certificate = issued("DNS:bumped.test");
    Origin origin({.certificate = &certificate});
    origin.answer("/page", fresh("page"));
    Proxy proxy(patch("[]"));
    auto const url = url_of("bumped.test", origin, "/page");
    EXPECT_EQ(curl(proxy, trusted, {url}).output, "page");
    proxy.reconfigure(R"({"bump": {"rules": [{"bump": {}}]}})");
    proxy.signal(SIGHUP);
    ASSERT_TRUE(eventually([&] { return proxy.errors().find("configuration reloaded") != std::string::npos; }));
    EXPECT_EQ(curl(proxy, {url}).output, "page");
    proxy.reconfigure(R"({"bump": {"ca_key": "/nonexistent"}})");
    proxy.signal(SIGHUP);
    ASSERT_TRUE(eventually([&] { return proxy.errors().find("bump.ca_key: /nonexistent") != std::string::npos; }));
    EXPECT_EQ(curl(proxy, {url}).output, "page");
}

TEST_F(Interception, explain_says_what_happens_to_a_tunnel) {
    Proxy proxy(patch(R"([{"splice": {"host": "spliced.test"}}, {"terminate": {"host": "ended.test"}}, {"bump": {}}])"));
    auto const explained = [&](std::string const& name) {
        return run({garner_binary(), "explain", "https://" + name + "/", "--config", proxy.dir().path("garner.json").string()})
            .output;
    };
    EXPECT_THAT(explained("spliced.test"), HasSubstr("spliced: bump.rules[0]: splice"));
    EXPECT_THAT(explained("ended.test"), HasSubstr("terminated: bump.rules[1]: terminate"));
    auto const bumped = explained("bumped.test");
    EXPECT_THAT(bumped, HasSubstr("bumped, if the ClientHello names this host and offers HTTP, otherwise refused: bump.rules[2]"));
    EXPECT_THAT(bumped, HasSubstr("tunnelled: requests inside are inspected"));
    EXPECT_THAT(bumped, Not(HasSubstr("without inspection")));
    EXPECT_THAT(bumped, HasSubstr("connecting to 127.0.0.1: allowed"));   // the way to the origin
    auto const with_hello = [&](std::string const& server_name) {
        return run({garner_binary(), "explain", "-X", "CONNECT", "bumped.test:443", "--sni", server_name, "--config",
                    proxy.dir().path("garner.json").string()})
            .output;
    };
    EXPECT_THAT(with_hello("Bumped.test."), HasSubstr("bumped: bump.rules[2]: bump"));
    EXPECT_THAT(
        with_hello("other.test"),
        HasSubstr("refused: the ClientHello names another host than CONNECT: other.test (bump.otherwise; bump.rules[2]: bump"));
    EXPECT_THAT(with_hello("-"), HasSubstr("refused: the ClientHello names no host"));
    EXPECT_THAT(with_hello("ended.test"), HasSubstr("terminated: the ClientHello names a host of bump.rules[1]: terminate"));
    EXPECT_THAT(run({garner_binary(), "explain", "http://bumped.test/", "--sni", "other.test", "--config",
                     proxy.dir().path("garner.json").string()})
                    .errors,
                HasSubstr("sni is for a tunnel"));
}

TEST_F(Interception, a_browser_that_knows_the_CA_loads_a_page) {
    NEEDS("chromium");
    NEEDS("openssl");
    auto const certificate = issued("DNS:bumped.test");
    Origin origin({.certificate = &certificate});
    origin.answer("/page", {.fields = {{"Content-Type", "text/html"}, {"Cache-Control", "max-age=600"}},
                            .body = "<!DOCTYPE html><link rel=icon href=data:,><p id=result></p>"
                                    "<script>result.textContent = location.protocol + ' works over ' + "
                                    "performance.getEntriesByType('navigation')[0].nextHopProtocol</script>"});
    CertificateFiles const files;
    Proxy proxy(patch(bump_all));
    auto const url = url_of("bumped.test", origin, "/page");
    auto const flag = "--ignore-certificate-errors-spki-list=" + spki_of(ca + "/chain.pem");
    EXPECT_THAT(browse(url, proxy.url(), {flag}), HasSubstr("https: works over h2"));
    EXPECT_EQ(origin.requests("/page"), 1u);
    Client client(proxy);
    EXPECT_TRUE(client.get(url).hit());
    auto const another = "--ignore-certificate-errors-spki-list=" + files.certificate.spki_hash();
    EXPECT_THROW(browse(url, proxy.url(), {another}), Trouble);   // ERR_CERT_AUTHORITY_INVALID
}

TEST_F(Interception, a_client_that_verifies_by_another_CA_is_spliced_after_two_alerts) {
    NEEDS("openssl");
    auto const certificate = issued("DNS:pinned.test");
    Origin origin({.certificate = &certificate});
    Proxy proxy(patch(bump_all));
    auto const place = "pinned.test:" + std::to_string(origin.port());
    auto const visit = [&] {
        return run({"sh", "-c",
                    "openssl s_client -proxy 127.0.0.1:" + std::to_string(proxy.port()) + " -connect " + place +
                        " -servername pinned.test -verify_return_error -CAfile " + trusted + " </dev/null 2>&1"},
                   30s)
            .output;
    };
    for (std::size_t refusal = 1; refusal <= 2; ++refusal) {
        EXPECT_THAT(visit(), HasSubstr("verify error"));
        proxy.logged(place, refusal);
    }
    EXPECT_THAT(visit(), HasSubstr("Verify return code: 0 (ok)"));
    EXPECT_EQ(proxy.stats()["bump"]["refused"], 2);
    EXPECT_EQ(proxy.stats()["bump"]["tunnels"]["spliced"], 1);
}

TEST_F(Interception, a_WebSocket_speaks_inside) {
    auto const certificate = issued("DNS:bumped.test");
    Origin origin({.certificate = &certificate});
    origin.by_hand("/chat", websocket_echo);
    Proxy proxy(patch(bump_all));
    Client client(proxy);
    ASSERT_EQ(client.connect_to("bumped.test:" + std::to_string(origin.port())).status(), 200);
    client.start_tls("bumped.test");
    auto const reply = client.get("/chat", {{"Upgrade", "websocket"},
                                            {"Connection", "Upgrade"},
                                            {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
                                            {"Sec-WebSocket-Version", "13"}});
    ASSERT_EQ(reply.status(), 101);
    client.raw(websocket_frame("hello", true));
    EXPECT_EQ(take_websocket_frame(client.wire()), "hello");
}

TEST_F(Interception, a_WebSocket_that_is_reset_after_its_half_close_ends_at_once) {
    NEEDS("node");
    auto const certificate = issued("DNS:bumped.test");
    Origin origin({.certificate = &certificate});
    std::promise<void> over;
    auto const is_over = over.get_future().share();
    std::atomic<int> half_closed{0};
    origin.by_hand("/chat", [&](Hand& hand) {
        hand.leave();
        hand.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
        hand.wire().take_all();
        ++half_closed;
        is_over.wait();
    });
    CertificateFiles own("localhost");
    Proxy proxy(Proxy::Setup{.patch = patch(bump_all), .tls = own.tls()});
    auto const place = "bumped.test:" + std::to_string(origin.port());
    auto const now = [&](char const* protocol) { return proxy.stats()["connections"]["protocols"][protocol].get<int>(); };
    Client client(proxy);
    ASSERT_EQ(client.connect_to(place).status(), 200);
    client.start_tls("bumped.test");
    ASSERT_EQ(client.get("/chat", {{"Upgrade", "websocket"}, {"Connection", "Upgrade"}}).status(), 101);
    client.half_close();
    ASSERT_TRUE(eventually([&] { return half_closed == 1; }));
    EXPECT_EQ(now("http1"), 2);   // the tunnel and the connection inside
    client.reset();
    EXPECT_TRUE(eventually([&] { return now("http1") == 0; }));

    auto const file = dir.write("script.js", tunnel_in_a_stream(proxy, place) + R"(
s.on('error', () => {});
s.on('response', () => {
  const t = require('tls').connect({socket: s, servername: 'bumped.test', ca: require('fs').readFileSync(root)}, () => {
    t.write('GET /chat HTTP/1.1\r\nHost: ' + place + '\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'); });
  t.once('data', () => { t.end(); setTimeout(() => s.close(8), 1000); });
  t.on('error', () => {});
});
)");
    Child const in_a_stream({"node", file});   // keeps its connection
    EXPECT_TRUE(eventually([&] { return half_closed == 2; }));
    EXPECT_TRUE(eventually([&] { return proxy.stats()["http2"]["streams"]["now"] == 0; }));
    EXPECT_EQ(now("http2"), 1);
    over.set_value();
}

TEST_F(Interception, an_idle_bumped_connection_does_not_delay_the_end) {
    auto const certificate = issued("DNS:bumped.test");
    Origin origin({.certificate = &certificate});
    origin.answer("/page", fresh("page"));
    Proxy proxy(patch(bump_all));
    Client client(proxy);
    ASSERT_EQ(client.connect_to("bumped.test:" + std::to_string(origin.port())).status(), 200);
    client.start_tls("bumped.test");
    EXPECT_EQ(client.get("/page").body(), "page");
    auto const begun = std::chrono::steady_clock::now();
    proxy.stop();
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 5s);
}

TEST_F(Interception, a_bumped_request_goes_through_a_parent) {
    auto const certificate = issued("DNS:bumped.test");
    Origin origin({.certificate = &certificate});
    origin.answer("/page", fresh("page"));
    Proxy parent(R"({"dns": {"hosts_file": ")" + hosts + R"("}})");
    Proxy proxy(patch(
        bump_all, R"({"direct": {"never": [{}]}, "peers": [{"name": "parent", "host": "127.0.0.1", "icp_port": 0, "http_port": )" +
                      std::to_string(parent.port()) + "}]}"));
    auto const got = curl(proxy, {url_of("bumped.test", origin, "/page")});
    EXPECT_EQ(got.output, "page") << got.errors;
    EXPECT_EQ(parent.logged(std::to_string(origin.port())).method, "CONNECT");
    auto const explained =
        run({garner_binary(), "explain", "https://bumped.test/", "--config", proxy.dir().path("garner.json").string()});
    EXPECT_THAT(explained.output, AllOf(HasSubstr("bumped, if the ClientHello"), HasSubstr("FIRSTUP_PARENT/parent")));
}

TEST_F(Interception, a_tunnel_in_an_HTTP_2_stream_is_bumped) {
    NEEDS("node");
    auto const certificate = issued("DNS:bumped.test");
    Origin origin({.certificate = &certificate});
    auto const film = pattern(2'000'000);
    origin.answer("/film", fresh(film));
    CertificateFiles own("localhost");
    Proxy proxy(Proxy::Setup{.patch = patch(bump_all), .tls = own.tls()});
    auto const place = "bumped.test:" + std::to_string(origin.port());
    auto const file = dir.write("script.js", tunnel_in_a_stream(proxy, place) + R"(
s.on('response', (h) => {
  const t = require('tls').connect({socket: s, servername: 'bumped.test', ca: require('fs').readFileSync(root)}, () => {
    t.write('GET /film HTTP/1.1\r\nHost: ' + place + '\r\nConnection: close\r\n\r\n'); });
  let n = 0; t.on('data', (d) => n += d.length);
  t.on('error', (e) => { process.stdout.write(String(e)); c.close(); });
  t.on('end', () => { process.stdout.write(h[':status'] + ' ' + (n > 2000000)); c.close(); });
});
)");
    auto const finished = run({"node", file}, 30s);
    EXPECT_EQ(finished.output, "200 true") << finished.errors;
}

TEST_F(Interception, a_client_that_resets_the_stream_of_its_bumped_tunnel_leaves_at_once) {
    NEEDS("node");
    auto const certificate = issued("DNS:bumped.test");
    Origin origin({.certificate = &certificate});
    auto held = origin.hold("/held");
    CertificateFiles own("localhost");
    Proxy proxy(Proxy::Setup{.patch = patch(bump_all), .tls = own.tls()});
    auto const place = "bumped.test:" + std::to_string(origin.port());
    auto const file = dir.write("script.js", tunnel_in_a_stream(proxy, place) + R"(
s.on('error', () => {});
s.on('response', () => {
  const t = require('tls').connect({socket: s, servername: 'bumped.test', ca: require('fs').readFileSync(root)}, () => {
    t.write('GET /held HTTP/1.1\r\nHost: ' + place + '\r\n\r\n');
    setTimeout(() => s.close(8), 1000); });
  t.on('error', () => {});
});
)");
    Child const client({"node", file});   // keeps its connection
    auto& exchange = held.nth(0);
    EXPECT_TRUE(exchange.abandoned(5s));
    EXPECT_TRUE(eventually([&] { return proxy.stats()["http2"]["streams"]["now"] == 0; }));
    EXPECT_EQ(proxy.stats()["connections"]["protocols"]["http2"], 1);
    exchange.close();
}

}   // namespace garner::test
