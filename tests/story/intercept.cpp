// Interception on a router: a client, a router with nftables and Garner, and an origin with many addresses, each in a network
// namespace of its own. curl, openssl and Chromium do not know the proxy.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <functional>

#include "story/scene.hpp"
#include "support/fake_dns.hpp"
#include "support/handshake.hpp"
#include "support/hosts.hpp"
#include "support/programs.hpp"

namespace garner::test {

namespace {

using Words = std::vector<std::string>;

void ip(Namespace const& where, std::string const& commands) {
    TempDir const dir;
    auto const file = dir.write("commands", commands);
    auto const done = where.run([&] { return run({"ip", "-batch", file}); });
    if (done.code != 0) throw Trouble("ip: " + done.errors + " of\n" + commands);
}

/// The local address of a connection: "10.8.0.101", "fd08::101".
std::string local_address(int socket) {
    sockaddr_storage at{};
    socklen_t size = sizeof at;
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&at), &size);
    char text[INET6_ADDRSTRLEN]{};
    ::inet_ntop(AF_INET6, &reinterpret_cast<sockaddr_in6&>(at).sin6_addr, text, sizeof text);
    std::string const address(text);
    return address.starts_with("::ffff:") ? address.substr(7) : address;
}

constexpr int first = 101, last = 120;
std::string v4(int number) { return "10.8.0." + std::to_string(number); }
std::string v6(int number) { return "fd08::" + std::to_string(number); }

std::string addresses_of_origin() {
    std::string commands;
    for (int i = first; i <= last; ++i) {
        commands += "address add " + v4(i) + "/24 dev eth0\n";
        commands += "address add " + v6(i) + "/64 dev eth0 nodad\n";
    }
    return commands;
}

/// The networks of client and origin, which know each other by the router only.
struct Networks {
    Networks() {
        ip(router, "link set lo up\nlink add lan0 type veth peer name eth0 netns " + client.path() +
                       "\nlink add wan0 type veth peer name eth0 netns " + far.path() +
                       "\naddress add 10.7.0.1/24 dev lan0\naddress add fd07::1/64 dev lan0 nodad\n"
                       "address add 10.8.0.1/24 dev wan0\naddress add fd08::1/64 dev wan0 nodad\n"
                       "link set lan0 up\nlink set wan0 up\n");
        ip(client, "link set lo up\naddress add 10.7.0.2/24 dev eth0\naddress add fd07::2/64 dev eth0 nodad\nlink set eth0 up\n"
                   "route add default via 10.7.0.1\nroute add ::/0 via fd07::1\n");
        ip(far, "link set lo up\n" + addresses_of_origin() + "link set eth0 up\n");
    }
    Namespace client, router, far;
};

constexpr auto configuration = R"({
    "listen": [{"address": ":PORT", "intercept": "HOW"}],
    "dns": {"servers": ["DNS"]},
    "access": [
        {"deny": {"host": "blocked.example"}},
        {"allow": {"host": "door.example", "source": ["10.7.0.0/24", "fd07::/64"]}},
        {"deny": {"host": "door.example"}},
        {"allow": {"source": ["10.7.0.0/24", "fd07::/64", "10.8.0.1"]}}
    ]
})";

struct Intercept : ::testing::TestWithParam<char const*> {
    void SetUp() override {
        NEEDS_HOSTS();
        NEEDS("nft");
        NEEDS("curl");
        networks.emplace();
        dns = networks->router.run([] { return std::make_unique<FakeDns>(); });
        for (auto const* host : {"shop.example", "door.example", "blocked.example", "tls.example"})
            dns->set(host, {.v4 = {v4(101), v4(102)}, .v6 = {v6(101), v6(102)}});
        start_origins();
        auto const patch = filled_in(configuration, {{"PORT", std::to_string(port)}, {"HOW", GetParam()}, {"DNS", dns->server()}});
        proxy = networks->router.run([&] { return std::make_unique<Proxy>(Proxy::Setup{.patch = patch, .port = port}); });
        before = intercept("--check");
        auto const script = dir.write("script", intercept("--print").output);
        set = networks->router.run([&] { return run({"sh", script}); });
    }

    void start_origins() {
        auto const tell = [](Hand& hand) { hand.answer(fresh(local_address(hand.wire().fd()))); };
        web = networks->far.run([] { return std::make_unique<Origin>(Origin::Setup{.address = "::", .port = 80}); });
        secure = networks->far.run(
            [this] { return std::make_unique<Origin>(Origin::Setup{.address = "::", .certificate = &certificate, .port = 443}); });
        web->otherwise(tell);
        secure->otherwise(tell);
    }

    Finished garner(Words words) const {
        words.insert(words.begin(), garner_binary());
        words.insert(words.end(), {"--config", proxy->dir().path("garner.json").string()});
        return networks->router.run([&] { return run(words); });
    }
    Finished intercept(std::string const& what) const { return garner({"intercept", what, "--interface", "lan0"}); }

    Finished at_client(Words const& words) const {
        return networks->client.run([&] { return run(words, Millis{60'000}); });
    }
    /// `to`: the address that the client believes to be that of the host.
    std::string curl(std::string const& url, std::string const& to, Words const& more = {}) const {
        auto const host = url.substr(url.find("//") + 2, url.find('/', 8) - url.find("//") - 2);
        auto const service = host + (url.starts_with("https") ? ":443:" : ":80:");
        Words words{"curl", "-s", "-i", "--max-time", "30", "--resolve", service + (to.find(':') == to.npos ? to : "[" + to + "]")};
        words.insert(words.end(), more.begin(), more.end());
        words.push_back(url);
        return at_client(words).output;
    }
    Wire wire(std::string const& address, std::uint16_t to) const {
        return networks->client.run([&] { return Wire::connect(address, to); });
    }
    int begun(char const* result) const {
        auto const stats = networks->router.run([&] { return proxy->stats(); });
        return stats["connections"]["intercepted"][result];
    }

    TempDir const dir;
    Certificate const certificate{"tls.example"};
    std::uint16_t const port = free_port();
    std::optional<Networks> networks;
    std::unique_ptr<FakeDns> dns;
    std::unique_ptr<Origin> web, secure;
    std::unique_ptr<Proxy> proxy;
    Finished before{}, set{};
};

INSTANTIATE_TEST_SUITE_P(By, Intercept, ::testing::Values("redirect", "tproxy"),
                         [](auto const& kind) { return std::string(kind.param); });

std::string answer_of(Wire wire, std::string const& bytes) {
    wire.send(bytes);
    wire.half_close();
    return wire.take_all(Millis{10'000});
}

}   // namespace

TEST_P(Intercept, check_names_what_is_missing_until_the_printed_script_has_run) {
    EXPECT_EQ(before.code, 1) << before.errors;
    EXPECT_THAT(before.output, HasSubstr("missing: fib daddr type local return (garner intercept --print"));
    EXPECT_EQ(before.errors, "");
    EXPECT_EQ(set.code, 0) << set.errors;
    auto const after = intercept("--check");
    EXPECT_EQ(after.code, 0) << after.output << after.errors;
    EXPECT_EQ(after.output + after.errors, "");
    auto const again = networks->router.run([&] { return run({"sh", dir.path("script")}); });
    EXPECT_EQ(again.code, 0) << again.errors;
    EXPECT_EQ(intercept("--check").code, 0);
    networks->router.run([] { return run({"nft", "flush", "ruleset"}); });
    EXPECT_EQ(intercept("--check").code, 1);
}

TEST_P(Intercept, http_goes_to_the_address_that_the_client_chose_and_is_stored) {
    for (auto const& address : {v4(102), v6(101)}) {
        auto const url = "http://shop.example/" + address;
        EXPECT_THAT(curl(url, address), AllOf(StartsWith("HTTP/1.1 200 "), EndsWith(address)));
        EXPECT_THAT(curl(url, address), AllOf(HasSubstr("; hit"), EndsWith(address)));
        EXPECT_EQ(web->requests("/" + address), 1u);
        EXPECT_EQ(web->last("/" + address).head.field("Host"), "shop.example");
        EXPECT_EQ(proxy->logged(url, 2).all["client"], address == v4(102) ? "10.7.0.2" : "fd07::2");
    }
    EXPECT_THAT(curl("http://blocked.example/", v4(101)), StartsWith("HTTP/1.1 403 "));
    EXPECT_EQ(dns->queries("blocked.example").udp, 0) << "the rules deny the host, whatever DNS says";
    EXPECT_EQ(begun("direct"), 1) << "that of the test itself";
    EXPECT_THAT(answer_of(wire(v4(103), 80), "GET /ten HTTP/1.0\r\n\r\n"), EndsWith(v4(103)));
    EXPECT_THAT(answer_of(wire(v4(103), 80), "CONNECT shop.example:443 HTTP/1.1\r\nHost: shop.example\r\n\r\n"),
                HasSubstr(" 400 "));
}

TEST_P(Intercept, a_false_name_opens_nothing_and_leaves_the_store_alone) {
    EXPECT_THAT(curl("http://shop.example/page", v4(101)), EndsWith(v4(101)));
    auto const other = curl("http://shop.example/page", v4(120));
    EXPECT_THAT(other, AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("unverified host"), EndsWith(v4(120))));
    EXPECT_THAT(curl("http://shop.example/page", v4(120), {"-X", "POST"}), StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(curl("http://shop.example/page", v4(120), {"-X", "PURGE"}), StartsWith("HTTP/1.1 403 "));
    EXPECT_THAT(curl("http://shop.example/page", v4(101)), AllOf(HasSubstr("; hit"), EndsWith(v4(101))));
    EXPECT_THAT(curl("http://10.8.0.101/literal", v4(101)), AllOf(StartsWith("HTTP/1.1 200 "), Not(HasSubstr("unverified"))));

    EXPECT_THAT(curl("http://door.example/", v4(101)), StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(curl("http://door.example/", v4(120)), StartsWith("HTTP/1.1 403 "));
    EXPECT_THAT(curl("http://blocked.example/", v4(120)), StartsWith("HTTP/1.1 403 "));
    EXPECT_THAT(curl("http://nowhere.example/", v4(120)), AllOf(StartsWith("HTTP/1.1 200 "), EndsWith(v4(120))));
}

TEST_P(Intercept, a_name_that_rotates_over_twenty_addresses_is_never_refused) {
    FakeDns::Name name{.ttl = 1, .rotates = true};
    for (int i = first; i <= last; ++i) name.v4.push_back(v4(i));
    dns->set("many.example", name);
    for (int i = first; i <= last; ++i) {
        auto const answer = curl("http://many.example/" + v4(i), v4(i));
        EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200 "), EndsWith(v4(i)))) << "the address that the client chose";
    }
    auto const is_hit = [&] { return curl("http://many.example/later", v4(first)).find("; hit") != std::string::npos; };
    EXPECT_TRUE(eventually(is_hit, Millis{60'000})) << "DNS has given each address during the last day";
}

TEST_P(Intercept, tls_is_passed_on_by_its_server_name_without_decryption) {
    auto const trusted = dir.write("certificate.pem", certificate.pem());
    for (auto const& address : {v4(101), v6(102)}) {
        auto const url = "https://tls.example/" + address;
        EXPECT_THAT(curl(url, address, {"--http1.1", "--cacert", trusted}), AllOf(StartsWith("HTTP/1.1 200 "), EndsWith(address)));
    }
    auto const logged = proxy->logged("tls.example:443", 2);
    EXPECT_EQ(logged.method, "CONNECT");
    EXPECT_EQ(logged.tag, "TCP_TUNNEL");
    NEEDS("openssl");
    auto const s_client = [&](std::string const& address, Words const& more) {
        Words words{"openssl", "s_client", "-connect", address + ":443"};
        words.insert(words.end(), more.begin(), more.end());
        return at_client(words);
    };
    EXPECT_THAT(s_client(v4(101), {"-servername", "blocked.example"}).errors, HasSubstr("alert number 49"));
    EXPECT_THAT(s_client("[" + v6(101) + "]", {"-servername", "blocked.example"}).errors, HasSubstr("alert number 49"));
    EXPECT_THAT(s_client(v4(120), {"-servername", "door.example"}).errors, HasSubstr("alert number 49")) << "a false name";
    EXPECT_THAT(s_client(v4(103), {"-noservername"}).output, HasSubstr("CN = tls.example"));
    EXPECT_EQ(proxy->logged(v4(103) + ":443").status, 200) << "without a name the address is the host";
    EXPECT_EQ(proxy->logged("blocked.example:443").status, 403);
}

TEST_P(Intercept, a_client_hello_may_come_in_pieces) {
    EXPECT_TRUE(shakes_hands(wire(v4(101), 443), Handshake("tls.example"), 1));
    EXPECT_TRUE(shakes_hands(wire(v6(101), 443), Handshake("tls.example", 150), 700)) << "more than two packets";
    EXPECT_EQ(proxy->logged("tls.example:443", 2).status, 200);
}

TEST_P(Intercept, Chromium_sends_a_post_quantum_client_hello) {
    NEEDS("chromium");
    auto const page = networks->client.run([&] {
        return browse("https://tls.example/browser", "",
                      {"--host-resolver-rules=MAP tls.example " + v4(102), "--ignore-certificate-errors"});
    });
    EXPECT_THAT(page, HasSubstr(v4(102)));
    EXPECT_EQ(proxy->logged("tls.example:443").status, 200);
}

TEST_P(Intercept, a_client_hello_that_is_cut_or_wrong_is_closed_and_counted) {
    auto const hello = Handshake("tls.example").next();
    EXPECT_EQ(answer_of(wire(v4(101), 443), hello.substr(0, 40)), "");
    EXPECT_TRUE(eventually([&] { return begun("closed") == 1; }));
    EXPECT_EQ(answer_of(wire(v4(101), 443), "\x16 GET / HTTP/1.1\r\n\r\n"), "");
    EXPECT_EQ(begun("not_tls"), 1);
    std::string const too_long("\x16\x03\x01\x40\x00\x01\x01\x00\x00", 9);   // a message of 64 KiB
    EXPECT_EQ(answer_of(wire(v4(101), 443), too_long), "");
    EXPECT_EQ(begun("malformed"), 1);
    EXPECT_EQ(secure->connections(), 0u);
}

TEST_P(Intercept, a_client_that_connects_to_the_proxy_itself_is_refused) {
    for (auto const* address : {"10.7.0.1", "fd07::1"}) {
        auto const answer = answer_of(wire(address, port), "GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n");
        EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr("listen[].intercept"))) << address;
    }
    EXPECT_EQ(begun("direct"), 3) << "and that of the test itself";
    EXPECT_EQ(web->connections(), 0u);
    EXPECT_THAT(curl("http://shop.example/still", v4(101)), StartsWith("HTTP/1.1 200 "));
}

TEST_P(Intercept, a_firewall_that_diverts_the_proxy_itself_makes_no_endless_loop) {
    bool const by_redirect = GetParam() == std::string("redirect");   // else the listener gets connections to itself
    NEEDS("openssl");
    auto const rules = dir.write("output", "table ip mistake {\nchain outgoing {\ntype nat hook output priority -100\n"
                                           "ip daddr 10.8.0.0/24 tcp dport { 80, 443 } redirect to :" +
                                               std::to_string(port) + "\n}\n}\n");
    auto const done = networks->router.run([&] { return run({"nft", "-f", rules}); });
    EXPECT_EQ(done.code, 0) << done.errors;
    auto const at_router = [&](Words const& words) { return networks->router.run([&] { return run(words); }); };
    EXPECT_EQ(at_router({"curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "http://" + v4(101) + "/"}).output,
              by_redirect ? "508" : "400");
    EXPECT_NE(at_router({"openssl", "s_client", "-connect", v4(101) + ":443", "-servername", "tls.example"}).code, 0);
    EXPECT_EQ(begun("loop"), by_redirect ? 1 : 0);
    EXPECT_EQ(begun("tls"), by_redirect ? 1 : 0);
}

TEST_P(Intercept, explain_tells_of_requests_to_an_address) {
    auto const explained = [&](std::string const& url, std::string const& to) {
        auto const finished = garner({"explain", url, "--intercepted", to, "--client", "10.7.0.2", "--json"});
        EXPECT_EQ(finished.code, 0) << finished.errors;
        return nlohmann::json::parse(finished.output);
    };
    auto told = explained("http://door.example/", v4(101));
    EXPECT_EQ(told["outcome"], "miss") << told;
    EXPECT_EQ(told["listener"]["kind"], "intercepting");
    EXPECT_EQ(told["listener"]["unverified"], false);
    EXPECT_EQ(told["access"]["of_connection"]["address"], v4(101));
    told = explained("http://door.example/", v4(120));
    EXPECT_EQ(told["outcome"], "denied") << told;
    EXPECT_EQ(told["listener"]["unverified"], true);
    told = explained("http://shop.example/", v4(120));
    EXPECT_EQ(told["outcome"], "passed") << told;
    EXPECT_EQ(told["why"], "unverified host");
    EXPECT_EQ(explained("https://tls.example/", v6(101))["outcome"], "tunnelled");
    EXPECT_EQ(explained("https://blocked.example/", v6(120))["outcome"], "denied");
    auto const words = garner({"explain", "http://shop.example/", "--intercepted", v4(120), "--client", "10.7.0.2"}).output;
    EXPECT_THAT(words, HasSubstr("intercepts a connection to 10.8.0.120, to which DNS does not lead the host"));
}

}   // namespace garner::test
