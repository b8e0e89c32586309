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

/// The reload of the patch was applied; the admin address may move to `admin`.
bool is_reloaded(Proxy& proxy, std::string const& patch, std::uint16_t admin = 0) {
    auto const before = generation(proxy.admin());
    proxy.reconfigure(patch);
    proxy.signal(SIGHUP);
    auto const at = admin ? admin : proxy.admin();
    auto const is_applied = [&] { return listens(at) && generation(at) == before + 1; };
    return eventually(is_applied);
}

/// The reload of the patch is refused as a whole, and the log has the text.
bool is_refused(Proxy& proxy, std::string const& patch, std::string const& text) {
    auto const before = generation(proxy.admin());
    proxy.reconfigure(patch);
    proxy.signal(SIGHUP);
    bool const is_told = eventually([&] { return proxy.errors().find(text) != std::string::npos; });
    return is_told && generation(proxy.admin()) == before;
}

std::string log_patch(std::filesystem::path const& file, char const* format = "json") {
    return nlohmann::json{{"log", {{"access", file.string()}, {"format", format}}}}.dump();
}

/// Counts the lines of a file by URL path. False: a line is torn.
bool count_urls(std::filesystem::path const& file, std::map<std::string, int>& into) {
    std::istringstream text(read_file(file));
    for (std::string line; std::getline(text, line);) {
        auto const all = nlohmann::json::parse(line, nullptr, false);
        if (!all.is_object()) return false;
        auto const url = all["url"].get<std::string>();
        ++into[url.substr(url.rfind('/'))];
    }
    return true;
}

}   // namespace

TEST(LiveLog, moves_under_load_and_loses_no_line) {
    constexpr int clients = 3, each = 500;
    Origin origin;
    origin.otherwise([](Hand& hand) { hand.answer(fresh("x")); });
    Proxy proxy;
    std::atomic<int> left{clients}, moves{0};
    std::atomic<std::size_t> asked{0};
    std::vector<std::jthread> threads;
    for (int i = 0; i < clients; ++i)
        threads.emplace_back([&, i] {
            Client client(proxy, origin);
            for (int k = 0; k < each || (moves < 2 && k < 100 * each); ++k, ++asked) {
                auto const path = "/" + std::to_string(i) + "x" + std::to_string(k);
                EXPECT_EQ(client.get(path).body(), "x");
            }
            --left;
        });
    auto const other = proxy.dir().path("other.log");
    do {
        ASSERT_TRUE(is_reloaded(proxy, log_patch(moves % 2 ? proxy.log_file() : other))) << proxy.errors();
        ++moves;
    } while (left > 0);
    threads.clear();
    std::map<std::string, int> urls;
    int torn = 0;
    EXPECT_TRUE(eventually([&] {
        urls.clear();
        for (auto const& file : {proxy.log_file(), other})
            if (!count_urls(file, urls)) ++torn;
        return urls.size() == asked;
    })) << urls.size();
    EXPECT_EQ(torn, 0) << read_file(proxy.log_file()) << read_file(other);
    for (auto const& [url, count] : urls) EXPECT_EQ(count, 1) << url;
    EXPECT_GT(read_file(other).size(), 0u);
    EXPECT_GE(moves.load(), 2);
}

TEST(LiveLog, changes_its_format_and_goes_off_and_on) {
    Origin origin;
    origin.otherwise([](Hand& hand) { hand.answer(fresh("x")); });
    Proxy proxy;
    auto const other = proxy.dir().path("other.log");
    EXPECT_EQ(get(proxy, origin, "/first").body(), "x");
    ASSERT_TRUE(is_reloaded(proxy, log_patch(other, "squid"))) << proxy.errors();
    EXPECT_EQ(get(proxy, origin, "/second").body(), "x");
    ASSERT_TRUE(is_reloaded(proxy, R"({"log": {"access": ""}})")) << proxy.errors();
    EXPECT_EQ(get(proxy, origin, "/third").body(), "x");
    ASSERT_TRUE(is_reloaded(proxy, log_patch(proxy.log_file()))) << proxy.errors();
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
    EXPECT_TRUE(is_refused(proxy, R"({"log": {"access": "/dev/null/access.log"}, "access": [{"deny": "all"}]})",
                           "log.access: cannot open /dev/null/access.log: Not a directory (check the path and its permissions)"))
        << proxy.errors();
    EXPECT_EQ(get(proxy, origin, "/page").status(), 200);
    EXPECT_EQ(proxy.logged("/page").status, 200);
}

TEST(LiveAdmin, moves_answers_what_was_connected_and_goes_off) {
    Proxy proxy;
    Client kept("127.0.0.1", proxy.admin());
    EXPECT_EQ(kept.get("/health.json").status(), 200);
    auto const port = free_port();
    auto const place = "127.0.0.1:" + std::to_string(port);
    ASSERT_TRUE(is_reloaded(proxy, nlohmann::json{{"admin", {{"address", place}}}}.dump(), port)) << proxy.errors();
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
    ASSERT_TRUE(is_reloaded(proxy, R"({"admin": {"names": ["cache.example"]}})")) << proxy.errors();
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
    EXPECT_TRUE(is_refused(proxy, nlohmann::json{{"admin", {{"address", taken}}}, {"access", {{{"deny", "all"}}}}}.dump(),
                           "admin.address: "))
        << proxy.errors();
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

    ASSERT_TRUE(is_reloaded(proxy, nlohmann::json{{"icp", {{"address", place(second)}}}}.dump())) << proxy.errors();
    EXPECT_EQ(get(proxy, origin, "/2").body(), "of the sibling");
    send_datagram(IcpDatagram{.number = 2, .url = origin.url("/1")}.bytes(), second);
    EXPECT_TRUE(eventually([&] { return queries() == 2; })) << proxy.stats()["icp"].dump(1);

    ASSERT_TRUE(is_reloaded(proxy, R"({"icp": {"address": ""}})")) << proxy.errors();
    EXPECT_EQ(get(proxy, origin, "/3").body(), "of the sibling") << "queries leave from a port of their own";
    ASSERT_TRUE(is_reloaded(proxy, nlohmann::json{{"icp", {{"address", place(first)}}}}.dump())) << proxy.errors();
    EXPECT_EQ(get(proxy, origin, "/4").body(), "of the sibling");
    send_datagram(IcpDatagram{.number = 3, .url = origin.url("/1")}.bytes(), first);
    EXPECT_TRUE(eventually([&] { return queries() == 3; })) << proxy.stats()["icp"].dump(1);
}

TEST(LiveIcp, a_port_in_use_refuses_all) {
    FakePeer other;
    Proxy proxy;
    auto const taken = nlohmann::json{{"icp", {{"address", "127.0.0.1:" + std::to_string(other.icp())}}}}.dump();
    EXPECT_TRUE(is_refused(proxy, taken, "icp.address: UDP 127.0.0.1:" + std::to_string(other.icp()))) << proxy.errors();
    auto const as_htcp =
        nlohmann::json{{"icp", {{"address", ""}}}, {"htcp", {{"address", "127.0.0.1:" + std::to_string(other.icp())}}}}.dump();
    EXPECT_TRUE(is_refused(proxy, as_htcp, "htcp.address: UDP 127.0.0.1:" + std::to_string(other.icp()))) << proxy.errors();
}

}   // namespace garner::test
