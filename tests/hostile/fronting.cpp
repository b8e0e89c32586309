// Clients that try to keep a rule of interception from reading their tunnel: the proxy lets them go to an allowed host, which
// serves another one, too (domain fronting), or they hide what they say.
#include <chrono>

#include "hostile/hostile.hpp"
#include "story/tls/interception.hpp"
#include "support/handshake.hpp"

namespace garner::test {

namespace {

constexpr std::string_view access_denied{"\x15\x03\x01\x00\x02\x02\x31", 7};   // a fatal alert (RFC 8446 6.2)

/// An origin with two hosts behind one address, of which the rules allow and bump one.
struct Fronting : Interception {
    Certificate certificate = issued("DNS:bumped.test,DNS:evil.test");
    Origin origin{{.certificate = &certificate}};
    std::string const place = "bumped.test:" + std::to_string(origin.port());

    void SetUp() override {
        Interception::SetUp();
        origin.answer("/page", fresh("page"));
    }
    /// Nothing is learned: the clients of these scenes leave after their handshake.
    static std::string rules(std::string const& otherwise = "refuse") {
        json const allow{{"host", {"bumped.test", "127.0.0.1"}}, {"destination", "127.0.0.0/8"}, {"port", {"1-65535"}}};
        return json{{"access", {{{"allow", allow}}}}, {"bump", {{"otherwise", otherwise}, {"learn", "off"}}}}.dump();
    }
};

std::string hello_of(std::string const& server_name, std::initializer_list<std::string_view> protocols = {}) {
    Handshake client(server_name);
    if (protocols.size() > 0) client.offer(protocols);
    return client.next();
}

/// This ClientHello in records of at most `size` bytes.
std::string in_records(std::string const& hello, std::size_t size) {
    std::string out;
    for (std::size_t at = 5; at < hello.size(); at += size) {
        auto const part = hello.substr(at, size);
        out.append(hello, 0, 3)
            .append(1, static_cast<char>(part.size() >> 8))
            .append(1, static_cast<char>(part.size()))
            .append(part);
    }
    return out;
}

/// A ClientHello whose list of server names has another length than it says.
std::string malformed_hello() {
    auto hello = hello_of("bumped.test");
    auto const name = hello.find("bumped.test");
    hello[name - 1] = static_cast<char>(hello[name - 1] + 1);
    return hello;
}

/// A ClientHello of 70 KB, which never ends.
std::string endless_hello() {
    std::string out = std::string("\x16\x03\x01\x40\x00\x01\x01\x11\x70\x03\x03", 11) + std::string(16 * 1024 - 6, 'x');
    for (int record = 0; record < 4; ++record) out += std::string("\x16\x03\x01\x40\x00", 5) + std::string(16 * 1024, 'x');
    return out;
}

}   // namespace

TEST_F(Fronting, no_byte_of_a_client_leads_past_a_rule_that_bumps) {
    Proxy proxy(patch(bump_all, rules()));
    struct Row {
        char const* what;
        std::string bytes;
        std::string answer;   // the alert; empty: only the end
        char const* reason;
    };
    std::string const alert(access_denied), evil = hello_of("evil.test");
    std::vector<Row> const rows{
        {"another name", evil, alert, "the ClientHello names another host than CONNECT: evil.test"},
        {"another name in many records", in_records(evil, 1), alert, "the ClientHello names another host than CONNECT: evil.test"},
        {"a longer name", hello_of("bumped.test.evil.test"), alert,
         "the ClientHello names another host than CONNECT: bumped.test.evil.test"},
        {"an address as name", hello_of("192.0.2.1"), alert, "the ClientHello names another host than CONNECT: 192.0.2.1"},
        {"no name", hello_of(""), alert, "the ClientHello names no host"},
        {"no HTTP", hello_of("bumped.test", {"imap", "x"}), alert, "the client offers no HTTP protocol (ALPN)"},
        {"malformed", malformed_hello(), alert, "the ClientHello is malformed: "},
        {"without end", endless_hello(), alert, "the ClientHello is malformed: more than 64 KiB"},
        {"another record", evil.substr(0, 5) + "GET /page HTTP/1.1\r\n\r\n", alert, "the ClientHello is malformed: "},
        {"application data", "\x17" + evil.substr(1), "", "the client does not speak TLS"},
        {"SSH", "SSH-2.0-OpenSSH_9.2\r\n", "", "the client does not speak TLS"},
        {"HTTP", "GET /page HTTP/1.1\r\nHost: evil.test\r\n\r\n", "", "the client does not speak TLS"},
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
        auto const& row = rows[i];
        auto wire = tunnel_to(proxy, place);
        wire.send(row.bytes);
        EXPECT_EQ(wire.take_all(), row.answer) << row.what;
        auto const line = proxy.logged(place, i + 1);
        EXPECT_EQ(line.tag, "TCP_DENIED") << row.what;
        EXPECT_EQ(line.status, 200);
        EXPECT_THAT(std::string(line.all["reason"]), StartsWith("refused: " + std::string(row.reason))) << row.what;
        EXPECT_EQ(line.all["rule"], "bump.rules[0]: bump");
        EXPECT_FALSE(std::string(line.all["id"]).empty());
    }
    EXPECT_EQ(origin.connections(), 0u);
    auto const stats = proxy.stats();
    EXPECT_EQ(stats["bump"]["tunnels"]["refused"], rows.size());
    EXPECT_EQ(stats["bump"]["tunnels"]["spliced"], 0);
    EXPECT_EQ(stats["requests"]["refused"], rows.size());
    auto const& latest = stats["refusals"][0];
    EXPECT_EQ(latest["rule"], "bump.rules[0]: bump");
    EXPECT_EQ(latest["url"], place);
    auto const id = std::string(proxy.logged(place, rows.size()).all["id"]);
    auto const why = run({garner_binary(), "rules", "why", "--id", id, "--config", proxy.dir().path("garner.json").string()});
    EXPECT_THAT(why.errors, HasSubstr("the client does not speak TLS"));
}

TEST_F(Fronting, a_client_that_waits_or_drips_is_refused_after_three_seconds) {
    Proxy proxy(patch(bump_all, rules()));
    auto const hello = in_records(hello_of("bumped.test"), 1);
    auto const begun = std::chrono::steady_clock::now();
    auto silent = tunnel_to(proxy, place), half = tunnel_to(proxy, place), dripping = tunnel_to(proxy, place);
    half.send(std::string_view(hello).substr(0, 100));
    for (std::size_t at = 0; at < hello.size() && std::chrono::steady_clock::now() - begun < 4s; ++at) {
        dripping.send(std::string_view(hello).substr(at, 1));
        pause_for(Millis{10});
    }
    EXPECT_EQ(silent.take_all(), "");
    EXPECT_EQ(half.take_all(), access_denied);
    proxy.logged(place, 3);
    for (auto const& line : proxy.log()) {
        EXPECT_THAT(std::string(line.all["reason"]), StartsWith("refused: no complete ClientHello came within 3 s"));
        EXPECT_LT(line.all["elapsed_ms"], 4'500);
    }
    EXPECT_EQ(origin.connections(), 0u);
}

TEST_F(Fronting, a_client_that_leaves_before_its_ClientHello_is_no_refusal) {
    Proxy proxy(patch(bump_all, rules()));
    {
        auto wire = tunnel_to(proxy, place);
        wire.send(std::string_view(hello_of("bumped.test")).substr(0, 50));
    }
    EXPECT_EQ(proxy.logged(place).tag, "TCP_TUNNEL_ABORTED");
    EXPECT_EQ(proxy.stats()["refusals"].size(), 0u);
    EXPECT_EQ(origin.connections(), 0u);
}

TEST_F(Fronting, an_address_is_bumped_only_without_another_name) {
    Proxy proxy(patch(bump_all, rules()));
    auto const address = "127.0.0.1:" + std::to_string(origin.port());
    auto wire = tunnel_to(proxy, address);
    wire.send(hello_of("evil.test"));
    EXPECT_EQ(wire.take_all(), access_denied);
    EXPECT_EQ(origin.connections(), 0u);
    EXPECT_TRUE(shakes_hands(tunnel_to(proxy, address), Handshake(""), 100));
    EXPECT_EQ(proxy.stats()["bump"]["tunnels"]["bumped"], 1);
}

TEST_F(Fronting, a_ClientHello_for_the_host_is_bumped_in_any_pieces_and_spelling) {
    Proxy proxy(patch(bump_all, rules()));
    EXPECT_TRUE(shakes_hands(tunnel_to(proxy, place), Handshake("bumped.test"), 1));
    EXPECT_TRUE(shakes_hands(tunnel_to(proxy, place), Handshake("BUMPED.test"), 1'000));
    auto const port = std::to_string(origin.port());
    for (auto const& name : {"Bumped.TEST.:" + port, "%62umped.test:" + port})
        EXPECT_TRUE(shakes_hands(tunnel_to(proxy, name), Handshake("bumped.test"), 1'000)) << name;
    for (std::size_t const size : {1u, 2u, 3u, 200u}) {
        Handshake client("bumped.test");
        auto wire = tunnel_to(proxy, place);
        wire.send(in_records(client.next(), size));
        while (!client.is_done() && wire.receive() == Wire::Read::data) {
            client.receive(std::exchange(wire.buffer(), {}));
            wire.send(client.next());
        }
        EXPECT_TRUE(client.is_done()) << size;
    }
    auto const stats = proxy.stats();
    EXPECT_EQ(stats["bump"]["tunnels"]["bumped"], 8);
    EXPECT_EQ(stats["bump"]["tunnels"]["refused"], 0);
}

TEST_F(Fronting, real_clients_reach_the_hidden_host_only_with_otherwise_splice) {
    NEEDS("curl");
    NEEDS("openssl");
    Proxy refusing(patch(bump_all, rules())), splicing(patch(bump_all, rules("splice")));
    auto const port = std::to_string(origin.port());
    auto const front = [&](Proxy const& proxy) {   // curl sends CONNECT bumped.test, and the server name evil.test
        return curl(proxy, trusted,
                    {"--proxytunnel", "--connect-to", "evil.test:" + port + ":" + place, "https://evil.test:" + port + "/page"});
    };
    auto const refused = front(refusing);
    EXPECT_NE(refused.code, 0);
    EXPECT_THAT(refused.errors, HasSubstr("access denied"));
    EXPECT_EQ(origin.requests("/page"), 0u);
    EXPECT_EQ(origin.connections(), 0u);
    EXPECT_EQ(front(splicing).output, "page");   // the former default
    auto const shaken = run({"sh", "-c",
                             "openssl s_client -proxy 127.0.0.1:" + std::to_string(refusing.port()) + " -connect " + place +
                                 " -noservername </dev/null 2>&1"},
                            30s);
    EXPECT_THAT(shaken.output, HasSubstr("alert access denied"));
}

TEST_F(Fronting, a_stream_of_HTTP_2_gets_the_alert_too) {
    NEEDS("node");
    CertificateFiles own("localhost");
    Proxy proxy(Proxy::Setup{.patch = patch(bump_all, rules()), .tls = own.tls()});
    auto const file = dir.write("script.js", tunnel_in_a_stream(proxy, place) + R"(
s.on('error', (e) => process.stdout.write('stream: ' + e));
s.on('response', () => {
  const t = require('tls').connect({socket: s, servername: 'evil.test', rejectUnauthorized: false}, () => {
    process.stdout.write('connected'); c.close(); });
  t.on('error', (e) => { process.stdout.write(e.code); c.close(); });
});
)");
    EXPECT_EQ(run({"node", file}, 30s).output, "ERR_SSL_TLSV1_ALERT_ACCESS_DENIED");
    EXPECT_TRUE(eventually([&] { return proxy.stats()["http2"]["streams"]["now"] == 0; }));
    EXPECT_EQ(origin.connections(), 0u);
}

TEST_F(Fronting, a_denied_host_shows_no_page_to_another_name) {
    Proxy proxy(patch(
        bump_all,
        R"({"access": [{"deny": {"host": "bumped.test"}}, {"allow": {"destination": "127.0.0.0/8", "port": ["1-65535"]}}]})"));
    auto wire = tunnel_to(proxy, place);
    wire.send(hello_of("evil.test"));
    EXPECT_EQ(wire.take_all(), access_denied);
    EXPECT_EQ(origin.connections(), 0u);
}

TEST_F(Fronting, a_client_that_refuses_certificates_does_not_avoid_a_rule_about_paths) {
    NEEDS("curl");
    auto const denied =
        R"({"access": [{"deny": {"url_contains": "/secret"}}, {"allow": {"destination": "127.0.0.0/8", "port": ["1-65535"]}}]})";
    origin.answer("/secret", fresh("secret"));
    Proxy proxy(patch(bump_all, denied));
    auto const url = url_of("bumped.test", origin, "/secret");
    for (int refusal = 0; refusal < 3; ++refusal) EXPECT_EQ(curl(proxy, trusted, {url}).code, 60);
    EXPECT_EQ(curl(proxy, {"-w", "%{http_code}", "-o", "/dev/null", url}).output, "403");
    EXPECT_EQ(origin.requests("/secret"), 0u);
    EXPECT_EQ(proxy.stats()["bump"]["tunnels"]["spliced"], 0);
}

}   // namespace garner::test
