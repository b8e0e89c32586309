// Questions to the access rules without a server, and the times that operators write.
#include "proxy/rule_question.hpp"

#include <gtest/gtest.h>

#include "http/time_window.hpp"
#include "proxy/moment.hpp"

namespace garner::proxy {
namespace {

/// A forward proxy, an accelerator, and rules.
struct Scene {
    Options options;

    explicit Scene(std::vector<http::AccessRule> rules) {
        options.listen = {Listen{"127.0.0.1", 3128, std::nullopt}, Listen{"127.0.0.1", 8080, "http://a.example:8000"}};
        options.access = http::AccessRules(std::move(rules));
    }

    std::string verdict(RuleQuestion const& question) const {
        RuleInquiry inquiry(options, {.interfaces = {}, .listening = {{*parse_ip("127.0.0.1"), 3128}}});
        auto const fault = inquiry.ask(question);
        return fault.empty() ? std::string(name_of(inquiry.decide().verdict)) : fault;
    }
};

RuleQuestion about(std::string url) {
    RuleQuestion question;
    question.url = std::move(url);
    return question;
}

TEST(RuleQuestion, has_a_verdict_for_each_kind_of_missing_fact) {
    http::Matcher anna{.user = {"anna"}}, local{.destination = {*parse_network("10.0.0.0/8")}};
    Scene const scene({{false, local, "access[0]: deny"}, {true, anna, "access[1]: allow"}, {false, {}, "access[2]: deny"}});
    auto question = about("http://b.example/");
    EXPECT_EQ(scene.verdict(question), "undecided");
    question.destination = parse_ip("10.0.0.1");
    EXPECT_EQ(scene.verdict(question), "deny");
    question.destination = parse_ip("192.0.2.1");
    EXPECT_EQ(scene.verdict(question), "login");
    question.identity = http::Identity{.user = "Anna"};
    EXPECT_EQ(scene.verdict(question), "allow");
    question.identity->user = "bob";
    EXPECT_EQ(scene.verdict(question), "deny");
}

TEST(RuleQuestion, about_a_path_that_origins_resolve_is_decided_as_the_request) {
    http::Matcher folder{.url_contains = {"example/private"}};
    Scene const scene({{false, folder, "access[0]: deny"}, {true, {}, "access[1]: allow"}});
    for (auto const* path : {"/x/../private", "//private", "/%2e/private", "/x%2f..%252fprivate"})
        EXPECT_EQ(scene.verdict(about(std::string("http://b.example") + path)), "deny") << path;
    EXPECT_NE(scene.verdict(about("http://b.example/x/private")), "deny");
}

TEST(RuleQuestion, about_the_page_of_refusals_is_no_question_for_rules) {
    Options options;
    RuleInquiry inquiry(options, {});
    auto const is_own_page = [&](RuleQuestion const& question) { return inquiry.ask(question).empty() && inquiry.is_own_page(); };
    EXPECT_TRUE(is_own_page(about("http://Garner.internal/a")));
    EXPECT_FALSE(is_own_page(about("http://garner.internal:81/")));
    EXPECT_FALSE(is_own_page(about("https://garner.internal/")));
    auto post = about("http://garner.internal/");
    post.method = "POST";
    EXPECT_FALSE(is_own_page(post));
    options.refusals.page = "";
    EXPECT_FALSE(is_own_page(about("http://garner.internal/")));
}

TEST(RuleQuestion, is_checked_for_blocked_destinations) {
    Scene const scene({{true, {}, "access[0]: allow"}});
    EXPECT_EQ(scene.verdict(about("http://b.example/")), "allow");
    for (char const* url : {"http://127.0.0.1/", "http://127.0.0.1./", "http://[::1]/"})
        EXPECT_EQ(scene.verdict(about(url)), "deny") << url;
    EXPECT_EQ(scene.verdict(about("https://b.example/")), "allow");
    EXPECT_EQ(scene.verdict(about("https://b.example:444/")), "deny") << "CONNECT";
    auto tunnel = about("b.example:443");
    EXPECT_NE(scene.verdict(tunnel).find("the URL is rejected"), std::string::npos);
    tunnel.method = "CONNECT";
    EXPECT_EQ(scene.verdict(tunnel), "allow");
    tunnel.destination = parse_ip("::1");
    EXPECT_EQ(scene.verdict(tunnel), "deny");
    tunnel.fields = {"no field"};
    EXPECT_NE(scene.verdict(tunnel).find("is not a field"), std::string::npos);
}

TEST(RuleQuestion, about_localhost_knows_the_addresses_of_loopback) {
    Scene const closed({{true, {}, "access[0]: allow"}});
    for (char const* url : {"http://localhost/", "http://LOCALHOST./", "http://a.localhost/", "https://localhost/"})
        EXPECT_EQ(closed.verdict(about(url)), "deny") << url;
    EXPECT_EQ(closed.verdict(about("http://localhost.example/")), "allow");
    for (char const* network : {"127.0.0.0/8", "::1/128"}) {
        Scene const open({{true, {.destination = {*parse_network(network)}}, "access[0]: allow"}, {false, {}, "access[1]: deny"}});
        EXPECT_EQ(open.verdict(about("http://localhost/")), "allow") << network;
    }
}

TEST(RuleQuestion, may_be_for_an_accelerator) {
    Scene const scene({});
    auto question = about("http://127.0.0.1:8080/page");
    question.source = *parse_ip("192.0.2.1");
    EXPECT_EQ(scene.verdict(question), "deny");
    question.listener = 8080;
    EXPECT_EQ(scene.verdict(question), "allow");
}

TEST(Moment, is_a_time_in_UTC_or_of_the_local_week) {
    EXPECT_EQ(parse_moment("2026-11-23T09:30:10Z"), from_unix_seconds(1'795'426'210));
    for (unsigned day = 0; day < 7; ++day) {
        constexpr std::string_view names[]{"Sun", "Mon", "Tue", "wed", "THU", "Fri", "Sat"};
        auto const read = parse_moment(std::string(names[day]) + " 09:05");
        ASSERT_TRUE(read) << names[day];
        EXPECT_EQ(http::minute_of_week(*read), day * 1'440 + 9 * 60 + 5);
    }
    for (char const* text : {"", "Mon", "09:00", "Mon 9:00", "Mon 24:00", "2026-11-23", "2026-02-30T09:30:10Z",
                             "2026-11-23T24:30:10Z", "1969-11-23T09:30:10Z", "2026-11-23T09:30:10"})
        EXPECT_FALSE(parse_moment(text)) << text;
}

}   // namespace
}   // namespace garner::proxy
