// The admin address: figures for people and for Prometheus, and protection against unintended changes.
#include <set>
#include <sstream>

#include "story/scene.hpp"
#include "support/hosts.hpp"

namespace garner::test {

namespace {

constexpr char const* sha256_of_token = "3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0";   // of "token"

Client at_admin(Proxy const& proxy) { return Client("127.0.0.1", proxy.admin()); }

/// The sum of all samples of a metric whose labels contain `label`.
double sample(std::string const& metrics, std::string const& name, std::string const& label = "") {
    double sum = 0;
    std::istringstream lines(metrics);
    for (std::string line; std::getline(lines, line);) {
        auto const end = line.find_first_of("{ ");
        if (line.starts_with('#') || line.substr(0, end) != name || line.find(label) == line.npos) continue;
        sum += std::stod(line.substr(line.rfind(' ') + 1));
    }
    return sum;
}

}   // namespace

TEST(Admin, serves_the_networks_of_admin_allow_and_loopback_alone) {
    NEEDS_HOSTS();
    Network network;
    auto& server = network.add_host();
    auto& visitor = network.add_host();
    for (bool const allowed : {false, true}) {
        auto const port = free_port();
        auto const token = std::string(R"({"name": "all", "role": "operator", "sha256": ")") + sha256_of_token + "\"}";
        std::vector<std::string> words{garner_binary(), "--set", "admin.address=:" + std::to_string(port), "--set",
                                       "admin.tokens=[" + token + "]"};
        if (allowed) words.insert(words.end(), {"--set", "admin.allow=10.9.0.0/24", "--set", "admin.names=proxy.example"});
        auto const child = server.run([&] { return std::make_unique<Child>(words); });
        ASSERT_TRUE(eventually([&] { return child->errors().find("listens on") != std::string::npos; })) << child->errors();
        auto const status = [&](std::string const& address, Fields const& fields) {
            return Client(address, port).send("PURGE", "/purge?url=http%3A%2F%2Fa.example%2F", fields).status();
        };
        auto const at = [&](std::string const& host) {
            return Fields{{"Host", host + ":" + std::to_string(port)}, {"Garner-Admin", "1"}, {"Authorization", "Bearer token"}};
        };
        visitor.run([&] {
            EXPECT_EQ(status(server.address(), at(server.address())), allowed ? 200 : 403);
            EXPECT_EQ(status(server.address(), at("proxy.example")), allowed ? 200 : 403);
            EXPECT_EQ(status(server.address(), at("other.example")), allowed ? 421 : 403);
            auto figures = Client(server.address(), port).get("/stats.json", {{"Authorization", "Bearer token"}});
            EXPECT_EQ(figures.status(), allowed ? 200 : 403);
        });
        server.run([&] {
            EXPECT_EQ(status("127.0.0.1", at("127.0.0.1")), 200);
            EXPECT_EQ(status("::1", at("[::1]")), 200);
        });
        child->signal(SIGTERM);
        EXPECT_EQ(child->exit_code(), 0);
    }
}

TEST(Admin, metrics_are_Prometheus_text_and_every_name_is_documented) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy;
    get(proxy, origin, "/page").body();
    get(proxy, origin, "/page").body();
    auto reply = at_admin(proxy).get("/metrics");
    EXPECT_EQ(reply.status(), 200);
    EXPECT_THAT(reply.field("Content-Type"), StartsWith("text/plain"));
    std::set<std::string> helped;
    std::istringstream lines(reply.body());
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("# HELP ")) helped.insert(line.substr(7, line.find(' ', 7) - 7));
        if (line.empty() || line.starts_with('#')) continue;
        auto name = line.substr(0, line.find_first_of("{ "));
        EXPECT_THAT(name, StartsWith("garner_"));
        for (std::string suffix : {"_bucket", "_sum", "_count"})
            if (!helped.contains(name) && name.ends_with(suffix)) name.resize(name.size() - suffix.size());
        EXPECT_TRUE(helped.contains(name)) << line;
        EXPECT_NO_THROW(std::stod(line.substr(line.rfind(' ') + 1))) << line;
    }
    EXPECT_FALSE(helped.empty());
}

TEST(Admin, figures_count_what_has_happened) {
    Origin origin;
    origin.answer("/page", fresh(pattern(10'000)));
    Proxy proxy;
    get(proxy, origin, "/page").body();
    for (int i = 0; i < 9; ++i) get(proxy, origin, "/page").body();
    proxy.logged("/page", 10);
    auto const metrics = proxy.metrics();
    EXPECT_THAT(metrics, HasSubstr("garner_requests_total"));
    EXPECT_EQ(sample(metrics, "garner_requests_total"), 10) << metrics;
    auto const stats = proxy.stats();
    EXPECT_TRUE(stats.is_object());
    EXPECT_THAT(stats.dump(), HasSubstr("hit"));
}

TEST(Admin, what_was_sent_of_a_body_is_counted_also_when_its_client_went_away) {
    Origin origin;
    constexpr std::size_t length = 30'000'000;   // more than all socket buffers hold
    origin.answer("/page", fresh(pattern(length)));
    Proxy proxy(R"({"memory": {"object_max": "40 MiB"}})");
    auto const counted = [&](char const* what) { return proxy.stats()["client"][what].get<std::size_t>(); };
    get(proxy, origin, "/page").body();
    ASSERT_TRUE(eventually([&] { return counted("body_bytes") == length; }));
    auto const before = counted("sent_bytes");
    Client client(proxy, origin);
    client.receive_buffer(64 * 1024);
    client.get("/page").early(200'000);
    client.reset();
    // The proxy notices the reset at its next write.
    auto const has_settled = [&] {
        auto const now = counted("sent_bytes");
        std::this_thread::sleep_for(Millis{50});
        return now > before && now == counted("sent_bytes");
    };
    ASSERT_TRUE(eventually(has_settled));
    auto const sent = counted("sent_bytes") - before, hit = counted("hit_body_bytes");
    EXPECT_GE(hit, 200'000u);
    EXPECT_LT(hit, length);
    EXPECT_LT(hit, sent);
    EXPECT_LT(sent - hit, 1'000u);   // length of the head
    EXPECT_EQ(counted("body_bytes"), length + hit);
}

TEST(Admin, the_page_of_an_error_is_no_body_for_HEAD) {
    Proxy proxy;
    EXPECT_EQ(Client(proxy).head("http://127.0.0.1:9/").status(), 502);
    proxy.logged("/", 1);
    EXPECT_EQ(proxy.stats()["client"]["body_bytes"], 0);
}

TEST(Admin, answers_only_where_Host_is_its_own_address) {
    Proxy proxy;
    auto const own = "127.0.0.1:" + std::to_string(proxy.admin());
    EXPECT_EQ(at_admin(proxy).get("/stats.json", {{"Host", own}}).status(), 200);
    auto const port = ":" + std::to_string(proxy.admin());
    for (auto const& host :
         std::vector<std::string>{"evil.example", "localhost", "127.0.0.1", "evil.example" + port, "127.0.0.2" + port})
        for (auto path : {"/", "/metrics", "/stats.json"}) {
            auto reply = at_admin(proxy).get(path, {{"Host", host}});
            EXPECT_THAT(reply.status(), AnyOf(400, 403, 421)) << host << path;
            EXPECT_THAT(reply.body(), Not(HasSubstr("garner_"))) << host << path;
        }
}

TEST(Admin, sends_no_CORS_fields_and_refuses_preflights) {
    Proxy proxy;
    Fields const foreign{{"Origin", "http://evil.example"}};
    auto reply = at_admin(proxy).get("/stats.json", foreign);
    for (auto const& [name, value] : reply.head().fields) EXPECT_THAT(lower(name), Not(StartsWith("access-control-"))) << value;
    auto preflight = at_admin(proxy).send("OPTIONS", "/stats.json", foreign);
    for (auto const& [name, value] : preflight.head().fields) EXPECT_THAT(lower(name), Not(StartsWith("access-control-"))) << value;
}

TEST(Admin, purges_only_with_the_field_that_no_foreign_page_can_send) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy;
    get(proxy, origin, "/page").body();
    auto const url = origin.url("/page");
    auto const own = "127.0.0.1:" + std::to_string(proxy.admin());
    EXPECT_EQ(at_admin(proxy).send("PURGE", url, {{"Host", own}}).status(), 403);
    EXPECT_TRUE(get(proxy, origin, "/page").hit());
    EXPECT_EQ(at_admin(proxy).send("PURGE", url, {{"Host", own}, {"Garner-Admin", "1"}}).status(), 200);
    EXPECT_FALSE(get(proxy, origin, "/page").hit());
}

TEST(Admin, purges_by_POST_as_well) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy;
    get(proxy, origin, "/page").body();
    auto const path = "/purge?url=" + origin.url("/page");
    EXPECT_EQ(at_admin(proxy).post(path, "").status(), 403);
    EXPECT_EQ(at_admin(proxy).post(path, "", {{"Garner-Admin", "0"}}).status(), 403);
    EXPECT_TRUE(get(proxy, origin, "/page").hit());
    EXPECT_EQ(at_admin(proxy).post(path, "", {{"Garner-Admin", "1"}}).status(), 200);
    EXPECT_FALSE(get(proxy, origin, "/page").hit());
}

TEST(Admin, the_commands_purge_and_stats_ask_the_running_proxy) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy;
    get(proxy, origin, "/page").body();
    auto garner = [&](std::vector<std::string> words) {
        words.insert(words.begin(), garner_binary());
        words.insert(words.end(), {"--config", proxy.dir().path("garner.json").string()});
        return run(words);
    };
    auto const stats = garner({"stats"});
    EXPECT_EQ(stats.code, 0) << stats.errors;
    EXPECT_NE(stats.output, "");
    auto const purged = garner({"purge", origin.url("/page")});
    EXPECT_EQ(purged.code, 0) << purged.errors;
    EXPECT_FALSE(get(proxy, origin, "/page").hit());
    EXPECT_EQ(garner({"purge", origin.url("/never-seen")}).code, 1);
    EXPECT_NE(garner({"purge", "nonsense"}).code, 0);
}

TEST(Admin, a_GET_changes_nothing) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy;
    get(proxy, origin, "/page").body();
    Fields const field{{"Garner-Admin", "1"}};
    at_admin(proxy).get("/purge?url=" + origin.url("/page"), field).status();
    EXPECT_TRUE(get(proxy, origin, "/page").hit());
}

TEST(Admin, what_is_not_there_is_404_and_nonsense_is_refused) {
    Proxy proxy;
    auto client = at_admin(proxy);
    EXPECT_EQ(client.get("/nothing").status(), 404);
    EXPECT_THAT(client.send("DELETE", "/stats.json").status(), AnyOf(403, 405));
    Client rude("127.0.0.1", proxy.admin());
    rude.raw("nonsense\r\n\r\n");
    EXPECT_EQ(rude.expect().status(), 400);
    EXPECT_EQ(at_admin(proxy).get("/stats.json").status(), 200);
}

TEST(Admin, clients_that_never_speak_do_not_keep_others_out) {
    Proxy proxy;
    std::vector<Client> silent(50, at_admin(proxy));
    for (auto& client : silent) client.wire();
    EXPECT_EQ(at_admin(proxy).get("/stats.json").status(), 200);
}

TEST(Admin, explains_what_the_last_requests_of_a_URL_met) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy(Proxy::Setup{.accelerates = origin.url()});
    auto const explained = [&](std::string const& url) { return at_admin(proxy).get("/explanation?url=" + url).body(); };
    EXPECT_THAT(explained(origin.url("/page")), HasSubstr("none for this URL among the last 65,536 of the proxy"));
    std::string told;
    auto const tells = [&](char const* text) {
        return eventually([&] { return (told = explained(origin.url("/page"))).find(text) != told.npos; });
    };
    get(proxy, origin, "/page").body();
    EXPECT_TRUE(tells(": miss (uri-miss), status 200, in ")) << told;
    EXPECT_TRUE(get(proxy, origin, "/page").hit());
    EXPECT_TRUE(tells(": hit, status 200, in ")) << told;
    EXPECT_THAT(told, HasSubstr(", client 127.0.0.1"));
    EXPECT_LT(told.find(": hit, "), told.find(": miss (")) << "the latest one comes first";
    Client visitor("127.0.0.1", proxy.accelerator());
    visitor.get("/page").body();
    EXPECT_TRUE(eventually([&] { return (told = explained(origin.url("/page"))).find(": miss (") != told.rfind(": miss ("); }))
        << told;
}

TEST(Admin, explains_the_id_of_an_error_page) {
    Proxy proxy;
    auto const url = "http://127.0.0.1:" + std::to_string(free_port()) + "/gone";
    EXPECT_EQ(Client(proxy).get(url).status(), 502);
    auto const id = proxy.logged("/gone").all["id"].get<std::string>();
    auto const explained = at_admin(proxy).get("/explanation?url=" + id).body();
    EXPECT_THAT(explained, HasSubstr("Failed request " + id));
    EXPECT_THAT(explained, HasSubstr("failed: 502 "));
    EXPECT_THAT(explained, HasSubstr("GET " + url));
    auto const of_url = at_admin(proxy).get("/explanation?url=" + url).body();
    EXPECT_THAT(of_url, AllOf(HasSubstr(": failed"), HasSubstr("status 502, in ")));
    EXPECT_THAT(of_url, HasSubstr("(id " + id + ")"));
}

}   // namespace garner::test
