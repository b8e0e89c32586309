// The PAC file as browsers get it: evaluated by libpacparser and Chromium, while proxies die and leave.
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>

#include "story/scene.hpp"
#include "support/devtools.hpp"
#include "support/programs.hpp"

namespace garner::test {

namespace {

using Clock = std::chrono::steady_clock;

std::string port_text(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

std::string pac_of(Proxy const& proxy, std::string const& path = "/proxy.pac") {
    return Client("127.0.0.1", proxy.port()).get(path).body();
}

std::string proxies_line(std::vector<std::uint16_t> const& ports) {
    std::string list;
    for (auto const port : ports) list += (list.empty() ? "\"PROXY " : ", \"PROXY ") + port_text(port) + "\"";
    return "var proxies = [" + list + "];";
}

/// `more`: further members, each after a comma.
std::string with_proxies(std::vector<std::uint16_t> const& ports, std::string const& more = "") {
    std::string list;
    for (auto const port : ports) list += (list.empty() ? "\"http://" : ", \"http://") + port_text(port) + "\"";
    return R"({"pac": {"proxies": [)" + list + "]" + more + "}}";
}

/// The order that the file has to give, computed in another way.
std::uint32_t score(std::string const& text) {
    std::uint32_t n = 2166136261;
    for (char const c : text) n = (n ^ static_cast<unsigned char>(c)) * 16777619u;
    n = (n ^ (n >> 16)) * 2246822507u;
    n = (n ^ (n >> 13)) * 3266489909u;
    return n ^ (n >> 16);
}

std::string spread_order(std::vector<std::string> proxies, std::string const& host) {
    std::ranges::sort(proxies, std::greater<>{}, [&](auto const& proxy) { return score(host + " " + proxy); });
    std::string out;
    for (auto const& proxy : proxies) out += proxy + "; ";
    return out + "DIRECT";
}

std::vector<std::string> pac_lines(std::string const& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

/// A host that is direct, or one that is not and looks much the same.
std::pair<std::string, bool> host_of(int i, std::mt19937& draw) {
    auto const number = std::to_string(draw() % 100'000);
    switch (i % 8) {
    case 0: return {"h" + number + ".campus.example", true};
    case 1: return {"h" + number + "campus.example", false};
    case 2: return {"10." + std::to_string(draw() % 256) + ".0." + std::to_string(draw() % 256), true};
    case 3: return {"11." + std::to_string(draw() % 256) + ".0." + std::to_string(draw() % 256), false};
    case 4: return {"172." + std::to_string(16 + draw() % 16) + ".1.2", true};
    case 5: return {"172." + std::to_string(32 + draw() % 16) + ".1.2", false};
    case 6: return {"10.example.h" + number + ".example", false};
    default: return {"www" + number + ".example.com", false};
    }
}

constexpr auto spread =
    R"({"pac": {"proxies": ["https://gate1.example:3129", "http://gate2.example:3128", "http://gate3.example:80"],
    "direct": [".campus.example", "only.example", "10.0.0.0/8", "172.16.0.0/12", "2001:db8::/32"], "last": "direct", "spread": true}})";
std::vector<std::string> const spread_proxies{"HTTPS gate1.example:3129", "PROXY gate2.example:3128", "PROXY gate3.example:80"};

void serve_page(Origin& origin) {
    origin.otherwise([](Hand& hand) {
        hand.answer(no_store("<!DOCTYPE html><title>page</title><link rel=icon href=data:,><p>the page has come</p>"));
    });
}

}   // namespace

TEST(Pac, a_forward_listener_names_itself_as_the_client_has_reached_it) {
    Proxy proxy;
    Client client("127.0.0.1", proxy.port());
    auto const reply = client.get("/proxy.pac");
    EXPECT_EQ(reply.status(), 200);
    EXPECT_EQ(reply.field("Content-Type"), "application/x-ns-proxy-autoconfig");
    EXPECT_EQ(reply.field("Cache-Control"), "max-age=300");
    EXPECT_THAT(reply.body(), StartsWith(proxies_line({proxy.port()})));
    EXPECT_THAT(client.get("/proxy.pac", {{"Host", "Gate.Example"}}).body(), HasSubstr("\"PROXY gate.example:80\""));
    EXPECT_THAT(client.get("/proxy.pac", {{"Host", "a'b:99"}}).body(), StartsWith(proxies_line({proxy.port()})));
    EXPECT_EQ(client.head("/proxy.pac").field("Content-Length"), std::to_string(reply.body().size()));
    EXPECT_EQ(client.post("/proxy.pac", "x").status(), 405);
}

TEST(Pac, has_an_ETag) {
    Proxy proxy;
    Client client("127.0.0.1", proxy.port());
    auto const etag = client.get("/proxy.pac").field("ETag");
    EXPECT_THAT(etag, StartsWith("\""));
    auto const same = client.get("/proxy.pac", {{"If-None-Match", "W/\"other\", " + etag}});
    EXPECT_EQ(same.status(), 304);
    EXPECT_EQ(same.field("ETag"), etag);
    EXPECT_FALSE(same.has("Content-Length"));
    EXPECT_EQ(client.get("/proxy.pac", {{"If-None-Match", "\"other\""}}).status(), 200);
    EXPECT_EQ(client.connections(), 1);
}

TEST(Pac, is_at_the_path_of_WPAD_only_if_the_operator_wants_it) {
    Proxy proxy;
    auto const refused = Client("127.0.0.1", proxy.port()).get("/wpad.dat");
    EXPECT_EQ(refused.status(), 404);
    EXPECT_THAT(refused.body(), HasSubstr("pac.wpad"));
    proxy.reconfigure(R"({"pac": {"wpad": true, "max_age": "1m"}})");
    proxy.signal(SIGHUP);
    ASSERT_TRUE(eventually([&] { return Client("127.0.0.1", proxy.port()).get("/wpad.dat").status() == 200; }));
    EXPECT_EQ(pac_of(proxy, "/wpad.dat"), pac_of(proxy));
}

TEST(Pac, is_for_clients_that_the_rules_allow_and_not_at_accelerators) {
    Origin origin;
    origin.otherwise([](Hand& hand) { hand.answer(fresh("the origin's own")); });
    Proxy proxy(
        Proxy::Setup{.patch = R"({"access": [{"deny": {"source": "127.0.0.9"}}, {"allow": "all"}]})", .accelerates = origin.url()});
    EXPECT_EQ(Client("127.0.0.1", proxy.port()).from("127.0.0.9").get("/proxy.pac").status(), 403);
    EXPECT_EQ(Client("127.0.0.1", proxy.port()).get("/proxy.pac").status(), 200);
    EXPECT_EQ(Client("127.0.0.1", proxy.accelerator()).get("/proxy.pac").body(), "the origin's own");
}

TEST(Pac, gives_libpacparser_the_same_answers_for_ten_thousand_URLs) {
    NEEDS("pactester");
    constexpr int count = 10'000;
    Proxy proxy(spread);
    TempDir dir;
    auto const file = dir.write("proxy.pac", pac_of(proxy));
    std::mt19937 draw(1);
    std::string urls;
    std::vector<std::string> expected;
    for (int i = 0; i < count; ++i) {
        auto const [host, direct] = host_of(i, draw);
        urls += "http://" + host + "/path?" + std::to_string(i) + "\n";
        expected.push_back(direct ? "DIRECT" : spread_order(spread_proxies, host));
    }
    auto const told = run({"pactester", "-p", file, "-f", dir.write("urls", urls)}, Millis{120'000});
    auto const lines = pac_lines(told.output);
    ASSERT_EQ(lines.size(), expected.size()) << told.errors;
    int wrong = 0;
    for (int i = 0; i < count; ++i)
        if (!lines[i].ends_with(" : " + expected[i]) && ++wrong < 5) ADD_FAILURE() << lines[i] << "\n" << expected[i];
    EXPECT_EQ(wrong, 0);
    std::map<std::string, int> firsts;
    for (auto const& answer : expected) ++firsts[answer.substr(0, answer.find(';'))];
    for (auto const& name : spread_proxies) EXPECT_GT(firsts[name], count / 8) << name << " has its share of the hosts";
}

TEST(Pac, knows_addresses_in_any_spelling_and_names_in_any_case) {
    NEEDS("pactester");
    Proxy proxy(spread);
    TempDir dir;
    auto const file = dir.write("proxy.pac", pac_of(proxy));
    auto const answer = [&](std::string const& host) {
        auto const told = run({"pactester", "-p", file, "-u", "http://x/", "-h", host}).output;
        return told.substr(0, told.find('\n'));
    };
    for (auto const* direct : {"2001:db8::1", "2001:DB8:0:0:0:0:0:1", "[2001:db8:1::]", "2001:db8:1:2:3:4:5:6", "ONLY.example",
                               "Campus.Example.", "a.b.campus.example"})
        EXPECT_EQ(answer(direct), "DIRECT") << direct;
    for (auto const* other : {"2001:db9::1", "::1", "a.only.example", "10", "10.0.0", "example", "::"})
        EXPECT_EQ(answer(other), spread_order(spread_proxies, other)) << other;
}

TEST(Pac, leaves_out_a_dead_proxy_within_five_seconds_and_takes_it_back) {
    auto const port = free_port();
    auto other = std::make_unique<Proxy>(Proxy::Setup{.port = port});
    Proxy::Setup setup{.port = free_port()};
    setup.patch = with_proxies({port, setup.port});
    Proxy proxy(setup);
    EXPECT_THAT(pac_of(proxy), StartsWith(proxies_line({port, proxy.port()})));
    other->kill();
    auto const died = Clock::now();
    ASSERT_TRUE(eventually([&] { return pac_of(proxy).starts_with(proxies_line({proxy.port()})); }));
    EXPECT_LT(Clock::now() - died, 5s);
    other = std::make_unique<Proxy>(Proxy::Setup{.port = port});
    EXPECT_TRUE(eventually([&] { return pac_of(proxy).starts_with(proxies_line({port, proxy.port()})); }));
}

TEST(Pac, leaves_out_a_peer_that_no_longer_answers) {
    auto const port = free_port();
    auto other = std::make_unique<Proxy>(Proxy::Setup{.port = port});
    Proxy::Setup setup{.port = free_port()};
    auto patch = nlohmann::json::parse(with_proxies({port, setup.port}));
    patch["peers"] = {{{"name", "next"}, {"host", "127.0.0.1"}, {"http_port", port}, {"icp_port", 0}}};
    setup.patch = patch.dump();
    Proxy proxy(setup);
    other->kill();
    EXPECT_TRUE(eventually([&] { return pac_of(proxy).starts_with(proxies_line({proxy.port()})); }));
    EXPECT_TRUE(proxy.says("parent \"next\"")) << "the watched proxy is the peer";
}

TEST(Pac, no_longer_names_a_proxy_that_leaves_and_still_answers) {
    auto const port = free_port();
    Origin origin;
    origin.answer("/page", no_store("here"));
    Proxy other(Proxy::Setup{.port = port});
    Proxy::Setup setup{.port = free_port()};
    auto patch = nlohmann::json::parse(with_proxies({setup.port, port}));
    patch["deadlines"] = {{"leave", "3s"}, {"drain_idle", "100ms"}};
    setup.patch = patch.dump();
    Proxy proxy(setup);
    ASSERT_THAT(pac_of(proxy), StartsWith(proxies_line({proxy.port(), port})));
    proxy.signal(SIGTERM);
    auto const left = Clock::now();
    ASSERT_TRUE(eventually([&] { return pac_of(proxy).starts_with(proxies_line({port})); }));
    EXPECT_LT(Clock::now() - left, 2s);
    EXPECT_EQ(get(proxy, origin, "/page").body(), "here");
    EXPECT_EQ(proxy.ended(), 0);
    EXPECT_GE(Clock::now() - left, 2900ms);
}

TEST(Pac, leads_Chromium_past_a_dead_proxy_and_one_that_dies) {
    NEEDS("chromium");
    Origin origin;
    serve_page(origin);
    TempDir dir;
    auto const site = "http://site.test:" + std::to_string(origin.port());   // Chromium asks no proxy for addresses of loopback
    nlohmann::json const names{{"dns", {{"hosts_file", dir.write("hosts", "127.0.0.1 site.test\n")}}}};
    auto const dead = free_port(), dying = free_port();
    auto first = std::make_unique<Proxy>(Proxy::Setup{.patch = names.dump(), .port = dying});
    Proxy::Setup setup{.port = free_port()};
    auto patch = nlohmann::json::parse(with_proxies({dead, dying, setup.port}));
    patch.merge_patch(names);
    setup.patch = patch.dump();
    Proxy proxy(setup);
    DevTools browser("", {"--proxy-pac-url=" + proxy.url() + "/proxy.pac"});
    EXPECT_EQ(browser.open(site + "/one"), "the page has come");
    EXPECT_EQ(first->logged("/one").status, 200) << "through the first proxy that lives";
    first->kill();
    EXPECT_EQ(browser.open(site + "/two"), "the page has come");
    EXPECT_EQ(proxy.logged("/two").status, 200) << "through the next one";
}

}   // namespace garner::test
