// Error responses: their formats, their texts, and their ids in the log.
#include <algorithm>

#include "story/scene.hpp"
#include "support/fake_dns.hpp"
#include "support/programs.hpp"

namespace garner::test {

namespace {

std::string const as_page = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
std::string const as_json = "application/json";
std::string const as_text = "*/*";
std::string const deny_all = R"({"access": [{"deny": "all"}]})";

Reply get_as(Proxy const& proxy, std::string const& accept, std::string const& url) {
    return Client(proxy).get(url, {{"Accept", accept}});
}

/// A URL whose port has no listener.
std::string nowhere() { return "http://127.0.0.1:" + std::to_string(free_port()) + "/page"; }

/// The value of "Request id" in a plain text.
std::string id_in(std::string const& text) {
    std::string const before = "Request id: ";
    auto const at = text.find(before);
    return at == text.npos ? "" : text.substr(at + before.size(), text.find('\n', at) - at - before.size());
}

}   // namespace

TEST(ErrorPages, an_origin_that_is_not_there_is_502_with_a_reason) {
    Proxy proxy;
    auto const url = "http://127.0.0.1:" + std::to_string(free_port()) + "/page";
    Client client(proxy);
    auto reply = client.get(url);
    EXPECT_EQ(reply.status(), 502);
    EXPECT_THAT(reply.body(), HasSubstr("refused"));
    EXPECT_THAT(reply.body(), HasSubstr(url));
    EXPECT_LT(reply.body().size(), 4096u);
    EXPECT_TRUE(reply.has("Via"));
    EXPECT_TRUE(reply.has("Cache-Status"));
    EXPECT_TRUE(reply.has("Date"));
    EXPECT_THAT(reply.field("Content-Type"), HasSubstr("charset"));
    // The connection stays open.
    EXPECT_EQ(client.get(url).status(), 502);
    EXPECT_EQ(client.connections(), 1);
}

TEST(ErrorPages, a_name_that_does_not_exist_is_502_or_503_and_named) {
    Proxy proxy;
    auto reply = Client(proxy).get("http://no-such-host.invalid/page");
    EXPECT_THAT(reply.status(), AnyOf(502, 503, 504));
    EXPECT_THAT(reply.body(), HasSubstr("no-such-host.invalid"));
}

TEST(ErrorPages, HEAD_gets_the_status_without_the_page) {
    Proxy proxy(deny_all);
    Client client(proxy);
    auto reply = client.head("http://192.0.2.1/");
    EXPECT_EQ(reply.status(), 403);
    EXPECT_EQ(reply.body(), "");
    EXPECT_TRUE(client.closed_by_proxy()) << "a refused client keeps no connection";
}

TEST(ErrorPages, an_answer_that_is_no_HTTP_is_502) {
    Origin origin;
    Proxy proxy(R"({"caching": {"negative_ttl": "0s"}})");
    for (std::string answer : {"nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
                               "HTTP/1.1 200 OK\r\nBad Name: x\r\n\r\n", "HTTP/1.1 99 Low\r\n\r\n", ""}) {
        origin.raw("/page", answer);
        EXPECT_EQ(get(proxy, origin, "/page").status(), 502) << answer;
    }
}

// ---- formats ----

TEST(ErrorPages, a_browser_gets_a_page_that_may_load_nothing) {
    Proxy proxy;
    auto reply = get_as(proxy, as_page, nowhere());
    EXPECT_EQ(reply.status(), 502);
    EXPECT_EQ(reply.field("Content-Type"), "text/html;charset=utf-8");
    EXPECT_EQ(reply.field("Content-Security-Policy"), "default-src 'none'; style-src 'unsafe-inline'");
    EXPECT_EQ(reply.field("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(reply.field("Cache-Control"), "no-store");
    EXPECT_THAT(reply.body(), HasSubstr("<h1>The server 127.0.0.1:"));
    EXPECT_THAT(reply.body(), HasSubstr(" refused the connection</h1>"));
}

TEST(ErrorPages, an_API_client_gets_a_problem_detail) {
    Proxy proxy;
    auto reply = get_as(proxy, as_json, nowhere());
    EXPECT_EQ(reply.field("Content-Type"), "application/problem+json");
    EXPECT_EQ(reply.field("Cache-Control"), "no-store");
    auto const problem = nlohmann::json::parse(reply.body());
    EXPECT_EQ(problem["type"], "about:blank");
    EXPECT_EQ(problem["title"], "Bad Gateway");
    EXPECT_EQ(problem["status"], 502);
    EXPECT_THAT(problem["detail"].get<std::string>(), HasSubstr("Connection refused"));
    EXPECT_NE(problem["id"], "");
}

TEST(ErrorPages, curl_gets_a_few_lines_of_text) {
    NEEDS("curl");
    Proxy proxy;
    auto const url = nowhere();
    auto const finished = run({"curl", "-sS", "-x", proxy.url(), url}, 70s);
    EXPECT_EQ(finished.code, 0) << finished.errors;
    EXPECT_THAT(finished.output, StartsWith("502 Bad Gateway: The server 127.0.0.1:"));
    EXPECT_THAT(finished.output, HasSubstr("Address: " + url + "\n"));
    EXPECT_LE(std::ranges::count(finished.output, '\n'), 8);
    auto const problem = run({"curl", "-sS", "-x", proxy.url(), "-H", "Accept: application/json", url}, 70s).output;
    EXPECT_EQ(nlohmann::json::parse(problem)["status"], 502);
}

TEST(ErrorPages, HEAD_gets_the_head_of_GET) {
    Proxy proxy(deny_all);
    for (auto const& accept : {as_page, as_json, as_text}) {
        auto get = Client(proxy).get("http://192.0.2.1/", {{"Accept", accept}});
        auto head = Client(proxy).head("http://192.0.2.1/", {{"Accept", accept}});
        for (auto const* name : {"Content-Type", "Content-Length", "Content-Security-Policy", "Cache-Control", "Cache-Status"})
            EXPECT_EQ(head.field(name), get.field(name)) << name;
        EXPECT_EQ(head.body(), "");
        EXPECT_EQ(std::to_string(get.body().size()), get.field("Content-Length"));
    }
}

TEST(ErrorPages, a_remembered_failure_has_each_client_s_own_format) {
    Origin origin;
    origin.raw("/page", "");
    Proxy proxy(R"({"workers": 1})");
    Client client(proxy, origin);
    std::string const heading = " closed the connection without a response";
    EXPECT_THAT(client.get("/page").body(), HasSubstr(heading + ".\n"));
    auto const url = nowhere();
    EXPECT_THAT(get_as(proxy, as_text, url).body(), HasSubstr(" refused the connection.\n"));
    auto page = get_as(proxy, as_page, url);
    EXPECT_TRUE(page.hit());
    EXPECT_THAT(page.body(), HasSubstr(" refused the connection</h1>"));
    auto problem = get_as(proxy, as_json, url);
    EXPECT_TRUE(problem.hit());
    EXPECT_THAT(nlohmann::json::parse(problem.body())["detail"].get<std::string>(), HasSubstr(" refused the connection. "));
}

TEST(ErrorPages, a_collapsed_request_has_its_own_format) {
    FakeDns dns;
    dns.set("slow.example", {.kind = FakeDns::Name::nxdomain, .delay = 500ms});
    Proxy proxy(R"({"workers": 1, "access": [{"allow": "all"}], "dns": {"servers": [")" + dns.server() + R"("]}})");
    Client first(proxy), second(proxy);
    auto page = first.get("http://slow.example/page", {{"Accept", as_page}});
    pause_for(300ms);
    auto problem = second.get("http://slow.example/page", {{"Accept", as_json}});
    EXPECT_THAT(page.body(), HasSubstr("<h1>The server slow.example could not be found</h1>"));
    EXPECT_TRUE(problem.cache_parameter("collapsed")) << problem.field("Cache-Status");
    EXPECT_EQ(problem.field("Content-Type"), "application/problem+json");
    EXPECT_THAT(nlohmann::json::parse(problem.body())["detail"].get<std::string>(),
                StartsWith("The server slow.example could not be found. "));
}

// ---- texts ----

TEST(ErrorPages, the_heading_names_the_cause) {
    FakeDns dns;
    Origin origin;
    auto silent = origin.hold("/silent");
    origin.raw("/invalid", "nonsense\r\n\r\n");
    Proxy proxy(R"({"workers": 1, "deadlines": {"first_byte": "1s"}, "dns": {"servers": [")" + dns.server() + R"("]}})");
    EXPECT_THAT(get_as(proxy, as_text, "http://missing.example/").body(),
                StartsWith("502 Bad Gateway: The server missing.example could not be found.\n"));
    EXPECT_THAT(get_as(proxy, as_text, origin.url("/invalid")).body(), HasSubstr(" sent an invalid response.\n"));
    EXPECT_THAT(get_as(proxy, as_text, origin.url("/silent")).body(), HasSubstr(" did not respond in time.\n"));
    auto stored = Client(proxy).get(origin.url("/none"), {{"Cache-Control", "only-if-cached"}});
    EXPECT_THAT(stored.body(), StartsWith("504 Gateway Timeout: This page is not in the cache.\n"));
    Client broken(proxy);
    broken.raw("GET http://origin.test/ HTTP/1.1\r\nHost : origin.test\r\n\r\n");
    EXPECT_THAT(broken.expect().body(), StartsWith("400 Bad Request: The request is not valid.\n"));
}

TEST(ErrorPages, text_of_a_hostile_client_comes_back_escaped) {
    Proxy proxy(deny_all);
    std::string const url = "http://192.0.2.1/<script>alert(\"1\")</script>&\\?<b>";
    auto page = get_as(proxy, as_page, url);
    EXPECT_EQ(page.status(), 403);
    EXPECT_THAT(page.body(), Not(HasSubstr("<script")));
    EXPECT_THAT(page.body(), HasSubstr("/&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;\\?&lt;b&gt;"));
    auto text = get_as(proxy, as_text, url);
    EXPECT_EQ(text.field("X-Content-Type-Options"), "nosniff");
    EXPECT_TRUE(nlohmann::json::accept(get_as(proxy, as_json, url).body()));
}

TEST(ErrorPages, visitors_of_an_accelerator_learn_nothing_about_the_origin_or_the_rules) {
    auto const port = std::to_string(free_port());
    Proxy proxy(Proxy::Setup{.patch = R"({"access": [{"deny": {"url_contains": ["/secret-place"]}}, {"allow": "all"}]})",
                             .accelerates = "http://localhost:" + port});
    for (auto const& accept : {as_page, as_json, as_text})
        for (std::string const path : {"/page", "/page", "/secret-place"}) {
            Client visitor("127.0.0.1", proxy.accelerator());
            auto reply = visitor.get(path, {{"Accept", accept}});
            EXPECT_EQ(reply.status(), path == "/page" ? 502 : 403);
            std::vector<std::string> const inner_words{":" + port, "localhost", "127.0.0.1", "::1", "access[", "url_contains"};
            auto const all = reply.body() + reply.field("Cache-Status");
            for (auto const& inner : inner_words) EXPECT_THAT(all, Not(HasSubstr(inner))) << accept << path;
        }
    auto reply = Client("127.0.0.1", proxy.accelerator()).get("/page");
    EXPECT_THAT(reply.body(), StartsWith("502 Bad Gateway: The server of this site refused the connection.\n"));
    EXPECT_THAT(proxy.logged("/page").all["reason"].get<std::string>(), HasSubstr("refused")) << "the log names the cause";
}

// ---- ids ----

TEST(ErrorPages, the_id_is_in_the_log) {
    for (std::string format : {"json", "combined", "squid"}) {
        Proxy proxy(R"({"log": {"format": ")" + format + R"("}})");
        auto const id = id_in(get_as(proxy, as_text, nowhere()).body());
        EXPECT_THAT(id, ::testing::MatchesRegex("[0-9]+\\.[0-9][0-9][0-9]-[0-9a-f]+"));
        ASSERT_TRUE(eventually([&] { return read_file(proxy.log_file()).ends_with("\n"); }));
        auto const line = read_file(proxy.log_file());
        auto const time = id.substr(0, id.find('-'));
        if (format == "json") EXPECT_THAT(line, HasSubstr("\"id\":\"" + id + "\""));
        if (format == "combined") EXPECT_THAT(line, StartsWith("127.0.0.1 " + id + " - ["));
        if (format == "squid") EXPECT_THAT(line, StartsWith(time + " "));
    }
}

TEST(ErrorPages, each_has_an_id_of_its_own_and_other_responses_have_none) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy(R"({"workers": 1})");
    auto const url = nowhere();
    auto const first = id_in(get_as(proxy, as_text, url).body());
    EXPECT_NE(first, id_in(get_as(proxy, as_text, url).body()));
    get(proxy, origin, "/page").body();
    EXPECT_FALSE(proxy.logged("/page", 3).all.contains("id"));
}

}   // namespace garner::test
