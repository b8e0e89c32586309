// The keys of interception and the checks of its files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bump/ca_init.hpp"
#include "bump/decide.hpp"
#include "config/check_command.hpp"
#include "config/command_line.hpp"
#include "io/privileges.hpp"
#include "support.hpp"
#include "support/child.hpp"

namespace garner::config {
namespace {

using bump::Action;
using testing::HasSubstr;

/// A folder with a CA for .example.org.
struct CaFolder {
    CaFolder() { EXPECT_EQ(bump::init_ca(directory, {*http::HostPattern::parse(".example.org")}, wall_now()).fault_text(), ""); }

    /// The errors and notices of a configuration with this CA and these rules.
    std::string told_with(std::string const& rules, std::string const& user = "root") const {
        bump::CaPaths const paths(directory);
        auto const loaded = load_text("test.json",
                                      R"({"user": ")" + user + R"(", "bump": {"ca_chain": ")" + paths.chain + R"(", "ca_key": ")" +
                                          paths.key + R"(", "rules": )" + rules + "}}",
                                      {}, NamedFiles::tried);
        std::string out = told(loaded);
        for (auto const& notice : loaded.notices) out += "notice: " + text_of(notice) + "\n";
        return out;
    }
    test::TempDir folder;
    std::string directory = folder.path("ca");
};

TEST(Bump, the_keys_are_read) {
    auto const loaded = load(
        R"({"bump": {"ca_chain": "c", "ca_key": "k", "splice_list": false, "otherwise": "splice", "invalid": "page", "learn": "all", "certificates": 7,
        "rules": [ {"splice": {"host": ".a.example"}}, {"bump": {"source": "10.0.0.0/8", "port": 443, "listener": 3128}}, {"terminate": "all"} ]}})");
    EXPECT_EQ(told(loaded), "");
    auto const& bump = loaded.config.bump;
    EXPECT_EQ(bump.ca_chain + bump.ca_key, "ck");
    EXPECT_FALSE(bump.rules.splice_list);
    EXPECT_EQ(bump.rules.otherwise, bump::Otherwise::splice);
    EXPECT_EQ(bump.invalid, bump::Invalid::page);
    EXPECT_EQ(bump.learn, bump::Learn::all);
    EXPECT_EQ(bump.certificates, 7u);
    ASSERT_EQ(bump.rules.all.size(), 3u);
    EXPECT_EQ(bump.rules.all[0].action, Action::splice);
    EXPECT_EQ(bump.rules.all[0].name, "bump.rules[0]: splice");
    EXPECT_EQ(bump.rules.all[0].matchers, R"({"host":".a.example"})");
    EXPECT_EQ(bump.rules.all[1].action, Action::bump);
    EXPECT_EQ(bump.rules.all[1].match.port.front().first, 443);
    EXPECT_EQ(bump.rules.all[2].matchers, "all");
    EXPECT_TRUE(bump.rules.all[2].match.matches_all());
}

TEST(Bump, rules_match_clients_by_their_certificates) {
    auto const loaded = load(R"({
        "matchers": {"office": {"source": "10.1.0.0/16"}},
        "bump": {"rules": [ {"splice": {"certificate": ".crawlers.example", "not": "office"}},
                            {"bump": {"host_matches": "^a"}} ]}})");
    EXPECT_EQ(told(loaded), "");
    auto const& rules = loaded.config.bump.rules;
    std::vector<std::string> const names{"a.crawlers.example"};
    http::RuleRequest request{.client = IpAddress::v4(10, 2, 0, 1), .host = "a.example"};
    EXPECT_EQ(bump::decide(rules, request, {}).action, Action::bump);
    request.certificate = names;
    EXPECT_EQ(bump::decide(rules, request, {}).action, Action::splice);
    request.client = IpAddress::v4(10, 1, 0, 1);
    EXPECT_EQ(bump::decide(rules, request, {}).action, Action::bump);
}

TEST(Bump, nothing_is_bumped_by_default) {
    auto const bump = load("{}").config.bump;
    EXPECT_FALSE(bump.rules.any_applies());
    EXPECT_TRUE(bump.rules.splice_list);
    EXPECT_EQ(bump.invalid, bump::Invalid::mimic);
    EXPECT_EQ(bump.learn, bump::Learn::client);
}

TEST(Bump, errors_of_rules_are_named) {
    struct Row {
        char const* rules;
        char const* told;
    };
    for (auto const& row :
         {Row{R"([{"bmup": {}}])", "bump.rules[0].bmup: unknown key (did you mean bump.rules[0].bump?"},
          Row{R"([{"bump": {}, "splice": {}}])", "bump.rules[0]: a rule has one of splice, bump and terminate"},
          Row{R"([{}])", "a rule has one of splice, bump and terminate"},
          Row{R"(["bump"])", "bump.rules[0]: expects a rule, not text"},
          Row{R"([{"bump": "some"}])", "bump.rules[0].bump: expects matchers"},
          Row{R"([{"bump": {"method": "GET"}}])", "bump.rules[0].bump.method: is not for tunnels"},
          Row{R"([{"bump": {"url_contains": "/x"}}])", "bump.rules[0].bump.url_contains: is not for tunnels"},
          Row{R"([{"splice": {"destination": "10.0.0.0/8"}}])", "bump.rules[0].splice.destination: is not for tunnels"},
          Row{R"([{"bump": {"header": "User-Agent: ^curl/"}}])", "bump.rules[0].bump: matchers of destination, URL and fields are "
                                                                 "not for tunnels (use host, host_matches, port, source, "
                                                                 "listener, certificate or time)"},
          Row{R"([{"bump": {"user": "*"}}])", "bump.rules[0].bump.user: "}})
        EXPECT_THAT(told(load(std::string(R"({"bump": {"rules": )") + row.rules + "}}")), HasSubstr(row.told)) << row.rules;
    EXPECT_THAT(told(load(R"({"bump": {"certificates": 0}})")), HasSubstr("bump.certificates: 0 is out of range"));
}

std::string noticed_in(std::string const& rules) {
    std::string out;
    for (auto const& notice : load(R"({"bump": {"rules": )" + rules + "}}").notices) out += text_of(notice) + "\n";
    return out;
}

TEST(Bump, rules_without_effect_are_noticed) {
    EXPECT_THAT(noticed_in(R"([{"bump": "all"}, {"splice": {"host": "a"}}])"),
                HasSubstr("bump.rules[1]: is never reached: bump.rules[0] matches"));
    EXPECT_THAT(noticed_in(R"([{"bump": {"host": ["a.example", ".paypal.com"]}}])"),
                HasSubstr("bump.rules[0].bump.host[1]: \".paypal.com\" is on the shipped splice list"));
    EXPECT_EQ(noticed_in(R"([{"splice": {"host": ".paypal.com"}}, {"bump": "all"}])"), "");
}

TEST(Bump, a_way_around_the_rules_is_noticed) {
    auto const noticed = [](char const* otherwise, std::string const& rules) {
        std::string out;
        auto const text = R"({"bump": {"otherwise": ")" + std::string(otherwise) + R"(", "rules": )" + rules + "}}";
        for (auto const& notice : load(text).notices) out += text_of(notice) + "\n";
        return out;
    };
    EXPECT_THAT(noticed("splice", R"([{"bump": "all"}])"), HasSubstr("bump.otherwise: lets each client avoid the rules that bump"));
    EXPECT_EQ(noticed("refuse", R"([{"bump": "all"}])"), "");
    EXPECT_EQ(noticed("splice", R"([{"terminate": {"host": "a.example"}}])"), "");
    EXPECT_EQ(load(R"({"bump": {"rules": [{"bump": "all"}]}})").config.bump.rules.otherwise, bump::Otherwise::refuse);
}

/// A configuration with these access rules and these rules of bump, and further keys of bump.
Loaded load_with(std::string const& access, std::string const& rules, std::string const& more = "") {
    return load(R"({"access": )" + access + R"(, "bump": {)" + more + R"("rules": )" + rules + "}}");
}

std::string notices_of(Loaded const& loaded) {
    std::string out;
    for (auto const& notice : loaded.notices) out += text_of(notice) + "\n";
    return out;
}

TEST(Bump, pins_are_not_learned_where_an_access_rule_looks_inside) {
    using bump::Learn;
    struct Row {
        char const* access;
        char const* rules;
        Learn learn;
    };
    std::string const allow = R"(, {"allow": {"source": "10.0.0.0/8"}}])";
    for (auto const& row :
         {Row{R"([{"deny": {"url_contains": "/x"}})", R"([{"bump": "all"}])", Learn::off},
          Row{R"([{"deny": {"host": "a.example", "url_contains": "/x"}})", R"([{"bump": {"host": ".a.example"}}])", Learn::off},
          Row{R"([{"deny": {"host": ".a.example", "url_matches": "/x"}})", R"([{"bump": {"host": "b.a.example"}}])", Learn::off},
          Row{R"([{"deny": {"method": ["POST"]}})", R"([{"bump": "all"}])", Learn::off},
          Row{R"([{"deny": {"header": "User-Agent: x"}})", R"([{"bump": "all"}])", Learn::off},
          Row{R"([{"deny": {"host": "c.example", "url_contains": "/x"}})", R"([{"bump": {"host": ".a.example"}}])", Learn::client},
          Row{R"([{"deny": {"port": 80, "url_contains": "/x"}})", R"([{"bump": {"port": 443}}])", Learn::client},
          Row{R"([{"deny": {"method": ["CONNECT"], "port": 25}})", R"([{"bump": "all"}])", Learn::client},
          Row{R"([{"deny": {"host": "a.example"}})", R"([{"bump": "all"}])", Learn::client},
          Row{R"([{"deny": {"url_contains": "/x"}})", R"([{"terminate": {"host": "a.example"}}])", Learn::client}}) {
        auto const by_default = load_with(row.access + allow, row.rules);
        EXPECT_EQ(told(by_default), "");
        EXPECT_EQ(by_default.config.bump.learn, row.learn) << row.access << row.rules;
        auto const notices = notices_of(by_default);
        EXPECT_EQ(notices.find("bump.learn: is off: access[0] looks at requests inside tunnels") != notices.npos,
                  row.learn == Learn::off)
            << notices;
        auto const chosen = load_with(row.access + allow, row.rules, R"("learn": "client", )");
        EXPECT_EQ(chosen.config.bump.learn, Learn::client);
        EXPECT_EQ(notices_of(chosen).find("avoids access[0]") != std::string::npos, row.learn == Learn::off) << notices_of(chosen);
        EXPECT_EQ(notices_of(load_with(row.access + allow, row.rules, R"("learn": "off", )")).find("bump.learn"),
                  std::string::npos);
    }
}

TEST(Bump, rules_about_paths_match_https_where_tunnels_are_decrypted) {
    std::string const access = R"([{"deny": {"host": "a.example", "url_contains": "/x"}}, {"allow": {"source": "10.0.0.0/8"}}])";
    EXPECT_THAT(notices_of(load_with(access, "[]")), HasSubstr("access[0]: never matches https"));
    EXPECT_THAT(notices_of(load_with(access, R"([{"bump": {"host": "b.example"}}])")), HasSubstr("never matches https"));
    for (auto const* rules : {R"([{"bump": {"host": "a.example"}}])", R"([{"bump": "all"}])", R"([{"bump": {"port": 443}}])"})
        EXPECT_THAT(notices_of(load_with(access, rules)), testing::Not(HasSubstr("never matches https"))) << rules;
}

TEST(Bump, check_opens_the_CA) {
    CaFolder const ca;
    bump::CaPaths const paths(ca.directory);
    EXPECT_EQ(ca.told_with(R"([{"bump": {"host": ".example.org"}}])"), "");
    EXPECT_THAT(
        ca.told_with(R"([{"bump": {"host": ["a.example.org", "example.net"]}}])"),
        HasSubstr(
            "notice: test.json:1: bump.rules[0].bump.host[1]: the CA may not sign for \"example.net\", which is spliced instead"));
    ASSERT_EQ(::chmod(paths.key.c_str(), 0644), 0);
    EXPECT_EQ(ca.told_with("[]"), "test.json:1: bump.ca_key: " + paths.key +
                                      ": other users may read or change the CA's private key (mode 0644) (chmod 0600 " + paths.key +
                                      ")\n");
    std::filesystem::remove(paths.chain);
    EXPECT_THAT(ca.told_with("[]"), HasSubstr("bump.ca_chain: " + paths.chain + ": cannot be read"));
}

TEST(Bump, check_opens_the_CA_with_the_rights_of_the_user) {
    if (!io::is_root() || !io::find_account("nobody")) GTEST_SKIP() << "only root becomes another user";
    CaFolder const ca;
    bump::CaPaths const paths(ca.directory);
    auto const& folder = ca.folder.path("");
    std::filesystem::permissions(folder, std::filesystem::perms(0755));
    std::filesystem::permissions(ca.directory, std::filesystem::perms(0755));
    EXPECT_EQ(ca.told_with("[]", "nobody"), "test.json:1: bump.ca_key: \"" + paths.key +
                                                "\" cannot be read by the start or a reload: Permission denied for user nobody "
                                                "(make this user its owner (chown), and let it enter the directory)\n");
    auto const nobody = *io::find_account("nobody");
    ASSERT_EQ(::chown(paths.key.c_str(), nobody.user, nobody.group), 0);
    EXPECT_EQ(ca.told_with("[]", "nobody"), "");
}

TEST(Bump, a_rule_that_bumps_needs_a_CA) {
    auto const tried = [](char const* text) { return told(load_text("test.json", text, {}, NamedFiles::tried)); };
    EXPECT_THAT(tried(R"({"bump": {"rules": [{"bump": "all"}]}})"),
                HasSubstr("bump.ca_chain: is empty, but a rule bumps (make a CA with: garner ca init DIR --config FILE)"));
    EXPECT_THAT(tried(R"({"bump": {"ca_chain": "c"}})"), HasSubstr("bump.ca_key: is empty"));
    EXPECT_EQ(tried(R"({"bump": {"rules": [{"terminate": "all"}]}})"), "");
}

TEST(Bump, the_command_line_of_the_CA) {
    using Words = std::vector<std::string>;
    auto const parse = [](std::vector<char const*> const& words) { return parse_command_line(words); };
    auto const init = parse({"ca", "init", "/etc/garner/ca", "--config", "a.json", "--any-host"});
    EXPECT_EQ(init.command, CommandLine::Command::ca);
    EXPECT_EQ(init.rest, (Words{"init", "/etc/garner/ca"}));
    EXPECT_EQ(init.config_file, "a.json");
    EXPECT_TRUE(init.any_host);
    EXPECT_TRUE(parse({"ca", "export", "--der"}).der);
    EXPECT_EQ(parse({"ca", "show"}).rest, Words{"show"});
    EXPECT_THAT(parse({"ca", "init"}).text, HasSubstr("ca init needs a DIR"));
    EXPECT_THAT(parse({"ca"}).text, HasSubstr("ca needs one of init, export, pins and show"));
    EXPECT_THAT(parse({"ca", "show", "--der"}).text, HasSubstr("--der is for garner ca export"));
}

}   // namespace
}   // namespace garner::config
