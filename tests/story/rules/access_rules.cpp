// Access rules with names, reasons, named matchers, lists from files and tests; and the commands that ask them.
#include <signal.h>

#include <fstream>

#include "story/scene.hpp"
#include "support/programs.hpp"

namespace garner::test {

namespace {

std::string const loopback_open = R"({"allow": {"destination": ["127.0.0.0/8", "::1"], "port": ["1-65535"]}})";

Finished rules_command(std::vector<std::string> words, std::string const& input_file = "/dev/null") {
    words.insert(words.begin(), {"sh", "-c", "exec \"$0\" rules \"$@\" < " + input_file, garner_binary()});
    return run(words);
}

/// A configuration for commands.
std::string const exams = R"({
  "matchers": { "office": { "source": "10.1.0.0/16" } },
  "access": [ { "name": "exams", "deny": { "source": "10.4.0.0/16", "time": "Mon-Fri 08:00-12:00" }, "because": "Until noon." },
              { "allow": { "is": "office" } }, { "name": "rest", "deny": "all" } ]
})";

/// Rules for members of a group that lists them.
std::string const groups = R"({
  "auth": { "sources": [ { "type": "address", "users": { "10.3.0.7": "kiosk" } } ] },
  "groups": { "staff": { "user": ["alice", "kiosk"] }, "pupils": { "ldap": "cn=pupils,dc=uni" } },
  "access": [ { "name": "films", "deny": { "host": "films.example", "group": "pupils" } },
              { "name": "staff", "allow": { "group": "staff" } }, { "name": "rest", "deny": "all" } ]
})";

}   // namespace

TEST(AccessRules, a_refusal_shows_name_and_reason_and_not_the_matchers) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy(R"({"access": [{"name": "exams", "deny": {"url_contains": "/page"}, "because": "Until noon."}, )" + loopback_open +
                "]}");
    auto reply = get(proxy, origin, "/page");
    EXPECT_EQ(reply.status(), 403);
    EXPECT_THAT(reply.body(), HasSubstr("Decided by: exams (access[0]: deny)"));
    EXPECT_THAT(reply.body(), HasSubstr("Until noon."));
    EXPECT_THAT(reply.body(), Not(HasSubstr("url_contains")));
    EXPECT_EQ(origin.connections(), 0u);
}

TEST(AccessRules, a_second_line_and_another_case_evade_no_rule) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy(R"({"access": [{"deny": {"method": "POST"}}, {"deny": {"header": "X-Kind: ^bad$"}}, )"
                R"({"allow": {"header": "X-Kind: ^good$", "destination": "127.0.0.0/8", "port": "1-65535"}}, {"deny": "all"}]})");
    auto const ask = [&](char const* method, std::vector<char const*> const& kinds) {
        Fields fields;
        for (auto const* kind : kinds) fields.emplace_back("X-Kind", kind);
        return Client(proxy, origin).send(method, "/page", fields).status();
    };
    EXPECT_EQ(ask("GET", {"good"}), 200);
    EXPECT_EQ(ask("GET", {"good", "bad"}), 403);
    EXPECT_EQ(ask("GET", {"good", "other"}), 403);
    EXPECT_EQ(ask("GET", {"other", "good"}), 403);
    EXPECT_EQ(ask("POST", {"good"}), 403);
    EXPECT_EQ(ask("post", {"good"}), 403);
}

TEST(AccessRules, a_host_that_is_an_address_or_localhost_opens_it_and_another_name_does_not) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    auto const port = R"(, "port": "1-65535"}})";
    auto const at = [&](std::string const& host) { return "http://" + host + ":" + std::to_string(origin.port()) + "/page"; };
    Proxy proxy(R"({"access": [{"allow": {"host": ["127.0.0.1", "localhost"])" + std::string(port) + "]}");
    EXPECT_EQ(Client(proxy).get(at("127.0.0.1")).status(), 200);
    EXPECT_EQ(Client(proxy).get(at("localhost")).status(), 200);
    EXPECT_EQ(Client(proxy).get(at("127.0.0.2")).status(), 403);
    Proxy by_expression(R"({"access": [{"allow": {"host_matches": "localhost|127")" + std::string(port) + "]}");
    EXPECT_EQ(Client(by_expression).get(at("localhost")).status(), 403);
    EXPECT_EQ(Client(by_expression).get(at("127.0.0.1")).status(), 403);
}

TEST(AccessRules, a_list_from_a_file_is_read_again_by_a_reload) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    TempDir dir;
    auto const list = dir.write("hosts", "0.0.0.0 other.test\n");
    Proxy proxy(R"({"access": [{"deny": {"host": "file:)" + list + "\"}}, " + loopback_open + "]}");
    auto const url = "http://localhost:" + std::to_string(origin.port()) + "/page";
    EXPECT_EQ(Client(proxy).get(url).status(), 200);
    dir.write("hosts", "# now both\nother.test\nlocalhost\n");
    proxy.signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return Client(proxy).get(url).status() == 403; }));
}

TEST(AccessRules, a_reload_whose_tests_fail_is_refused) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    auto const configuration = [](std::string const& first) {
        return R"({"access": [)" + first + loopback_open + R"(], "tests": [{"url": "http://127.0.0.1/", "expect": "allow"}]})";
    };
    Proxy proxy(configuration(""));
    proxy.reconfigure(configuration(R"({"name": "shut", "deny": "all"}, )"));
    proxy.signal(SIGHUP);
    EXPECT_TRUE(eventually(
        [&] { return proxy.errors().find("but the decision is deny by shut (access[0]: deny) all") != std::string::npos; }));
    EXPECT_EQ(get(proxy, origin, "/page").status(), 200);
}

TEST(RulesCommand, why_shows_each_rule_and_the_nearest_one) {
    TempDir dir;
    auto const file = dir.write("garner.json", exams);
    auto const shown = rules_command({"why", "http://a.example/", "--source", "10.4.0.7", "--at", "Mon 09:00", "--config", file});
    EXPECT_EQ(shown.code, 0);
    EXPECT_EQ(shown.output,
              "deny by exams (access[0]: deny) {\"source\":\"10.4.0.0/16\",\"time\":\"Mon-Fri 08:00-12:00\"}\n"
              "because: Until noon.\n"
              "  access[0]: deny exams {\"source\":\"10.4.0.0/16\",\"time\":\"Mon-Fri 08:00-12:00\"}: matches; decides\n"
              "  access[1]: allow {\"is\":\"office\"}: no match (is office: source)\n"
              "  access[2]: deny rest all: matches\n"
              "nearest allow rule: access[1], which does not match because of: is office: source\n");
    auto const json = rules_command({"why", "http://a.example/", "--source", "10.1.0.7", "--json", "--config", file});
    EXPECT_EQ(json.code, 0);
    auto const read = nlohmann::json::parse(json.output);
    EXPECT_EQ(read["verdict"], "allow");
    EXPECT_EQ(read["rules"][1]["decides"], true);
    EXPECT_EQ(rules_command({"why", "--config", file}).code, 2);
    EXPECT_EQ(rules_command({"why", "http://a.example/", "--at", "noon", "--config", file}).code, 2);
    EXPECT_EQ(rules_command({"why", "http://a.example/", "--config", "/nowhere"}).code, 1);
    auto const wrong = rules_command({"why", "http://a.example/", "-H", "nocolon", "--config", file});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_EQ(wrong.errors, "garner rules: \"nocolon\" is not a field like \"Accept: text/html\": no colon in field line\n");
    EXPECT_EQ(rules_command({"why", "a.example", "--config", file}).code, 2);
}

TEST(RulesCommand, questions_count_a_user_as_a_member_of_the_groups_that_list_it) {
    TempDir dir;
    auto const file = dir.write("garner.json", groups);
    auto const why = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"why", "http://a.example/", "--config", file});
        return rules_command(words).output;
    };
    EXPECT_THAT(why({"--user", "Alice"}), StartsWith("allow by staff (access[1]: allow)"));
    EXPECT_THAT(why({"--user", "bob"}), StartsWith("deny by rest"));
    EXPECT_THAT(why({"--user", "bob", "--group", "staff"}), StartsWith("allow by staff"));
    auto const decided =
        rules_command({"decide", "--config", file}, dir.write("questions", R"({"url": "http://a.example/", "user": "alice"}
{"url": "http://films.example/", "user": "alice", "groups": ["pupils"]}
)"));
    EXPECT_EQ(decided.output, "{\"verdict\":\"allow\",\"rule\":\"access[1]\",\"name\":\"staff\",\"needs\":null,\"closed\":null}\n"
                              "{\"verdict\":\"deny\",\"rule\":\"access[0]\",\"name\":\"films\",\"needs\":null,\"closed\":null}\n");
    auto const log =
        dir.write("access.log",
                  "1763890210.603 1 10.1.0.7 TCP_MISS/200 1462 GET http://a.example/ alice HIER_DIRECT/192.0.2.7 text/html\n"
                  "1763890210.603 1 10.1.0.7 TCP_MISS/200 1462 GET http://films.example/ alice HIER_DIRECT/192.0.2.7 text/html\n");
    EXPECT_THAT(rules_command({"test", "--log", log, "--config", file}).output,
                testing::AllOf(HasSubstr("newly denied: 0 (0 %)\n"), HasSubstr("undecidable: 1 (50 %)\n  1 alice films.example")))
        << "only the directory knows the pupils";
}

TEST(RulesCommand, a_list_of_members_that_cannot_be_read_is_named) {
    TempDir dir;
    auto const text = filled_in(groups, {{R"("alice", "kiosk")", R"("file:/nowhere/staff")"}});
    auto const shown = rules_command({"why", "http://a.example/", "--config", dir.write("garner.json", text)});
    EXPECT_EQ(shown.code, 1);
    EXPECT_THAT(shown.errors, StartsWith("garner rules: groups.staff.user[0]: /nowhere/staff: cannot be read"));
}

TEST(RulesCommand, why_answers_while_a_test_of_the_configuration_fails) {
    TempDir dir;
    auto const test =
        R"("tests": [ { "source": "10.4.0.7", "at": "Mon 13:00", "url": "http://a.example/", "expect": "deny exams" } ],)";
    auto const file = dir.write("garner.json", "{" + std::string(test) + exams.substr(1));
    std::vector<std::string> const question{"http://a.example/", "--source", "10.4.0.7", "--at", "Mon 13:00", "--config", file};
    auto const ask = [&](std::string const& how) {
        auto words = question;
        words.insert(words.begin(), how);
        return rules_command(words);
    };
    auto const shown = ask("why");
    EXPECT_EQ(shown.code, 0);
    EXPECT_THAT(shown.output, StartsWith("deny by rest (access[2]: deny) all\n"));
    EXPECT_THAT(shown.output,
                HasSubstr("access[0]: deny exams {\"source\":\"10.4.0.0/16\",\"time\":\"Mon-Fri 08:00-12:00\"}: no match (time)"));
    EXPECT_THAT(shown.errors,
                HasSubstr("garner.json:1: tests[0]: notice: expects \"deny exams\", but the decision is deny by rest"));
    auto const refused = rules_command({"decide", "--config", file});
    EXPECT_EQ(refused.code, 1);
    EXPECT_THAT(refused.errors, HasSubstr("garner.json:1: tests[0]: expects \"deny exams\""));
}

TEST(RulesCommand, decide_answers_each_line) {
    TempDir dir;
    auto const file = dir.write("garner.json", exams);
    auto const questions =
        dir.write("questions", R"({"url": "http://a.example/", "source": "10.4.0.7", "at": "2026-11-23T09:30:10Z"}
{"url": "http://a.example:25/", "source": "10.1.0.7", "at": "2026-11-23T09:30:10Z"}
{"url": "http://a.example/", "source": "10.1.0.7", "method": "POST", "user": "anna", "groups": ["staff"], "fields": ["A: b"]}
{"url": "a.example:443", "method": "CONNECT", "source": "10.1.0.7", "destination": "127.0.0.1", "listener": 3128}
{"link": 1}
)");
    auto const shown = rules_command({"decide", "--config", file}, questions);
    EXPECT_EQ(shown.output,
              "{\"verdict\":\"deny\",\"rule\":\"access[0]\",\"name\":\"exams\",\"needs\":null,\"closed\":null}\n"
              "{\"verdict\":\"deny\",\"rule\":\"access[1]\",\"name\":null,\"needs\":null,\"closed\":\"port of another protocol\"}\n"
              "{\"verdict\":\"allow\",\"rule\":\"access[1]\",\"name\":null,\"needs\":null,\"closed\":null}\n"
              "{\"verdict\":\"deny\",\"rule\":\"access[1]\",\"name\":null,\"needs\":null,\"closed\":\"destination on loopback\"}\n"
              "{\"error\":\"link: unknown member; valid members: at, source, listener, user, groups, method, url, "
              "destination, fields\"}\n");
    EXPECT_EQ(shown.code, 1);
}

TEST(RulesCommand, decide_agrees_with_the_proxy_about_hosts_on_loopback) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    auto const path = ":" + std::to_string(origin.port()) + "/page";
    std::size_t refused = 0, served = 0;
    for (std::string const rules : {R"([{"allow": "all"}])", R"([{"allow": {"destination": "127.0.0.0/8", "port": "1-65535"}}])",
                                    R"([{"allow": {"host": "localhost", "port": "1-65535"}}])",
                                    R"([{"deny": {"destination": "127.0.0.1"}}, {"allow": {"host": "127.0.0.1"}}])"}) {
        Proxy proxy(R"({"access": )" + rules + "}");
        for (std::string const host : {"localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.0.0.1."}) {
            auto const url = "http://" + host + path;
            auto const status = Client(proxy).get(url).status();
            ASSERT_THAT(status, AnyOf(200, 403)) << rules << url;
            ++(status == 403 ? refused : served);
            auto const asked = proxy.dir().write("questions", R"({"url": ")" + url + "\"}\n");
            auto const told = rules_command({"decide", "--config", proxy.dir().path("garner.json").string()}, asked).output;
            EXPECT_THAT(told, StartsWith(status == 403 ? R"({"verdict":"deny")" : R"({"verdict":"allow")")) << rules << url;
        }
    }
    EXPECT_GE(refused, 10u);
    EXPECT_GE(served, 5u);
}

TEST(RulesCommand, test_replays_a_log) {
    TempDir dir;
    auto const before = dir.write("old.json", R"({"access": [{"allow": {"source": "10.0.0.0/8"}}]})");
    auto const after = dir.write("new.json", exams);
    auto const log = dir.write(
        "access.log", "1763890210.603 1 10.1.0.7 TCP_MISS/200 1462 GET http://a.example/ anna HIER_DIRECT/192.0.2.7 text/html\n"
                      "1763890210.603 1 10.2.0.7 TCP_MISS/200 1462 GET http://b.example/x - HIER_DIRECT/192.0.2.7 text/html\n"
                      "1763890210.603 1 10.1.0.7 TCP_DENIED/403 1462 GET http://c.example/ - HIER_NONE/- text/html\n"
                      "1763890210.603 1 10.1.0.7 UDP_MISS/000 66 ICP_QUERY http://a.example/ - HIER_NONE/- -\n"
                      "broken\n");
    auto const shown = rules_command({"test", "--log", log, "--config", after});
    EXPECT_EQ(shown.code, 0);
    EXPECT_EQ(shown.output,
              "3 requests replayed; skipped: 0 malformed, 0 for the proxy's own pages, 0 purges, 0 refused by limits or quotas, "
              "1 of other protocols; 1 lines unreadable\n"
              "newly denied: 1 (33.3 %)\n"
              "  1 - b.example, such as GET http://b.example/x from 10.2.0.7: deny by rest (access[2]: deny) all\n"
              "newly allowed: 1 (33.3 %)\n"
              "  1 - c.example, such as GET http://c.example/ from 10.1.0.7: allow by access[1]: allow {\"is\":\"office\"}\n"
              "undecidable: 0 (0 %)\n");
    EXPECT_EQ(run({"gzip", "-k", log}, 30s).code, 0);
    EXPECT_EQ(rules_command({"test", "--log", log + ".gz", "--config", after}).output, shown.output);
    auto const with_bound = [&](char const* share) {
        return rules_command({"test", "--log", log, "--against", before, "--max-new-denials", share, "--config", after}).code;
    };
    EXPECT_EQ(with_bound("50%"), 0);
    EXPECT_EQ(with_bound("0.1%"), 1);
    EXPECT_EQ(rules_command({"test", "--log", "/nowhere", "--config", after}).code, 1);
    EXPECT_EQ(rules_command({"test", "--config", after}).code, 2);
}

TEST(RulesCommand, test_skips_what_no_rule_decides_in_each_format) {
    TempDir dir;
    for (std::string const format : {"squid", "combined", "json"}) {
        Origin origin;
        origin.answer("/page", fresh("x"));
        Proxy proxy(R"({"workers": 1, "quotas": [{"name": "one", "requests": 1}], "log": {"format": ")" + format + "\"}}");
        auto const listen = "127.0.0.1:" + std::to_string(proxy.port());
        auto const shut = dir.write("new.json", R"({"listen": [{"address": ")" + listen + R"("}], "access": [{"deny": "all"}]})");
        EXPECT_EQ(get(proxy, origin, "/page").status(), 200);
        EXPECT_EQ(get(proxy, origin, "/more").status(), 429);
        for (std::string const path : {"/proxy.pac", "/quota"})
            EXPECT_EQ(Client(proxy).get("http://" + listen + path).status(), 200);
        EXPECT_EQ(Client(proxy).get("http://garner.internal/").status(), 200);
        EXPECT_EQ(Client(proxy, origin).send("PURGE", "/page").status(), 200);
        for (char const* bytes :
             {"nonsense\r\n\r\n", "GET /page HTTP/1.1\r\nHost: a.test\r\n\r\n", "GET http://a_b:x/ HTTP/1.1\r\n\r\n"}) {
            Client client(proxy);
            client.raw(bytes);
            EXPECT_EQ(client.expect().status(), 400) << bytes;
        }
        proxy.stop();
        auto const shown = rules_command({"test", "--log", proxy.log_file().string(), "--config", shut});
        EXPECT_THAT(
            shown.output,
            StartsWith("1 requests replayed; skipped: 3 malformed, 3 for the proxy's own pages, 1 purges, 1 refused by limits or "
                       "quotas, 0 of other protocols; 0 lines unreadable\nnewly denied: 1 (100 %)\n"))
            << format << read_file(proxy.log_file());
    }
}

}   // namespace garner::test
