// Access rules in the configuration: named matchers, lists from files, names and reasons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "config/rule_lines.hpp"
#include "config/rules_why.hpp"
#include "config/value_files.hpp"
#include "proxy/rule_question.hpp"
#include "support.hpp"

namespace garner::config {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string notices_of_rules(std::string_view text) {
    std::string out;
    for (auto const& notice : load(text).notices) out += text_of(notice) + "\n";
    return out;
}

/// A file that is removed with the object.
class ListFile {
public:
    explicit ListFile(std::string const& text) : path_(testing::TempDir() + "garner_list_" + std::to_string(::getpid())) {
        write(text);
    }
    ~ListFile() { std::filesystem::remove(path_); }
    void write(std::string const& text) { std::ofstream(path_, std::ios::binary) << text; }
    std::string const& path() const { return path_; }
    std::string value() const { return "\"file:" + path_ + "\""; }

private:
    std::string path_;
};

http::Decision decide(Config const& config, char const* client, std::string_view host) {
    static std::string url;
    url = "http://" + std::string(host) + "/";
    return config.proxy.access.decide({.client = *parse_ip(client), .host = host, .url = url}, std::nullopt);
}

TEST(Rules, have_a_name_and_a_reason) {
    auto const loaded = load(R"({"access": [{"name": "exams", "deny": {"source": "10.4.0.0/16"}, "because": "Until noon."}]})");
    EXPECT_EQ(told(loaded), "");
    auto const& rule = loaded.config.proxy.access.rules().front();
    EXPECT_EQ(rule.place, "access[0]: deny");
    EXPECT_EQ(rule.name, "exams");
    EXPECT_EQ(rule.because, "Until noon.");
    EXPECT_EQ(rule.matchers, R"({"source":"10.4.0.0/16"})");
}

TEST(Rules, use_named_matchers_wherever_they_are_defined) {
    auto const loaded = load(R"({"access": [{"deny": {"is": "ads", "not": ["office"]}}, {"allow": {"is": "office"}}],
        "matchers": {"ads": {"host": ".ads.example"}, "office": {"is": "campus", "source": "10.1.0.0/16"},
                     "campus": {"source": "10.0.0.0/8"}}})");
    EXPECT_EQ(told(loaded), "");
    EXPECT_TRUE(loaded.notices.empty());
    EXPECT_EQ(decide(loaded.config, "127.0.0.1", "x.ads.example").rule, "access[0]: deny");
    EXPECT_EQ(decide(loaded.config, "10.1.0.1", "x.ads.example").rule, "access[1]: allow");
}

TEST(Rules, faults_of_named_matchers_are_told_once_at_their_line) {
    EXPECT_EQ(told(load("{\"matchers\": {\n\"a\": {\"source\": \"lan\"}},\n\"access\": [{\"deny\": {\"is\": \"a\"}}, {\"allow\": "
                        "{\"not\": \"a\"}}]}")),
              "test.json:2: matchers.a.source: \"lan\" is not a network (write it like \"10.0.0.0/8\", \"127.0.0.1\" or "
              "\"2001:db8::/32\")\n");
    EXPECT_THAT(told(load(R"({"matchers": {"office": "all"}, "access": [{"deny": {"is": "ofice"}}]})")),
                HasSubstr("access[0].deny.is: no matcher is named \"ofice\" (did you mean \"office\"?)"));
    EXPECT_THAT(told(load(R"({"matchers": {"a": {"is": "b"}, "b": {"not": "a"}}, "access": [{"deny": {"is": "a"}}]})")),
                HasSubstr("matcher \"a\" uses itself"));
    EXPECT_THAT(told(load(R"({"matchers": {"a b": "all"}})")), HasSubstr("is not a name of letters"));
    EXPECT_THAT(told(load(R"({"matchers": [1]})")), HasSubstr("matchers: expects an object"));
}

TEST(Rules, names_that_nobody_uses_are_noticed) {
    EXPECT_EQ(notices_of_rules(R"({"matchers": {"a": {"port": 80}, "b": {"port": 81}}, "access": [{"deny": {"is": "b"}}]})"),
              "test.json:1: matchers.a: no rule uses this matcher (use it with is or not, or remove it)\n");
}

TEST(Rules, that_an_earlier_one_covers_are_noticed) {
    EXPECT_THAT(notices_of_rules(R"({"access": [{"deny": {"source": "10.0.0.0/8"}},
                                                {"allow": {"source": "10.1.0.0/16", "port": 80}}]})"),
                HasSubstr("access[1]: is never reached: access[0] matches all its requests"));
    EXPECT_EQ(notices_of_rules(R"({"access": [{"deny": {"source": "10.1.0.0/16"}}, {"allow": {"source": "10.0.0.0/8"}}]})"), "");
}

constexpr std::string_view kiosk_auth = R"("auth": {"sources": [{"type": "address", "users": {"10.0.0.1": "kiosk"}}]}, )";

TEST(Rules, groups_that_no_rule_uses_are_noticed) {
    auto const notices = notices_of_rules("{" + std::string(kiosk_auth) + R"(
        "groups": {"staff": {"user": "anna"}, "Pupils": {"user": "bob"}, "guests": {"user": "eve"}, "ops": {"user": "carl"}},
        "matchers": {"inner": {"group": "pupils"}},
        "access": [{"deny": {"not": "inner"}}, {"allow": {"group": "STAFF"}}], "purge": [{"allow": {"group": "ops"}}]})");
    EXPECT_EQ(notices, "test.json:2: groups.guests: no rule uses this group (use it with group, or remove it)\n");
    EXPECT_EQ(notices_of_rules("{" + std::string(kiosk_auth) +
                               R"("groups": {"a": {"user": "b"}}, "access": [{"allow": {"group": "*"}}]})"),
              "")
        << "every group";
    for (auto const* user :
         {R"("share": {"weights": [{"group": "a", "weight": 2}]})", R"("caps": [{"group": "a", "down": "8 Mbit/s"}])",
          R"("quotas": [{"name": "q", "group": "a", "bytes": "1 GiB"}])"})
        EXPECT_THAT(notices_of_rules("{" + std::string(kiosk_auth) + R"("groups": {"a": {"user": "b"}}, )" + user + "}"),
                    Not(HasSubstr("no rule uses this group")))
            << user;
}

TEST(Rules, a_user_whose_name_looks_like_all_users_is_noticed) {
    EXPECT_THAT(notices_of_rules("{" + std::string(kiosk_auth) + R"("access": [{"allow": {"user": ["any"]}}]})"),
                HasSubstr("\"any\" is one name (write \"*\" if all names are meant)\n"));
    EXPECT_THAT(notices_of_rules("{" + std::string(kiosk_auth) + R"("access": [{"allow": {"user": "*"}}]})"),
                Not(HasSubstr("one name")));
}

TEST(Rules, names_that_do_not_identify_a_rule_are_noticed) {
    auto const notices = notices_of_rules(R"({"access": [
        {"name": "exams", "deny": {"port": 81}},
        {"name": "exams", "deny": {"port": 82}},
        {"name": "access[0]", "deny": {"port": 83}}, {"name": "access[]", "deny": {"port": 84}}, {"name": "a[1]", "deny": {"port": 85}}],
        "purge": [{"name": "exams", "deny": {"port": 81}}]})");
    EXPECT_EQ(notices,
              "test.json:3: access[1].name: is also the name of access[0] (give each rule its own name: logs and tests call "
              "rules by their names)\n"
              "test.json:4: access[2].name: looks like the position of a rule (use another name: rules without one have such "
              "names)\n");
}

TEST(Rules, matchers_have_names_of_any_language) {
    EXPECT_EQ(told(load(R"({"matchers": {"büro": {"port": 80}, "日本": {"is": "büro"}}, "access": [{"deny": {"is": "日本"}}]})")),
              "");
    EXPECT_THAT(told(load(R"({"matchers": {"a\u0001": "all"}})")), HasSubstr("matchers.a\\u0001: is not a name"));
    EXPECT_THAT(told(load(R"({"matchers": {"a\u0085": "all"}})")), HasSubstr("is not a name")) << "a control character of C1";
}

TEST(Rules, users_need_the_section_auth) {
    for (char const* key : {"user", "group"}) {
        auto const text = R"({"access": [{"allow": {")" + std::string(key) + R"(": "anna"}}]})";
        EXPECT_THAT(told(load(text)), HasSubstr("no client has a user: auth has no sources (add auth.sources, or use source)"));
    }
}

TEST(Rules, groups_must_be_defined) {
    std::string const auth = R"("auth": {"sources": [{"type": "address", "users": {"10.0.0.1": "kiosk"}}]}, )";
    std::string const groups = R"("groups": {"students": {"user": "kiosk"}}, )";
    auto const text = [&](std::string const& more) {
        return "{" + auth + more + R"("access": [{"deny": {"group": "studnets"}}]})";
    };
    EXPECT_THAT(told(load(text(groups))), HasSubstr("no group is named \"studnets\" (did you mean \"students\"?)"));
    EXPECT_THAT(told(load(text(""))), HasSubstr("no group is named \"studnets\" (define it in groups)"));
    EXPECT_EQ(told(load("{" + auth + groups + R"("access": [{"deny": {"group": "Students"}}]})")), "");
}

TEST(Rules, lists_are_regular_files) {
    EXPECT_THAT(told(load(R"({"access": [{"deny": {"host": "file:/dev/zero"}}]})")),
                HasSubstr("access[0].deny.host: /dev/zero is not a regular file"));
}

TEST(Rules, read_lists_from_files) {
    ListFile const file("# offices\n10.1.0.0/16 # the first\n\n  192.0.2.7\r\n");
    auto const loaded = load(R"({"access": [{"allow": {"source": [)" + file.value() + R"(, "10.9.0.0/16"]}}, {"deny": "all"}]})");
    EXPECT_EQ(told(loaded), "");
    for (char const* client : {"10.1.2.3", "192.0.2.7", "10.9.0.1"}) EXPECT_TRUE(decide(loaded.config, client, "a.test").allowed());
    EXPECT_TRUE(decide(loaded.config, "10.2.0.1", "a.test").denied());
}

TEST(Rules, read_hosts_in_the_format_of_a_hosts_file_too) {
    ListFile const file(
        "127.0.0.1 localhost\nfe80::1%lo0 localhost\n0.0.0.0 ads.example tracker.example # two\n.domain.example\nplain.example\n");
    auto const loaded = load(R"({"access": [{"deny": {"host": )" + file.value() + R"(}}, {"allow": "all"}]})");
    EXPECT_EQ(told(loaded), "");
    for (char const* host : {"ads.example", "tracker.example", "x.domain.example", "plain.example"})
        EXPECT_TRUE(decide(loaded.config, "10.0.0.1", host).denied()) << host;
    for (char const* host : {"localhost", "x.ads.example", "0.0.0.0"})
        EXPECT_TRUE(decide(loaded.config, "10.0.0.1", host).allowed()) << host;
}

TEST(Rules, block_international_hosts_by_their_ascii_form) {
    ListFile const file("0.0.0.0 bücher.example\n.müller.example\n");
    for (std::string const& hosts : {std::string(R"(["bücher.example", ".müller.example"])"), file.value()}) {
        auto const loaded = load(R"({"access": [{"deny": {"host": )" + hosts + R"(}}, {"allow": "all"}]})");
        EXPECT_EQ(told(loaded), "");
        for (char const* host : {"xn--bcher-kva.example", "XN--BCHER-KVA.example", "www.xn--mller-kva.example"})
            EXPECT_TRUE(decide(loaded.config, "10.0.0.1", host).denied()) << host;
        EXPECT_TRUE(decide(loaded.config, "10.0.0.1", "bucher.example").allowed());
    }
}

TEST(Rules, read_lists_of_adblock_that_name_hosts_only) {
    ListFile const file("[Adblock Plus 2.0]\n! Title: ads\n||ads.example^\n");
    auto const loaded = load(R"({"access": [{"deny": {"host": )" + file.value() + R"(}}, {"allow": "all"}]})");
    EXPECT_EQ(told(loaded), "");
    EXPECT_TRUE(decide(loaded.config, "10.0.0.1", "www.ads.example").denied());
    EXPECT_TRUE(decide(loaded.config, "10.0.0.1", "badads.example").allowed());
    ListFile const others("||ads.example^\n||ads.example^$popup\n@@||good.example^\n");
    auto const text = told(load(R"({"access": [{"deny": {"host": )" + others.value() + "}}]}"));
    EXPECT_THAT(text, HasSubstr(others.path() + ":2: \"||ads.example^$popup\" is not a host: only Adblock's form"));
    EXPECT_THAT(text, HasSubstr(others.path() + ":3: \"@@||good.example^\" is not a host: it is an exception of Adblock"));
}

TEST(Rules, notice_expressions_that_match_no_host_and_normalise_parts_of_urls) {
    EXPECT_THAT(notices_of_rules(R"({"access": [{"deny": {"host_matches": "bücher"}}]})"), HasSubstr("hosts are in ASCII"));
    EXPECT_THAT(notices_of_rules(R"({"access": [{"deny": {"host_matches": "/ads/"}}]})"), HasSubstr("a slash, which no host has"));
    EXPECT_EQ(notices_of_rules(R"({"access": [{"deny": {"host_matches": "ads[0-9]+[.]example$"}}]})"), "");
    auto const loaded =
        load(R"({"caching": {"never": ["HTTP://BÜCHER.example/A", "http://Ads.example:80/", "cgi-bin", "?to=HTTP://A/"]}})");
    EXPECT_EQ(told(loaded), "");
    EXPECT_EQ(loaded.config.proxy.caching.never,
              (std::vector<std::string>{"http://xn--bcher-kva.example/A", "http://ads.example/", "cgi-bin", "?to=HTTP://A/"}));
}

TEST(Rules, faults_of_files_have_their_line_and_the_key) {
    ListFile const file("10.0.0.0/8\nlan\n10.0.0.1/8\n");
    auto const text = told(load(R"({"access": [{"allow": {"source": )" + file.value() + "}}]}"));
    EXPECT_THAT(text, HasSubstr("test.json:1: access[0].allow.source: " + file.path() + ":2: \"lan\" is not a network"));
    EXPECT_THAT(text, HasSubstr(file.path() + ":3: \"10.0.0.1/8\" has bits set after its prefix"));
    ListFile const hosts("a.test\na/b\n");
    EXPECT_THAT(told(load(R"({"access": [{"allow": {"host": )" + hosts.value() + "}}]}")),
                HasSubstr(hosts.path() + ":2: \"a/b\" is not a host"));
    EXPECT_THAT(told(load(R"({"access": [{"deny": {"host": "file:/nowhere/list"}}]})")),
                HasSubstr("access[0].deny.host: /nowhere/list cannot be read: No such file or directory"));
    EXPECT_THAT(told(load(R"({"access": [{"deny": {"method": ["file:/"]}}]})")),
                HasSubstr("access[0].deny.method[0]: / is a directory"));
}

TEST(Rules, faults_of_long_files_are_counted_and_long_values_are_cut) {
    std::string lines;
    for (int i = 0; i < 12; ++i) lines += "10.0.0.1\nlan" + std::to_string(i) + "\n";
    ListFile const file(lines);
    auto const text = told(load(R"({"access": [{"deny": {"source": )" + file.value() + "}}]}"));
    EXPECT_THAT(text, HasSubstr(file.path() + ":10: \"lan4\" is not a network"));
    EXPECT_THAT(text, Not(HasSubstr("lan5")));
    EXPECT_THAT(text, HasSubstr("access[0].deny.source: " + file.path() + " has 7 more bad lines (correct the file)"));

    std::string hosts;
    for (int i = 0; i < 7; ++i) hosts += "a/" + std::to_string(i) + "\n";
    ListFile const list(hosts + "good.example\nx/\x1b[31m" + std::string(1'000, 'x') + "\n");
    auto const shown = told(load(R"({"access": [{"deny": {"host": )" + list.value() + "}}]}"));
    EXPECT_THAT(shown, HasSubstr(list.path() + ":5: \"a/4\" is not a host"));
    EXPECT_THAT(shown, HasSubstr(list.path() + " has 3 more bad lines"));
    ListFile const one("x/\x1b[31m" + std::string(1'000, 'x') + "\n");
    EXPECT_THAT(told(load(R"({"access": [{"deny": {"host": )" + one.value() + "}}]}")),
                HasSubstr(":1: \"x/\\u001b[31m" + std::string(73, 'x') + "\"... is not a host"));
    auto const umlauts = told(load(R"({"access": [{"deny": {"source": "x)" + [] {
        std::string all;
        for (int i = 0; i < 50; ++i) all += "ü";
        return all;
    }() + R"("}}]})"));
    EXPECT_THAT(umlauts, HasSubstr("\\u00fc\"... is not a network")) << "cut between two characters";
}

TEST(Rules, of_an_empty_file_match_nothing) {
    ListFile const file("# nobody yet\n");
    for (char const* key : {"source", "host", "method", "url_matches"}) {
        auto const loaded =
            load(R"({"access": [{"allow": {")" + std::string(key) + "\": " + file.value() + R"(}}, {"deny": "all"}]})");
        EXPECT_EQ(told(loaded), "");
        EXPECT_TRUE(decide(loaded.config, "127.0.0.1", "a.test").denied()) << key;
    }
}

TEST(Rules, share_a_list_while_its_file_is_the_same) {
    ListFile file("a.test\n");
    auto const bad = [](unsigned, std::string_view) {};
    auto const first = read_host_list(file.path(), bad), second = read_host_list(file.path(), bad);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(*first, *second);
    file.write("a.test\nb.test\n");
    auto const third = read_host_list(file.path(), bad);
    ASSERT_TRUE(third);
    EXPECT_NE(*first, *third);
    EXPECT_TRUE((*third)->contains("b.test"));
}

TEST(Rules, of_commands_that_decide_nothing_read_no_lists) {
    auto const text = R"({"access": [{"deny": {"host": "file:/nowhere/list"}}]})";
    EXPECT_EQ(told(load_text("test.json", text, {}, NamedFiles::left)), "");
}

TEST(Rules, open_no_address_by_a_value_from_a_file) {
    ListFile const file("127.0.0.1\nlocalhost\n");
    auto const loaded = load(R"({"access": [{"allow": {"host": )" + file.value() + "}}]}");
    auto const loopback = *parse_ip("127.0.0.1");
    http::RuleRequest const asked{.client = loopback, .host = "127.0.0.1", .url = "http://127.0.0.1/"};
    EXPECT_TRUE(loaded.config.proxy.access.permits(asked, loopback, {}).denied());
}

constexpr std::string_view exams = R"("access": [
  {"name": "exams", "deny": {"source": "10.4.0.0/16", "time": "Mon-Fri 08:00-12:00"}},
  {"allow": {"source": "10.0.0.0/8"}},
  {"deny": "all"}],)";

std::string tested(std::string const& test) { return told(load("{" + std::string(exams) + "\n\"tests\": [" + test + "]}")); }

TEST(RuleTests, pass_if_the_rules_decide_as_expected) {
    for (char const* test :
         {R"({"source": "10.4.0.7", "at": "Mon 09:00", "url": "http://a.example/", "expect": "deny exams"})",
          R"({"source": "10.4.0.7", "at": "Mon 12:00", "url": "http://a.example/", "expect": "allow access[1]"})",
          R"({"source": "10.4.0.7", "at": "Sun 09:00", "url": "https://a.example/", "expect": "allow"})",
          R"({"url": "http://a.example:25/", "source": "10.5.0.1", "expect": "deny access[1]"})",
          R"({"url": "a.example:22", "method": "CONNECT", "source": "10.5.0.1", "expect": "deny"})",
          R"({"url": "http://a.example/", "source": "10.5.0.1", "destination": "127.0.0.1", "expect": "deny"})",
          R"({"url": "http://a.example/", "expect": "deny access[2]"})"})
        EXPECT_EQ(tested(test), "") << test;
}

TEST(RuleTests, that_fail_are_faults_with_line_and_rule_and_reason) {
    EXPECT_EQ(tested(R"({"source": "10.4.0.7", "at": "Mon 12:30", "url": "http://a.example/", "expect": "deny exams"})"),
              "test.json:5: tests[0]: expects \"deny exams\", but the decision is allow by access[1]: allow "
              "{\"source\":\"10.0.0.0/8\"}; access[0] does not match: time (change the rules or the test)\n");
    EXPECT_THAT(tested(R"({"source": "10.4.0.7", "at": "Mon 08:00", "url": "http://a.example/", "expect": "deny access[2]"})"),
                HasSubstr("but the decision is deny by exams (access[0]: deny) "));
    EXPECT_THAT(tested(R"({"url": "http://a.example/", "expect": "deny exam"})"), HasSubstr("no rule is named \"exam\""));
    EXPECT_THAT(tested(R"({"url": "a.example", "expect": "deny"})"), HasSubstr("tests[0]: the URL is rejected: "));
    EXPECT_THAT(tested(R"({"url": "http://a.example/", "expect": "refuse"})"),
                HasSubstr("tests[0].expect: \"refuse\" is not a decision"));
    EXPECT_THAT(tested(R"({"url": "http://a.example/", "expect": "deny", "at": "9:00"})"),
                HasSubstr("tests[0].at: \"9:00\" is not a time"));
    EXPECT_THAT(tested(R"({"expect": "deny"})"), HasSubstr("tests[0]: has no url"));
}

TEST(RuleTests, tell_why_the_expected_rule_does_not_decide) {
    auto const tell = [](std::string const& test) {
        return told(load("{" + std::string(kiosk_auth) + R"("groups": {"staff": {"user": "anna"}}, "access": [
            {"name": "exams", "deny": {"source": "10.4.0.0/16"}},
            {"name": "staff", "allow": {"group": "staff"}},
            {"name": "late", "allow": {"source": "10.0.0.0/8"}},
            {"name": "rest", "deny": "all"}], "tests": [)" +
                         test + "]}"));
    };
    constexpr char const* mend = " (change the rules or the test)\n";
    EXPECT_THAT(tell(R"({"url": "http://a.example/", "source": "10.5.0.1", "expect": "allow late"})"),
                HasSubstr(std::string("; access[2] matches, but comes after access[1], which asks for a login") + mend));
    EXPECT_THAT(tell(R"({"url": "http://a.example/", "source": "10.5.0.1", "user": "eve", "expect": "deny rest"})"),
                HasSubstr(std::string("; access[3] matches, but comes after access[2]") + mend));
    EXPECT_THAT(tell(R"({"url": "http://a.example:25/", "source": "10.5.0.1", "user": "eve", "expect": "allow late"})"),
                HasSubstr(std::string(R"(port of another protocol (late (access[2]: allow) {"source":"10.0.0.0/8"}))") + mend))
        << "the rule decides, and a default blocks the port";
    EXPECT_THAT(tell(R"({"url": "http://a.example/", "source": "10.4.0.1", "expect": "allow exams"})"),
                HasSubstr(std::string(R"(deny by exams (access[0]: deny) {"source":"10.4.0.0/16"})") + mend));
    EXPECT_THAT(
        tell(R"({"url": "http://a.example/", "source": "10.5.0.1", "user": "eve", "groups": "staff", "expect": "login staff"})"),
        HasSubstr(std::string(R"(allow by staff (access[1]: allow) {"group":"staff"})") + mend));
    EXPECT_THAT(tell(R"({"url": "http://a.example/", "source": "10.5.0.1", "user": "eve", "expect": "deny exams"})"),
                HasSubstr(std::string("; access[0] does not match: source") + mend));
}

/// Rules for members of groups, and tests of them.
std::string with_groups(std::string const& members, std::string const& tests) {
    return "{" + std::string(kiosk_auth) + R"("groups": {"staff": {)" + members + R"(}, "chiefs": {"user": "anna"}},
        "access": [{"deny": {"host": "wages.example", "not": "bosses"}}, {"allow": {"group": "staff"}}, {"deny": "all"}],
        "matchers": {"bosses": {"group": "chiefs"}}, "tests": [)" +
           tests + "]}";
}

TEST(RuleTests, count_a_user_as_a_member_of_the_groups_that_list_it) {
    ListFile const file("carl   # since May\n");
    auto const members = R"("user": ["Anna", )" + file.value() + R"(], "ldap": "cn=staff,dc=uni")";
    for (char const* test : {R"({"url": "http://wages.example/", "user": "anna", "expect": "allow access[1]"})",
                             R"({"url": "http://wages.example/", "user": "CARL", "expect": "deny access[0]"})",
                             R"({"url": "http://a.example/", "user": "carl", "expect": "allow access[1]"})",
                             R"({"url": "http://a.example/", "user": "eve", "expect": "deny access[2]"})",
                             R"({"url": "http://a.example/", "user": "eve", "groups": "staff", "expect": "allow access[1]"})",
                             R"({"url": "http://wages.example/", "user": "carl", "groups": "chiefs", "expect": "allow"})",
                             R"({"url": "http://a.example/", "expect": "login access[1]"})"})
        EXPECT_EQ(told(load(with_groups(members, test))), "") << test;
}

TEST(RuleTests, do_not_run_without_a_list_of_members_that_is_a_fault_itself) {
    auto const text = with_groups(R"("user": "file:/nowhere/staff")", R"({"url": "http://a.example/", "expect": "deny"})");
    EXPECT_EQ(told(load(text)), "");
    auto const tried = told(load_text("test.json", text, {}, NamedFiles::tried));
    EXPECT_THAT(tried, HasSubstr("groups.staff.user[0]: /nowhere/staff: cannot be read"));
    EXPECT_THAT(tried, Not(HasSubstr("expects")));
}

TEST(RuleTests, that_fail_leave_the_configuration_complete) {
    auto const failing = R"("tests": [{"url": "http://a.example/", "expect": "deny"}])";
    auto const loaded = load(R"({"access": [{"allow": "all"}], )" + std::string(failing) + "}");
    EXPECT_TRUE(loaded.only_tests_fail);
    EXPECT_EQ(loaded.faults.size(), 1u);
    EXPECT_EQ(loaded.config.proxy.access.rules().size(), 1u);
    EXPECT_FALSE(load(R"({"access": [{"alow": "all"}], )" + std::string(failing) + "}").only_tests_fail);
    EXPECT_FALSE(load(R"({"access": [{"deny": "all"}], )" + std::string(failing) + "}").only_tests_fail) << "no fault";
}

TEST(RulesWhy, names_the_rule_that_asks_for_a_login_as_the_one_that_decides) {
    auto const loaded = load("{" + std::string(kiosk_auth) + R"("groups": {"staff": {"user": "anna"}}, "access": [
        {"deny": {"source": "10.4.0.0/16"}}, {"allow": {"group": "staff"}}, {"allow": {"source": "10.0.0.0/8"}}, {"deny": "all"}]})");
    proxy::RuleInquiry inquiry(loaded.config.proxy, {});
    proxy::RuleQuestion question{.source = *parse_ip("10.5.0.1"), .url = "http://a.example/"};
    ASSERT_EQ(inquiry.ask(question), "");
    auto trace = trace_rules(inquiry, loaded.config.proxy.access);
    auto json = as_json(trace);
    EXPECT_EQ(json["verdict"], "login");
    EXPECT_EQ(json["rule"], "access[1]");
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(json["rules"][i]["decides"], i == 1) << i;
    EXPECT_THAT(text_of(trace), HasSubstr("nearest allow rule: access[2], which comes after access[1], which asks for a login\n"));
    question.identity = http::Identity{.user = "eve"};
    ASSERT_EQ(inquiry.ask(question), "");
    json = as_json(trace_rules(inquiry, loaded.config.proxy.access));
    EXPECT_EQ(json["verdict"], "allow");
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(json["rules"][i]["decides"], i == 2) << i;
}

TEST(RuleLines, name_the_member_that_an_open_decision_needs) {
    auto const loaded = load("{" + std::string(kiosk_auth) + R"("access": [
        {"deny": {"host": "a.example", "destination": "192.0.2.0/24"}}, {"allow": {"user": "eve"}}]})");
    proxy::RuleInquiry inquiry(loaded.config.proxy, {});
    auto const decided = [&](char const* question) { return decide_line(inquiry, question, wall_now()); };
    EXPECT_EQ(decided(R"({"url": "http://a.example/"})"),
              R"({"verdict":"undecided","rule":"access[0]","name":null,"needs":"destination","closed":null})");
    EXPECT_EQ(decided(R"({"url": "http://b.example/"})"),
              R"({"verdict":"login","rule":"access[1]","name":null,"needs":"user","closed":null})");
    EXPECT_EQ(decided(R"({"url": "http://b.example/", "user": "eve"})"),
              R"({"verdict":"allow","rule":"access[1]","name":null,"needs":null,"closed":null})");
}

TEST(RuleLines, have_fields_as_an_object_or_as_lines) {
    auto const loaded = load(R"({"access": [{"deny": {"header": "X-Kind: ^b$"}}, {"allow": "all"}]})");
    proxy::RuleInquiry inquiry(loaded.config.proxy, {});
    auto const decided = [&](std::string const& fields) {
        return decide_line(inquiry, R"({"url": "http://a.example/", "fields": )" + fields + "}", wall_now());
    };
    for (char const* fields :
         {R"({"X-Kind": "b"})", R"({"A": "x", "x-kind": ["a", "b"]})", R"(["A: x", "X-Kind: b"])", R"("X-Kind: b")"})
        EXPECT_THAT(decided(fields), HasSubstr(R"("verdict":"deny")")) << fields;
    for (char const* fields : {"{}", "[]", "null", R"({"X-Kind": "a"})", R"({"X-Kind": []})"})
        EXPECT_THAT(decided(fields), HasSubstr(R"("verdict":"allow")")) << fields;
    EXPECT_EQ(decided(R"({"X-Kind": 1})"), R"({"error":"fields: expects text, not the number 1; write it in quotes"})");
    EXPECT_THAT(decided(R"({"X Kind": "b"})"), HasSubstr("is not the name of a field; write it like"));
    EXPECT_THAT(decided(R"({"A": "x\r\nX-Kind: b"})"), HasSubstr("error"));
}

}   // namespace
}   // namespace garner::config
