// Reloads that change listening addresses, names, connections and TLS while requests run.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "story/scene.hpp"
#include "story/tls/secure_listener.hpp"
#include "support/fake_dns.hpp"
#include "support/programs.hpp"
#include "support/traffic.hpp"

namespace garner::test {

namespace {

using nlohmann::json;

/// An item of `listen`.
json at(std::uint16_t port, std::string const& address = "127.0.0.1") {
    return {{"address", address + ":" + std::to_string(port)}};
}

std::string listen(std::vector<json> const& addresses, json more = json::object()) {
    more["listen"] = addresses;
    return more.dump();
}

std::size_t occurrences(std::string const& in, std::string const& text) {
    std::size_t found = 0;
    for (auto from = in.find(text); from != in.npos; from = in.find(text, from + 1)) ++found;
    return found;
}

/// Sends SIGHUP with the patched configuration, and waits for a line of the log.
bool reload_until(Proxy& proxy, std::string const& patch, std::string const& line) {
    auto const before = occurrences(proxy.errors(), line);
    proxy.reconfigure(patch);
    proxy.signal(SIGHUP);
    return eventually([&] { return occurrences(proxy.errors(), line) > before; });
}

bool applies(Proxy& proxy, std::string const& patch) { return reload_until(proxy, patch, "configuration reloaded: "); }
bool refuses(Proxy& proxy, std::string const& patch) { return reload_until(proxy, patch, "configuration not reloaded"); }

bool is_open(std::uint16_t port, std::string const& address = "127.0.0.1") {
    try {
        Wire::connect(address, port);
        return true;
    } catch (Trouble const&) {
        return false;
    }
}

/// True if the address refuses connections within the usual limit.
bool closes(std::uint16_t port, std::string const& address = "127.0.0.1") {
    return eventually([&] { return !is_open(port, address); });
}

std::string head_for(Origin const& origin, std::string const& path, std::string const& more = {}) {
    return "GET " + origin.url(path) + " HTTP/1.1\r\nHost: " + origin.authority() + "\r\n" + more + "\r\n";
}

/// The answer on an established connection, which it ends.
std::string answer_on(Wire& wire, Origin const& origin, std::string const& path) {
    if (!wire.send(head_for(origin, path, "Connection: close\r\n"))) return "not sent";
    return wire.take_all();
}

bool is_answered(std::string const& answer, std::string const& body) {
    return answer.starts_with("HTTP/1.1 200 ") && answer.ends_with(body);
}

std::string difference(Reply const& reply, std::string const& body) {
    if (reply.body() == body) return {};
    return "status " + std::to_string(reply.status()) + ", body \"" + reply.body() + "\": " + reply.trouble();
}

/// Kept, new and pipelined connections at the usual address of the proxy.
void add_clients(Traffic& load, Proxy const& proxy, Origin const& origin) {
    auto const kept = std::make_shared<Client>(proxy, origin);
    load.add("kept", [kept] {
        auto const cached = difference(kept->get("/page"), "page");
        auto const live = difference(kept->get("/live"), "live");
        return kept->connections() == 1 ? cached + live : "the connection was closed";
    });
    load.add("new", [&proxy, &origin] { return difference(get(proxy, origin, "/live"), "live"); });
    auto const pipelined = std::make_shared<Client>(proxy, origin);
    load.add("pipelined", [pipelined, &origin] {
        pipelined->raw(head_for(origin, "/page") + head_for(origin, "/live") + head_for(origin, "/page"));
        auto const first = pipelined->expect(), second = pipelined->expect(), third = pipelined->expect();
        return difference(first, "page") + difference(second, "live") + difference(third, "page");
    });
}

struct ListenerReload : ::testing::Test {
    ListenerReload() {
        origin.answer("/page", fresh("page"));
        origin.answer("/live", no_store("live"));
    }
    Origin origin;
    std::uint16_t const second = free_port();
};

}   // namespace

TEST_F(ListenerReload, twenty_under_load_lose_no_request_and_no_established_connection) {
    Proxy proxy;
    auto const usual = at(proxy.port());
    Traffic load;
    add_clients(load, proxy, origin);
    std::atomic<int> served{0};
    load.add("new", [&]() -> std::string {
        std::optional<Wire> wire;
        try {
            wire.emplace(Wire::connect("127.0.0.1", second));
        } catch (Trouble const&) {   // the address is closed now
            pause_for(2ms);
            return {};
        }
        auto const answer = answer_on(*wire, origin, "/page");
        ++served;
        return is_answered(answer, "page") ? "" : "an established connection got \"" + answer + "\"";
    });
    for (int i = 0; i < 10; ++i) {
        json const more{{"via", "name-" + std::to_string(i)},
                        {"connect", {{"timeout", std::to_string(i + 5) + "s"}}},
                        {"pool", {{"idle_max", i + 1}}},
                        {"dns", {{"positive_ttl", std::to_string(i + 60) + "s"}}}};
        ASSERT_TRUE(applies(proxy, listen({usual, at(second)}, more))) << proxy.errors();
        ASSERT_TRUE(eventually([&] { return is_open(second); }));
        auto early = Wire::connect("127.0.0.1", second);
        ASSERT_TRUE(applies(proxy, listen({usual}, more))) << proxy.errors();
        ASSERT_TRUE(closes(second));
        EXPECT_TRUE(is_answered(answer_on(early, origin, "/live"), "live")) << "it was established before";
    }
    EXPECT_THAT(load.stop(), ElementsAre());
    EXPECT_GT(load.requests(), 20);
    EXPECT_GT(served, 0);
    EXPECT_EQ(proxy.stats()["connections"]["refused"], 0);
}

TEST_F(ListenerReload, a_used_address_refuses_the_reload_and_changes_nothing) {
    Proxy proxy(R"({"via": "before"})");
    auto const taken = listen_on("127.0.0.1");
    auto const usual = at(proxy.port());
    ASSERT_TRUE(refuses(proxy, listen({usual, at(second), at(taken.port)}, {{"via", "after"}})));
    EXPECT_TRUE(proxy.says("listen[2].address: cannot listen on 127.0.0.1:" + std::to_string(taken.port))) << proxy.errors();
    EXPECT_THAT(proxy.errors(), ::testing::ContainsRegex("/garner.json:[0-9]+: listen.2..address: cannot")) << "it has the line";
    EXPECT_TRUE(proxy.says("stop the process that listens there, or choose another port")) << proxy.errors();
    EXPECT_FALSE(is_open(second)) << "it was opened before the fault";
    EXPECT_THAT(get(proxy, origin, "/live").field("Via"), HasSubstr("before"));
    ::close(taken.fd);
    ASSERT_TRUE(applies(proxy, listen({usual, at(second), at(taken.port)}, {{"via", "after"}})));
    EXPECT_TRUE(is_open(second));
    EXPECT_TRUE(is_open(taken.port));
    EXPECT_THAT(get(proxy, origin, "/live").field("Via"), HasSubstr("after"));
}

TEST_F(ListenerReload, an_address_that_is_not_of_this_machine_refuses_the_reload) {
    Proxy proxy;
    ASSERT_TRUE(refuses(proxy, listen({at(proxy.port()), at(second, "192.0.2.1")})));
    EXPECT_TRUE(proxy.says("listen[1].address: cannot listen on 192.0.2.1:" + std::to_string(second))) << proxy.errors();
    EXPECT_TRUE(proxy.says("choose an address of this machine")) << proxy.errors();
    EXPECT_EQ(get(proxy, origin, "/page").status(), 200);
}

TEST_F(ListenerReload, a_TLS_listener_comes_and_goes) {
    NEEDS("curl");
    CertificateFiles const files;
    Proxy proxy;
    auto const usual = at(proxy.port());
    auto secure = at(second);
    secure["tls"] = json::parse(files.tls());
    ASSERT_TRUE(applies(proxy, listen({usual, secure}))) << proxy.errors();
    std::vector<std::string> const curl{"curl",
                                        "-sS",
                                        "--max-time",
                                        "10",
                                        "--proxy-insecure",
                                        "-x",
                                        "https://127.0.0.1:" + std::to_string(second),
                                        origin.url("/page")};
    auto const fetched = run(curl);
    EXPECT_EQ(fetched.output, "page") << fetched.errors;
    Client early("127.0.0.1", second);
    early.start_tls("proxy.test");
    EXPECT_EQ(early.get(origin.url("/page")).body(), "page");
    ASSERT_TRUE(applies(proxy, listen({usual})));
    EXPECT_TRUE(closes(second));
    EXPECT_NE(run(curl).code, 0);
    EXPECT_EQ(early.get(origin.url("/live")).body(), "live");
    EXPECT_EQ(early.connections(), 1);
}

TEST_F(ListenerReload, an_address_that_stays_gets_TLS_for_later_connections) {
    CertificateFiles const files;
    Proxy proxy;
    Client early(proxy, origin);
    EXPECT_EQ(early.get("/page").body(), "page");
    auto secure = at(proxy.port());
    secure["tls"] = json::parse(files.tls());
    ASSERT_TRUE(applies(proxy, listen({secure}))) << proxy.errors();
    Client late("127.0.0.1", proxy.port());
    late.start_tls("proxy.test");
    EXPECT_EQ(late.get(origin.url("/page")).body(), "page");
    EXPECT_EQ(early.get("/live").body(), "live");
    EXPECT_EQ(early.connections(), 1);
}

TEST_F(ListenerReload, an_accelerator_gets_another_origin_for_later_connections) {
    Origin other;
    other.answer("/live", no_store("other"));
    Proxy proxy(Proxy::Setup{.accelerates = origin.url()});
    Client early("127.0.0.1", proxy.accelerator());
    EXPECT_EQ(early.get("/live").body(), "live");
    auto accelerator = at(proxy.accelerator());
    accelerator["origin"] = other.url();
    ASSERT_TRUE(applies(proxy, listen({at(proxy.port()), accelerator})));
    EXPECT_EQ(early.get("/live").body(), "live");
    EXPECT_EQ(early.connections(), 1);
    EXPECT_EQ(Client("127.0.0.1", proxy.accelerator()).get("/live").body(), "other");
}

TEST_F(ListenerReload, an_address_moves_to_all_addresses_of_its_port_and_back) {
    Proxy proxy;
    Traffic load;
    add_clients(load, proxy, origin);
    EXPECT_FALSE(is_open(proxy.port(), "127.0.0.2"));
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(applies(proxy, listen({at(proxy.port(), "0.0.0.0")}))) << proxy.errors();
        EXPECT_TRUE(eventually([&] { return is_open(proxy.port(), "127.0.0.2"); }));
        ASSERT_TRUE(applies(proxy, listen({at(proxy.port())}))) << proxy.errors();
        EXPECT_TRUE(closes(proxy.port(), "127.0.0.2"));
    }
    EXPECT_THAT(load.stop(), ElementsAre());
}

TEST_F(ListenerReload, addresses_that_root_opened_move_to_all_addresses_of_their_port_and_back) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    Proxy proxy(Proxy::Setup{.patch = R"({"user": "nobody", "log": {"access": ""}})", .port = second});
    std::filesystem::permissions(proxy.dir().path(""), std::filesystem::perms(0755));
    auto const place = [&](std::string const& address) {
        json const token{{"name", "ops"}, {"sha256", std::string(64, 'a')}};
        json const admin{{"address", address + ":" + std::to_string(proxy.admin())}, {"tokens", json::array({token})}};
        return listen({at(proxy.port(), address)}, {{"admin", admin}});
    };
    ASSERT_TRUE(applies(proxy, place("0.0.0.0"))) << proxy.errors();
    EXPECT_TRUE(eventually([&] { return is_open(proxy.port(), "127.0.0.2") && is_open(proxy.admin(), "127.0.0.2"); }));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "page");
    ASSERT_TRUE(applies(proxy, place("127.0.0.1"))) << proxy.errors();
    EXPECT_TRUE(closes(proxy.port(), "127.0.0.2"));
    EXPECT_TRUE(closes(proxy.admin(), "127.0.0.2"));
}

TEST_F(ListenerReload, an_address_is_removed_and_added_again_at_once) {
    Proxy proxy;
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(applies(proxy, listen({at(proxy.port()), at(second)}))) << proxy.errors();
        ASSERT_TRUE(applies(proxy, listen({at(proxy.port())})));
    }
    ASSERT_TRUE(applies(proxy, listen({at(proxy.port()), at(second)}))) << proxy.errors();
    EXPECT_EQ(Client("127.0.0.1", second).get(origin.url("/page")).body(), "page");
}

TEST_F(ListenerReload, a_socket_of_the_service_manager_stays) {
    NEEDS("python3");
    TempDir const dir;
    auto const other = free_port();
    auto const configure = [&](std::vector<json> const& addresses) {
        json const rule{{"allow", {{"destination", {"127.0.0.0/8"}}, {"port", {"1-65535"}}}}};
        json const all{
            {"user", "root"}, {"workers", 2}, {"log", {{"access", ""}}}, {"admin", {{"address", ""}}}, {"access", {rule}}};
        return dir.write("garner.json", listen(addresses, all));
    };
    auto const file = configure({at(second)});
    char const* const as_systemd = R"(
import os, socket, sys
given = socket.create_server(("127.0.0.1", int(sys.argv[1])))
os.dup2(given.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
os.execv(sys.argv[2], sys.argv[2:])
)";
    Child garner({"python3", "-c", as_systemd, std::to_string(second), garner_binary(), "--config", file});
    auto const told = [&](char const* text) { return eventually([&] { return garner.errors().find(text) != std::string::npos; }); };
    ASSERT_TRUE(eventually([&] { return is_open(second); }));
    Client client("127.0.0.1", second);
    EXPECT_EQ(client.get(origin.url("/page")).body(), "page") << garner.errors();
    configure({at(second), at(other)});
    garner.signal(SIGHUP);
    ASSERT_TRUE(told("configuration reloaded: ")) << garner.errors();
    EXPECT_EQ(Client("127.0.0.1", second).get(origin.url("/page")).body(), "page");
    EXPECT_TRUE(is_open(other));
    configure({at(other)});
    garner.signal(SIGHUP);
    EXPECT_TRUE(told("configuration not reloaded")) << garner.errors();
    EXPECT_TRUE(told("add its address to the key listen, or remove it from garner.socket")) << garner.errors();
    EXPECT_EQ(client.get(origin.url("/live")).body(), "live");
    EXPECT_EQ(client.connections(), 1);
    client.close();
    garner.signal(SIGTERM);
    EXPECT_EQ(garner.exit_code(), 0) << garner.errors();
}

TEST_F(ListenerReload, all_that_names_the_addresses_has_the_new_ones) {
    Proxy proxy;
    auto const url = "http://127.0.0.1:" + std::to_string(second) + "/";
    ASSERT_TRUE(applies(proxy, listen({at(second), at(proxy.port())})));
    EXPECT_EQ(Client(proxy).get(url).status(), 403) << "a request to the proxy itself would loop";
    auto const config = proxy.dir().path("garner.json").string();
    auto const explained = run({garner_binary(), "explain", "http://example.com/", "--config", config});
    EXPECT_THAT(explained.output, HasSubstr("127.0.0.1:" + std::to_string(second))) << explained.errors;
    ASSERT_TRUE(applies(proxy, listen({at(proxy.port())})));
    EXPECT_TRUE(closes(second));
    EXPECT_EQ(Client(proxy).get(url).status(), 502) << "another program may use the port now";
}

TEST_F(ListenerReload, the_name_in_Via_changes) {
    Proxy proxy;
    Client client(proxy, origin);
    auto const own = client.get("/live").field("Via");
    EXPECT_THAT(own, StartsWith("1.1 garner-"));
    ASSERT_TRUE(applies(proxy, R"({"via": "cache.example"})"));
    auto const reply = client.get("/live");
    EXPECT_EQ(reply.field("Via"), "1.1 cache.example");
    EXPECT_THAT(reply.field("Cache-Status"), StartsWith("cache.example;"));
    EXPECT_EQ(origin.last("/live").head.field("Via"), "1.1 cache.example");
    EXPECT_EQ(client.get("/page", {{"Via", "1.1 cache.example"}}).status(), 508);
    EXPECT_EQ(proxy.stats()["via_name"], "cache.example");
    ASSERT_TRUE(applies(proxy, R"({"via": ""})"));
    EXPECT_EQ(client.get("/live").field("Via"), own) << "the name is that of the process";
}

TEST_F(ListenerReload, names_come_from_another_hosts_file) {
    TempDir dir;
    auto const first = dir.write("first", "127.0.0.1 first.test\n"), other = dir.write("other", "127.0.0.1 other.test\n");
    // An idle connection needs no name.
    Proxy proxy(json{{"dns", {{"hosts_file", first}, {"servers", {"127.0.0.1:9"}}}}, {"pool", {{"idle_max", 0}}}}.dump());
    auto const fetch = [&](std::string const& name) {
        return Client(proxy).get("http://" + name + ":" + std::to_string(origin.port()) + "/live").status();
    };
    EXPECT_EQ(fetch("first.test"), 200);
    ASSERT_TRUE(refuses(proxy, json{{"dns", {{"hosts_file", dir.path("none").string()}}}, {"via", "after"}}.dump()));
    EXPECT_TRUE(proxy.says("dns.hosts_file")) << proxy.errors();
    EXPECT_EQ(fetch("first.test"), 200);
    EXPECT_THAT(get(proxy, origin, "/live").field("Via"), Not(HasSubstr("after")));
    ASSERT_TRUE(applies(proxy, json{{"dns", {{"hosts_file", other}}}}.dump()));
    EXPECT_EQ(fetch("other.test"), 200);
    EXPECT_EQ(fetch("first.test"), 502);
}

TEST_F(ListenerReload, names_are_asked_from_other_servers) {
    FakeDns first, other;
    first.set("page.test", {.v4 = {"127.0.0.1"}});
    other.set("new.test", {.v4 = {"127.0.0.1"}});
    Proxy proxy(json{{"dns", {{"servers", {first.server()}}}}, {"pool", {{"idle_max", 0}}}}.dump());
    auto const fetch = [&](std::string const& name, std::string const& path = "/live") {
        return Client(proxy).get("http://" + name + ":" + std::to_string(origin.port()) + path).status();
    };
    EXPECT_EQ(fetch("page.test"), 200);
    EXPECT_EQ(fetch("new.test", "/page"), 502);
    ASSERT_TRUE(applies(proxy, json{{"dns", {{"servers", {other.server()}}}}}.dump()));
    EXPECT_EQ(fetch("new.test"), 200) << "the failure of the former server is forgotten";
    EXPECT_EQ(other.queries("page.test").udp, 0);
    EXPECT_EQ(fetch("page.test"), 502);
}

TEST_F(ListenerReload, other_TLS_settings_apply_to_the_next_request) {
    TempDir dir;
    Certificate const certificate;
    Origin secure({.certificate = &certificate});
    secure.answer("/live", no_store("secret"));
    Proxy proxy(R"({"tls": {"verify": false}})");
    Client client(proxy, secure);
    EXPECT_EQ(client.get("/live").body(), "secret");
    ASSERT_TRUE(applies(proxy, R"({"tls": {"verify": true}})"));
    EXPECT_EQ(client.get("/live").status(), 502) << "the idle connection was not verified";
    EXPECT_EQ(secure.requests("/live"), 1u);
    ASSERT_TRUE(refuses(proxy, R"({"tls": {"ca_file": "/nowhere"}})"));
    EXPECT_TRUE(proxy.says("tls.ca_file")) << proxy.errors();
    ASSERT_TRUE(applies(proxy, json{{"tls", {{"ca_file", dir.write("ca.pem", certificate.pem())}}}}.dump()));
    EXPECT_TRUE(eventually([&] { return client.get("/live", {{"Cache-Control", "no-cache"}}).status() == 200; }));
}

TEST_F(ListenerReload, a_pool_without_idle_connections_closes_those_it_has) {
    Proxy proxy(R"({"workers": 1})");
    Client client(proxy, origin);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(client.get("/live").body(), "live");
    EXPECT_EQ(origin.connections(), 1u);
    ASSERT_TRUE(applies(proxy, R"({"pool": {"idle_max": 0}})"));
    for (int i = 0; i < 2; ++i) EXPECT_EQ(client.get("/live").body(), "live");
    EXPECT_EQ(origin.connections(), 3u);
}

TEST_F(ListenerReload, a_lower_limit_of_connections_closes_none) {
    Proxy proxy(R"({"limits": {"connections_max": 20}})");
    std::deque<Client> clients;
    for (int i = 0; i < 10; ++i) EXPECT_EQ(clients.emplace_back(proxy, origin).get("/page").body(), "page");
    ASSERT_TRUE(applies(proxy, R"({"limits": {"connections_max": 4}})"));
    EXPECT_EQ(proxy.stats()["connections"]["limit"], 4);
    Client late(proxy, origin);
    auto const waits = late.get("/page");
    EXPECT_FALSE(waits.begins_within(500ms));
    for (auto& client : clients) {
        EXPECT_EQ(client.get("/live").body(), "live");
        EXPECT_EQ(client.connections(), 1);
    }
    EXPECT_EQ(proxy.stats()["connections"]["displaced"], 0);
    EXPECT_FALSE(waits.begins_within(100ms));
    while (clients.size() > 3) clients.pop_back();
    EXPECT_EQ(waits.body(), "page");
    ASSERT_TRUE(applies(proxy, R"({"limits": {"connections_max": 30}})"));
    for (int i = 0; i < 20; ++i) EXPECT_EQ(clients.emplace_back(proxy, origin).get("/page").body(), "page");
    EXPECT_EQ(proxy.stats()["connections"]["displaced"], 0);
}

TEST_F(ListenerReload, a_reload_opens_no_descriptor_that_stays) {
    Proxy proxy;
    auto const descriptors = [&] {
        auto const all = std::filesystem::directory_iterator("/proc/" + std::to_string(proxy.child().pid()) + "/fd");
        return std::distance(begin(all), end(all));
    };
    auto const turn = [&] {
        ASSERT_TRUE(applies(proxy, listen({at(proxy.port()), at(second)})));
        ASSERT_TRUE(applies(proxy, listen({at(proxy.port())})));
        ASSERT_TRUE(closes(second));
    };
    turn();
    auto const before = descriptors();
    for (int i = 0; i < 10; ++i) turn();
    EXPECT_TRUE(eventually([&] { return descriptors() <= before; })) << descriptors() << " after " << before;
}

}   // namespace garner::test
