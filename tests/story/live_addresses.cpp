// Reloads that move the access log, the admin address and the ports for other caches.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <thread>

#include "story/scene.hpp"
#include "support/fake_peer.hpp"

namespace garner::test {

namespace {

bool listens(std::uint16_t port, char const* address = "127.0.0.1") {
    try {
        Wire::connect(address, port);
        return true;
    } catch (Trouble const&) {
        return false;
    }
}

int generation(std::uint16_t admin) {
    return nlohmann::json::parse(Client("127.0.0.1", admin).get("/stats.json").body())["config"]["generation"].get<int>();
}

/// A reload of the patch; the admin address may move to `admin`.
void reload(Proxy& proxy, std::string const& patch, std::uint16_t admin = 0) {
    auto const before = generation(proxy.admin());
    proxy.reconfigure(patch);
    proxy.signal(SIGHUP);
    auto const at = admin ? admin : proxy.admin();
    auto const is_applied = [&] { return listens(at) && generation(at) == before + 1; };
    ASSERT_TRUE(eventually(is_applied)) << patch << proxy.errors();
}

void refuse(Proxy& proxy, std::string const& patch, std::string const& text) {
    auto const before = generation(proxy.admin());
    proxy.reconfigure(patch);
    proxy.signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return proxy.errors().find(text) != std::string::npos; })) << proxy.errors();
    EXPECT_EQ(generation(proxy.admin()), before);
}

std::string log_patch(std::filesystem::path const& file, char const* format = "json") {
    return nlohmann::json{{"log", {{"access", file.string()}, {"format", format}}}}.dump();
}

/// Lines of a file that are whole JSON objects, by URL path.
void count_urls(std::filesystem::path const& file, std::map<std::string, int>& into) {
    std::istringstream text(read_file(file));
    for (std::string line; std::getline(text, line);) {
        auto const all = nlohmann::json::parse(line, nullptr, false);
        ASSERT_TRUE(all.is_object()) << file << ": torn: " << line;
        auto const url = all["url"].get<std::string>();
        ++into[url.substr(url.rfind('/'))];
    }
}

}   // namespace

TEST(LiveLog, moves_under_load_and_loses_no_line) {
    constexpr int clients = 3, each = 500;
    Origin origin;
    origin.otherwise([](Hand& hand) { hand.answer(fresh("x")); });
    Proxy proxy;
    std::atomic<int> left{clients};
    std::vector<std::jthread> threads;
    for (int i = 0; i < clients; ++i)
        threads.emplace_back([&, i] {
            Client client(proxy, origin);
            for (int k = 0; k < each; ++k) {
                auto const path = "/" + std::to_string(i) + "x" + std::to_string(k);
                EXPECT_EQ(client.get(path).body(), "x");
            }
            --left;
        });
    auto const other = proxy.dir().path("other.log");
    int moves = 0;
    do {
        reload(proxy, log_patch(moves % 2 ? proxy.log_file() : other));
        ++moves;
    } while (left > 0);
    threads.clear();
    std::map<std::string, int> urls;
    EXPECT_TRUE(eventually([&] {
        urls.clear();
        count_urls(proxy.log_file(), urls);
        count_urls(other, urls);
        return urls.size() == clients * each;
    })) << urls.size();
    for (auto const& [url, count] : urls) EXPECT_EQ(count, 1) << url;
    EXPECT_GT(read_file(other).size(), 0u);
    EXPECT_GE(moves, 2);
}

TEST(LiveLog, changes_its_format_and_goes_off_and_on) {
    Origin origin;
    origin.otherwise([](Hand& hand) { hand.answer(fresh("x")); });
    Proxy proxy;
    auto const other = proxy.dir().path("other.log");
    EXPECT_EQ(get(proxy, origin, "/first").body(), "x");
    reload(proxy, log_patch(other, "squid"));
    EXPECT_EQ(get(proxy, origin, "/second").body(), "x");
    reload(proxy, R"({"log": {"access": ""}})");
    EXPECT_EQ(get(proxy, origin, "/third").body(), "x");
    reload(proxy, log_patch(proxy.log_file()));
    EXPECT_EQ(get(proxy, origin, "/fourth").body(), "x");
    EXPECT_EQ(proxy.logged("/first").status, 200);
    EXPECT_EQ(proxy.logged("/fourth").status, 200);
    EXPECT_TRUE(eventually([&] { return read_file(other).find("/second") != std::string::npos; }));
    EXPECT_THAT(read_file(other), HasSubstr(" TCP_MISS/200 "));
    EXPECT_THAT(read_file(other) + read_file(proxy.log_file()), Not(HasSubstr("/third")));
}

TEST(LiveLog, a_file_that_cannot_be_opened_refuses_all) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy;
    refuse(proxy, R"({"log": {"access": "/dev/null/access.log"}, "access": [{"deny": "all"}]})",
           "log.access: cannot open /dev/null/access.log: Not a directory (check the path and its permissions)");
    EXPECT_EQ(get(proxy, origin, "/page").status(), 200);
    EXPECT_EQ(proxy.logged("/page").status, 200);
}

TEST(LiveAdmin, moves_answers_what_was_connected_and_goes_off) {
    Proxy proxy;
    Client kept("127.0.0.1", proxy.admin());
    EXPECT_EQ(kept.get("/health.json").status(), 200);
    auto const port = free_port();
    auto const place = "127.0.0.1:" + std::to_string(port);
    reload(proxy, nlohmann::json{{"admin", {{"address", place}}}}.dump(), port);
    EXPECT_TRUE(eventually([&] { return !listens(proxy.admin()); }));
    auto const last = kept.get("/health.json");
    EXPECT_EQ(last.status(), 200) << "a connection to the former address may send one more request";
    EXPECT_EQ(last.field("Connection"), "close");
    EXPECT_EQ(kept.connections(), 1);

    proxy.reconfigure(R"({"admin": {"address": ""}})");
    proxy.signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return !listens(port); }));
    proxy.reconfigure(nlohmann::json{{"admin", {{"address", place}}}}.dump());
    proxy.signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return listens(port); }));
    EXPECT_TRUE(eventually([&] { return generation(port) == 4; }));
}

TEST(LiveAdmin, follows_its_names_and_the_same_port_on_all_addresses) {
    Proxy proxy;
    auto const port = std::to_string(proxy.admin());
    auto const named = Fields{{"Host", "cache.example:" + port}};
    EXPECT_EQ(Client("127.0.0.1", proxy.admin()).get("/health.json", named).status(), 421);
    reload(proxy, R"({"admin": {"names": ["cache.example"]}})");
    EXPECT_TRUE(eventually([&] { return Client("127.0.0.1", proxy.admin()).get("/health.json", named).status() == 200; }));
    nlohmann::json const token{{"name", "desk"}, {"role", "viewer"}, {"sha256", std::string(64, '0')}};
    proxy.reconfigure(nlohmann::json{{"admin", {{"address", ":" + port}, {"tokens", {token}}}}}.dump());
    proxy.signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return listens(proxy.admin(), "127.0.0.2"); }));
}

TEST(LiveAdmin, an_address_in_use_refuses_all) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy, other;
    auto const taken = "127.0.0.1:" + std::to_string(other.admin());
    refuse(proxy, nlohmann::json{{"admin", {{"address", taken}}}, {"access", {{{"deny", "all"}}}}}.dump(), "admin.address: ");
    EXPECT_TRUE(proxy.says("Address already in use (stop the process that listens there, or choose another port)"))
        << proxy.errors();
    EXPECT_EQ(get(proxy, origin, "/page").status(), 200);
}

TEST(LiveIcp, queries_and_answers_at_the_new_port) {
    FakePeer sibling(Icp::hit);
    sibling.http().otherwise([](Hand& hand) { hand.answer(fresh("of the sibling")); });
    Origin origin;
    origin.otherwise([](Hand& hand) { hand.answer(fresh("of the origin")); });
    auto const place = [](std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); };
    auto const first = free_port(), second = free_port();
    nlohmann::json const peer{{"name", "sibling"},
                              {"type", "sibling"},
                              {"host", "127.0.0.1"},
                              {"http_port", sibling.http().port()},
                              {"icp_port", sibling.icp()}};
    Proxy proxy(
        nlohmann::json{{"peers", {peer}}, {"icp", {{"address", place(first)}, {"allow", {"127.0.0.0/8"}}, {"timeout_min", "2s"}}}}
            .dump());
    auto const queries = [&] { return proxy.stats()["icp"]["queries"].get<int>(); };
    EXPECT_EQ(get(proxy, origin, "/1").body(), "of the sibling");
    send_datagram(IcpDatagram{.number = 1, .url = origin.url("/1")}.bytes(), first);
    EXPECT_TRUE(eventually([&] { return queries() == 1; })) << proxy.stats()["icp"].dump(1);

    reload(proxy, nlohmann::json{{"icp", {{"address", place(second)}}}}.dump());
    EXPECT_EQ(get(proxy, origin, "/2").body(), "of the sibling");
    send_datagram(IcpDatagram{.number = 2, .url = origin.url("/1")}.bytes(), second);
    EXPECT_TRUE(eventually([&] { return queries() == 2; })) << proxy.stats()["icp"].dump(1);

    reload(proxy, R"({"icp": {"address": ""}})");
    EXPECT_EQ(get(proxy, origin, "/3").body(), "of the sibling") << "queries leave from a port of their own";
    reload(proxy, nlohmann::json{{"icp", {{"address", place(first)}}}}.dump());
    EXPECT_EQ(get(proxy, origin, "/4").body(), "of the sibling");
    send_datagram(IcpDatagram{.number = 3, .url = origin.url("/1")}.bytes(), first);
    EXPECT_TRUE(eventually([&] { return queries() == 3; })) << proxy.stats()["icp"].dump(1);
}

TEST(LiveIcp, a_port_in_use_refuses_all) {
    FakePeer other;
    Proxy proxy;
    auto const taken = nlohmann::json{{"icp", {{"address", "127.0.0.1:" + std::to_string(other.icp())}}}}.dump();
    refuse(proxy, taken, "icp.address: UDP 127.0.0.1:" + std::to_string(other.icp()));
    auto const as_htcp =
        nlohmann::json{{"icp", {{"address", ""}}}, {"htcp", {{"address", "127.0.0.1:" + std::to_string(other.icp())}}}}.dump();
    refuse(proxy, as_htcp, "htcp.address: UDP 127.0.0.1:" + std::to_string(other.icp()));
}

}   // namespace garner::test
