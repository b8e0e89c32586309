// Clients whose fields, URLs or trailers try to change responses for other clients or mislead the origin.
#include "hostile/hostile.hpp"
#include "support/fake_dns.hpp"

namespace garner::test {
namespace {

std::string said(Finished const& finished) { return finished.output + finished.errors; }

Finished garner(Proxy const& proxy, std::vector<std::string> words) {
    words.insert(words.begin(), garner_binary());
    words.insert(words.end(), {"--config", proxy.dir().path("garner.json").string()});
    return run(words);
}

Answer with(Fields fields, std::string body = "body") { return {.fields = std::move(fields), .body = std::move(body)}; }

}   // namespace

TEST(HostileFields, a_password_is_in_no_key) {
    Origin origin;
    origin.answer("/cookie", fresh("c", 600, {{"Vary", "Cookie"}}));
    origin.answer("/login", fresh("l", 600, {{"Vary", "Proxy-Authorization"}}));
    Proxy proxy;
    Fields const victim{{"Cookie", "sid=hunter2"}, {"Proxy-Authorization", "Basic hunter2"}};
    for (auto path : {"/cookie", "/login"}) get(proxy, origin, path, victim).body();
    EXPECT_TRUE(get(proxy, origin, "/cookie", victim).hit()) << "the digest of the cookie selects the variant";
    EXPECT_FALSE(get(proxy, origin, "/cookie", {{"Cookie", "sid=other"}}).hit());
    auto const reply = get(proxy, origin, "/login", victim);
    EXPECT_FALSE(reply.hit());
    EXPECT_EQ(reply.detail(), "Vary: Proxy-Authorization");
    auto const told = said(garner(proxy, {"explain", origin.url("/cookie"), "--json"}));
    EXPECT_THAT(told, HasSubstr("cookie"));
    EXPECT_THAT(told, Not(HasSubstr("hunter2")));
}

TEST(HostileFields, a_refused_client_does_not_see_the_networks_of_the_rule) {
    Origin origin;
    Proxy proxy(R"({"access": [{"deny": {"host": ["127.0.0.1"], "source": ["127.0.0.0/8", "10.7.0.0/16"]}}]})");
    auto reply = get(proxy, origin, "/page");
    EXPECT_EQ(reply.status(), 403);
    EXPECT_THAT(reply.body(), HasSubstr("access[0]: deny\n"));
    EXPECT_THAT(reply.body() + reply.detail(), Not(HasSubstr("10.7.0.0")));
    EXPECT_THAT(proxy.logged("/page").all.dump(), HasSubstr("10.7.0.0"));
}

TEST(HostileFields, the_case_of_a_host_reaches_no_origin) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy;
    auto const port = ":" + std::to_string(origin.port());
    Client attacker(proxy);
    EXPECT_EQ(attacker.get("http://LocalH%6FST" + port + "/page").status(), 200);
    EXPECT_EQ(origin.last("/page").head.field("Host"), "localhost" + port);
    EXPECT_TRUE(Client(proxy).get("http://localhost" + port + "/page").hit());
    EXPECT_EQ(attacker.get("http://%30x7f000001" + port + "/page").status(), 400) << "no host";
}

TEST(HostileFields, a_provoked_error_is_not_guessed_to_be_fresh) {
    Origin origin;
    origin.by_hand("/page", [](Hand& hand) {
        bool const evil = hand.request().head.has("X-Evil");
        auto answer = evil ? with({{"Last-Modified", http_date(-1'000'000)}}, "evil") : fresh("good");
        if (evil) answer.status = 404;
        hand.answer(answer);
    });
    Proxy proxy(R"({"caching": {"negative_first": "0.001s"}})");
    EXPECT_EQ(get(proxy, origin, "/page", {{"X-Evil", "1"}}).body(), "evil");
    EXPECT_EQ(get(proxy, origin, "/page").body(), "good");
}

TEST(HostileFields, an_accelerator_writes_what_gateways_say_itself) {
    Origin origin;
    origin.answer("/page", no_store("x"));
    Fields const claims{{"X-Forwarded-For", "10.0.0.1"}, {"X-Forwarded-Host", "evil.example"}, {"X_Forwarded_Proto", "https"},
                        {"X-Real-IP", "10.0.0.1"},       {"X-Original-URL", "/admin"},         {"X-Rewrite-URL", "/admin"},
                        {"X-Host", "evil.example"},      {"X-HTTP-Method-Override", "DELETE"}, {"Proxy", "http://evil.example"}};
    auto asked = [&](Proxy const& proxy) {
        Client("127.0.0.1", proxy.accelerator()).get("/page", claims).body();
        return origin.last("/page").head;
    };
    Proxy proxy(Proxy::Setup{.accelerates = origin.url()});
    auto const head = asked(proxy);
    EXPECT_EQ(head.field("X-Forwarded-For"), "127.0.0.1");
    EXPECT_EQ(head.field("X-Forwarded-Host"), origin.authority());
    EXPECT_EQ(head.field("X-Forwarded-Proto"), "http");
    for (auto name :
         {"X_Forwarded_Proto", "X-Real-IP", "X-Original-URL", "X-Rewrite-URL", "X-Host", "X-HTTP-Method-Override", "Proxy"})
        EXPECT_FALSE(head.has(name)) << name;
    Proxy trusting(Proxy::Setup{.patch = R"({"forwarded_trust": ["127.0.0.0/8"]})", .accelerates = origin.url()});
    auto const trusted = asked(trusting);
    EXPECT_EQ(trusted.field("X-Forwarded-For"), "10.0.0.1, 127.0.0.1");
    EXPECT_EQ(trusted.field("X-Forwarded-Host"), "evil.example");
    EXPECT_EQ(trusted.field("X-Real-IP"), "10.0.0.1");
    EXPECT_FALSE(trusted.has("Proxy"));
}

TEST(HostileFields, an_answer_to_an_overridden_method_is_not_for_others) {
    Origin origin;
    origin.by_hand("/page",
                   [](Hand& hand) { hand.answer(fresh(hand.request().head.has("X-HTTP-Method-Override") ? "deleted" : "page")); });
    Proxy proxy;
    auto attack = get(proxy, origin, "/page", {{"X-HTTP-Method-Override", "DELETE"}, {"Proxy", "http://evil.example"}});
    EXPECT_EQ(attack.body(), "deleted");
    EXPECT_EQ(attack.detail(), "method override in request");
    EXPECT_FALSE(origin.last("/page").head.has("Proxy"));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "page");
}

TEST(HostileFields, fields_of_the_key_separate_clients) {
    Origin origin;
    origin.by_hand("/page", [](Hand& hand) { hand.answer(fresh(hand.request().head.field("X-Page"))); });
    Proxy proxy(R"({"caching": {"key_fields": ["X-Page"]}})");
    EXPECT_EQ(get(proxy, origin, "/page", {{"X-Page", "evil"}}).body(), "evil");
    EXPECT_EQ(get(proxy, origin, "/page").body(), "");
    EXPECT_EQ(get(proxy, origin, "/page", {{"X-Page", "good"}}).body(), "good");
    EXPECT_TRUE(get(proxy, origin, "/page", {{"X-Page", "good"}}).hit());
}

TEST(HostileFields, a_session_cookie_is_not_replayed) {
    Origin origin;
    origin.answer("/page", fresh("x", 600, {{"Set-Cookie", "sid=attacker"}}));
    origin.answer("/public", with({{"Cache-Control", "public, max-age=600"}, {"Set-Cookie", "language=en"}}));
    Proxy proxy;
    for (auto path : {"/page", "/public"}) get(proxy, origin, path).body();
    EXPECT_FALSE(get(proxy, origin, "/page").hit());
    EXPECT_TRUE(get(proxy, origin, "/public").hit());
}

TEST(HostileFields, an_escape_does_not_pass_a_deny) {
    Origin origin;
    origin.answer("/ads/page", no_store("x"));
    Proxy proxy(R"({"access": [{"deny": {"url_contains": ["/ads/"]}}, {"allow": {"destination": ["127.0.0.0/8"]}}]})");
    for (auto path : {"/ads/page", "/%61ds/page", "/%2561ds/page", "/a%64%73/page"})
        EXPECT_EQ(get(proxy, origin, path).status(), 403) << path;
    EXPECT_EQ(get(proxy, origin, "/other").status(), 404);
}

TEST(HostileFields, a_coding_goes_only_to_clients_that_accept_it) {
    Origin origin;
    origin.by_hand("/page", [](Hand& hand) {
        bool const accepts = hand.request().head.has("Accept-Encoding");
        hand.answer(accepts ? fresh("zipped", 600, {{"Content-Encoding", "gzip"}}) : fresh("plain"));
    });
    Proxy proxy;
    EXPECT_EQ(get(proxy, origin, "/page", {{"Accept-Encoding", "gzip"}}).body(), "zipped");
    EXPECT_TRUE(get(proxy, origin, "/page", {{"Accept-Encoding", "gzip"}}).hit());
    EXPECT_EQ(get(proxy, origin, "/page").body(), "plain");
}

TEST(HostileFields, excessive_ranges_do_not_reach_the_origin) {
    Origin origin;
    origin.answer("/page", no_store("x"));
    Proxy proxy;
    for (std::string const range : {"bytes=0-9,5-20,7-8", "bytes=0-,0-,0-"}) {
        get(proxy, origin, "/page", {{"Range", range}}).body();
        EXPECT_FALSE(origin.last("/page").head.has("Range")) << range;
    }
    get(proxy, origin, "/page", {{"Range", "bytes=0-9"}}).body();
    EXPECT_EQ(origin.last("/page").head.field("Range"), "bytes=0-9");
}

TEST(HostileFields, unannounced_trailers_do_not_reach_the_origin) {
    Origin origin;
    origin.answer("/sum", no_store("x"));
    Proxy proxy;
    Client client(proxy, origin);
    auto reply = client.begin("POST", "/sum", {{"Transfer-Encoding", "chunked"}, {"Trailer", "X-Sum, X-Forwarded-For"}});
    client.raw("1\r\na\r\n0\r\nX-Sum: 1\r\nX-Admin: 1\r\nX-Forwarded-For: 10.0.0.1\r\n\r\n");
    EXPECT_EQ(reply.status(), 200);
    EXPECT_EQ(origin.last("/sum").trailers, (Fields{{"X-Sum", "1"}}));
}

TEST(HostileFields, an_accelerators_visitors_do_not_learn_the_origin) {
    auto const port = std::to_string(free_port());
    Proxy proxy(Proxy::Setup{.accelerates = "http://127.0.0.1:" + port});
    auto reply = Client("127.0.0.1", proxy.accelerator()).get("/page");
    EXPECT_EQ(reply.status(), 502);
    EXPECT_THAT(reply.body(), HasSubstr("/page"));
    EXPECT_THAT(reply.body(), Not(HasSubstr(port)));
    EXPECT_THAT(proxy.logged("/page").all.dump(), HasSubstr(port));
}

TEST(HostileFields, queries_stay_out_of_the_log) {
    Origin origin;
    origin.answer("/page?token=hunter2", no_store("x"));
    Proxy proxy(R"({"log": {"query": false}})");
    get(proxy, origin, "/page?token=hunter2", {{"Referer", "http://a.example/?token=hunter2"}}).body();
    EXPECT_THAT(proxy.logged("/page").all.dump(), Not(HasSubstr("hunter2")));
}

TEST(HostileFields, servers_of_other_protocols_are_not_asked) {
    Proxy proxy(R"({"access": [{"allow": {"destination": ["127.0.0.0/8"]}}]})");
    for (auto port : {"21", "22", "23", "143", "6379", "11211"}) {
        auto reply = Client(proxy).get("http://127.0.0.1:" + std::string(port) + "/");
        EXPECT_EQ(reply.status(), 403) << port;
        EXPECT_THAT(reply.body(), HasSubstr("port of another protocol")) << port;
    }
}

TEST(HostileFields, an_escape_does_not_pass_a_rule_for_misses) {
    Origin origin;
    for (auto const* path : {"/public/x", "/%70ublic/x"}) origin.answer(path, fresh("x"));
    Proxy proxy(R"({"misses": [{"allow": {"url_contains": ["/public/"]}}, {"deny": "all"}]})");
    EXPECT_EQ(get(proxy, origin, "/public/x").status(), 200);
    EXPECT_EQ(get(proxy, origin, "/%70ublic/x").status(), 504);
}

TEST(HostileFields, a_client_refused_while_connecting_keeps_no_connection) {
    FakeDns dns;
    dns.set("inner.example", {.v4 = {"127.0.0.1"}});
    Proxy proxy(R"({"dns": {"servers": [")" + dns.server() + R"("]}, "access": [{"allow": {"source": ["127.0.0.0/8"]}}]})");
    Client client(proxy);
    EXPECT_EQ(client.get("http://inner.example/").status(), 403);
    EXPECT_TRUE(client.closed_by_proxy());
}

}   // namespace garner::test
