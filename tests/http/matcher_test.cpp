#include "http/matcher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace garner::http {
namespace {

using testing::ElementsAre;
using MatchResult = Matcher::Result;
using Doubt = Matcher::Doubt;

PortRange port_range(char const* text) { return *PortRange::parse(text); }
NetworkSet networks(char const* text) { return {*parse_network(text)}; }
NamedMatcher named(char const* name, Matcher match) { return {name, std::make_shared<Matcher const>(std::move(match))}; }
std::vector<TextPattern> patterns(char const* text, TextPattern::Case letters = TextPattern::Case::matters) {
    return {*TextPattern::parse(text, letters)};
}

RuleRequest asked_by(char const* client = "127.0.0.1") {
    return {.client = *parse_ip(client), .host = "example.com", .port = 80, .url = "http://example.com/a?b"};
}

TEST(Matcher, port_ranges) {
    EXPECT_TRUE(port_range("80").contains(80));
    EXPECT_FALSE(port_range("80").contains(81));
    EXPECT_TRUE(port_range("80-90").contains(90));
    for (char const* text : {"", "0", "65536", "90-80", "a", "80-", "-80", "80-90-100"})
        EXPECT_FALSE(PortRange::parse(text)) << text;
}

TEST(Matcher, urls) {
    auto asked = asked_by("127.0.0.1");
    asked.url = "http://example.com/cgi-bin/a?b=\xff";
    EXPECT_EQ(Matcher{.url_contains = {"?"}}.matches(asked, nullptr), Matcher::Result::yes);
    EXPECT_EQ(Matcher{.url_contains = {"CGI"}}.matches(asked, nullptr), Matcher::Result::no);
    EXPECT_TRUE(TextPattern::parse("/cgi-[a-z]+/")->matches(asked.url));
    EXPECT_TRUE(TextPattern::parse("=.$")->matches(asked.url)) << "any byte is one character";
    EXPECT_TRUE(TextPattern::parse("(?i)EXAMPLE")->matches(asked.url));
    EXPECT_FALSE(TextPattern::parse("^/cgi")->matches(asked.url));
    EXPECT_NE(TextPattern::parse("(").fault_text(), "");
    EXPECT_FALSE(TextPattern::parse("((a{1000}){1000}){1000}"));
    EXPECT_FALSE(TextPattern::parse(std::string(2'000, 'a')));
}

TEST(Matcher, a_user_is_asked_for_only_when_all_else_matches) {
    Matcher const anna{.source = networks("10.0.0.0/8"), .user = {"anna"}};
    EXPECT_EQ(anna.matches(asked_by("192.0.2.1"), nullptr), MatchResult::no);
    auto asked = asked_by("10.0.0.1");
    EXPECT_EQ(anna.matches(asked, nullptr), MatchResult::needs_identity);
    Identity const her{.user = "ANNA"}, other{.user = "bob"}, nobody;
    for (auto const& [identity, expected] :
         {std::pair(&her, MatchResult::yes), std::pair(&other, MatchResult::no), std::pair(&nobody, MatchResult::yes)}) {
        asked.identity = identity;
        EXPECT_EQ(anna.matches(asked, nullptr), expected) << identity->user;
        EXPECT_EQ(Matcher{.user = {"*"}}.matches(asked, nullptr), MatchResult::yes);
    }
    // The client is neither logged in nor asked to log in: only an allow rule does not match.
    EXPECT_EQ(anna.matches(asked, nullptr, Matcher::Doubt::fails), MatchResult::no);
}

TEST(Matcher, a_group_that_the_directory_could_not_tell_matches_a_deny_only) {
    Matcher const students{.group = {"students"}};
    Identity const unknown{.user = "carol", .groups = {"staff"}, .unknown_groups = {"students"}};
    auto asked = asked_by();
    asked.identity = &unknown;
    EXPECT_EQ(students.matches(asked, nullptr, Matcher::Doubt::matches), MatchResult::yes);
    EXPECT_EQ(students.matches(asked, nullptr, Matcher::Doubt::fails), MatchResult::no);
    EXPECT_EQ((Matcher{.group = {"students", "staff"}}).matches(asked, nullptr, Matcher::Doubt::fails), MatchResult::yes);
    EXPECT_EQ(Matcher{.group = {"others"}}.matches(asked, nullptr, Matcher::Doubt::matches), MatchResult::no);
}

TEST(Matcher, groups_need_to_be_known) {
    Matcher const staff{.group = {"staff", "guests"}};
    Identity const member{.user = "anna", .groups = {"Staff"}}, other{.user = "bob"}, logged{.user = "anna", .groups_known = false};
    auto asked = asked_by();
    EXPECT_EQ(staff.matches(asked, nullptr), MatchResult::needs_identity);
    asked.identity = &member;
    EXPECT_EQ(staff.matches(asked, nullptr), MatchResult::yes);
    asked.identity = &other;
    EXPECT_EQ(staff.matches(asked, nullptr), MatchResult::no);
    asked.identity = &logged;
    EXPECT_EQ(staff.matches(asked, nullptr), MatchResult::needs_identity);
    Identity const listed{.user = "anna", .groups = {"staff"}, .groups_known = false};
    asked.identity = &listed;
    EXPECT_EQ(staff.matches(asked, nullptr), MatchResult::yes) << "one group is enough";
}

TEST(Matcher, names_are_resolved_before_a_login_is_asked_for) {
    Matcher const both{.destination = networks("10.0.0.0/8"), .user = {"anna"}};
    auto const inside = *parse_ip("10.0.0.1"), outside = *parse_ip("192.0.2.1");
    EXPECT_EQ(both.matches(asked_by(), nullptr), MatchResult::needs_destination);
    EXPECT_EQ(both.matches(asked_by(), &inside), MatchResult::needs_identity);
    EXPECT_EQ(both.matches(asked_by(), &outside), MatchResult::no);
}

TEST(Matcher, a_client_of_an_accelerator_passes_as_no_user) {
    Matcher const anyone{.user = {"*"}}, not_anyone{.is_not = {named("anyone", anyone)}};
    auto asked = asked_by();
    asked.accelerated = true;
    EXPECT_EQ(anyone.matches(asked, nullptr, Doubt::fails), MatchResult::no);
    EXPECT_EQ(anyone.matches(asked, nullptr, Doubt::matches), MatchResult::yes);
    EXPECT_EQ(not_anyone.matches(asked, nullptr, Doubt::fails), MatchResult::no);
    EXPECT_EQ(not_anyone.matches(asked, nullptr, Doubt::matches), MatchResult::yes);
}

TEST(Matcher, an_unverified_host_opens_nothing_and_is_still_denied) {
    auto asked = asked_by();
    Matcher const all_by_name[]{
        {.host = {*HostPattern::parse("example.com")}}, {.url_contains = {"example.com"}},
        {.url_matches = patterns("^http://example")},   {.host_matches = patterns("^example")},
        {.decoded_url_matches = patterns("example")},   {.is = {named("it", {.host = {*HostPattern::parse(".com")}})}},
    };
    for (auto const& by_name : all_by_name) {
        asked.unverified = false;
        EXPECT_EQ(by_name.matches(asked, nullptr, Doubt::fails), MatchResult::yes);
        asked.unverified = true;
        EXPECT_EQ(by_name.matches(asked, nullptr, Doubt::fails), MatchResult::no);
        EXPECT_EQ(by_name.matches(asked, nullptr, Doubt::matches), MatchResult::yes);
        Matcher const others{.is_not = {named("it", by_name)}};
        EXPECT_EQ(others.matches(asked, nullptr, Doubt::matches), MatchResult::yes) << "a rule that denies all other hosts";
    }
    EXPECT_EQ(Matcher{.source = networks("127.0.0.0/8")}.matches(asked, nullptr, Doubt::fails), MatchResult::yes);
    asked.host = "example.org";
    EXPECT_EQ(all_by_name[0].matches(asked, nullptr, Doubt::matches), MatchResult::no) << "another host";
}

TEST(Matcher, named_matchers_all_match_and_negated_ones_never) {
    auto const office = named("office", {.source = networks("10.0.0.0/8")});
    auto const web = named("web", {.port = {port_range("80")}});
    EXPECT_EQ((Matcher{.is = {office, web}}).matches(asked_by("10.0.0.1"), nullptr), MatchResult::yes);
    EXPECT_EQ((Matcher{.is = {office, web}}).matches(asked_by("192.0.2.1"), nullptr), MatchResult::no);
    EXPECT_EQ((Matcher{.is_not = {office, web}}).matches(asked_by("192.0.2.1"), nullptr), MatchResult::no);
    EXPECT_EQ((Matcher{.is_not = {office}}).matches(asked_by("192.0.2.1"), nullptr), MatchResult::yes);
    auto const intern = named("intern", {.destination = networks("10.0.0.0/8")});
    EXPECT_EQ((Matcher{.is_not = {intern}}).matches(asked_by(), nullptr), MatchResult::needs_destination);
}

TEST(Matcher, an_escape_evades_no_negated_matcher) {
    auto const ads = named("ads", {.url_contains = {"/ads/"}});
    Matcher const others{.is_not = {ads}};
    auto asked = asked_by();
    asked.url = "http://a.example/%61ds/";
    asked.plain_url = "http://a.example/ads/";
    EXPECT_EQ(others.matches(asked, nullptr, Doubt::fails), MatchResult::no) << "an allow rule";
    EXPECT_EQ(others.matches(asked, nullptr, Doubt::matches), MatchResult::yes) << "a deny rule";
}

/// Each condition that can be about a path, with a folder "/private".
std::vector<Matcher> all_about_paths() {
    return {{.url_contains = {"example/private"}},
            {.url_matches = patterns("^http://a\\.example/private")},
            {.decoded_url_matches = patterns("^http://a\\.example/private")},
            {.decoded_path_matches = patterns("^/private")}};
}

MatchResult result_for(Matcher const& match, std::string const& path, Doubt doubt) {
    std::string const url = "http://a.example" + path;
    ResolvedUrls resolved;
    resolved.assign(url, url.size() - path.size());
    auto asked = asked_by();
    asked.url = url;
    asked.resolved = &resolved;
    return match.matches(asked, nullptr, doubt);
}

TEST(Matcher, a_path_that_origins_resolve_evades_no_deny_rule) {
    for (auto const& match : all_about_paths()) {
        for (char const* path : {"/x/../private", "//private", "/./private", "/%2e/private", "/%252e/private", "/x%2f..%2fprivate",
                                 "/x%252f..%252fprivate", "/x/%2E%2e/private/y?q", "/..//.//private", "/x\\..\\private",
                                 "/%5cprivate", "/x/y/../../../private"}) {
            EXPECT_EQ(result_for(match, path, Doubt::matches), MatchResult::yes) << path;
            EXPECT_EQ(result_for(match, path, Doubt::fails), MatchResult::no) << path << ": an allow rule";
        }
        for (char const* path : {"/x/private", "/privat", "/x?/../private", "/x?u=http://a.example//y", "/private/../x/"})
            EXPECT_EQ(result_for(match, path, Doubt::fails), MatchResult::no) << path;
        EXPECT_EQ(result_for(match, "/x?/../private", Doubt::matches), MatchResult::no) << "a query has no segments";
        EXPECT_EQ(result_for(match, "/private/a%2fb//c", Doubt::fails), MatchResult::yes) << "an allow rule, in no other folder";
    }
}

TEST(Matcher, expressions_for_hosts_ignore_case_and_the_final_dot) {
    Matcher const match{.host_matches = patterns("^ad[0-9]+\\.Example$", TextPattern::Case::ignored)};
    auto asked = asked_by();
    for (auto const& [host, expected] : {std::pair("ad7.example", MatchResult::yes), std::pair("AD7.EXAMPLE.", MatchResult::yes),
                                         std::pair("bad7.example", MatchResult::no)}) {
        asked.host = host;
        EXPECT_EQ(match.matches(asked, nullptr), expected) << host;
    }
}

TEST(Matcher, expressions_for_decoded_URLs_see_them_decoded_once) {
    auto asked = asked_by();
    asked.url = "http://a.example/%66ree%2Ehtml?%2561";
    EXPECT_EQ(Matcher{.decoded_url_matches = patterns("^http://a\\.example/free\\.html\\?%61$")}.matches(asked, nullptr),
              MatchResult::yes);
    EXPECT_EQ(Matcher{.decoded_path_matches = patterns("^/free\\.html\\?%61$")}.matches(asked, nullptr), MatchResult::yes);
    asked.url = "a.example:443";
    EXPECT_EQ(Matcher{.decoded_path_matches = patterns(".*")}.matches(asked, nullptr), MatchResult::no) << "CONNECT";
    EXPECT_EQ(Matcher{.decoded_url_matches = patterns("443$")}.matches(asked, nullptr), MatchResult::yes);
}

TEST(Matcher, fields_are_matched_line_by_line) {
    Matcher const curl{.header = {*FieldPattern::parse("user-agent: ^curl/")}};
    EXPECT_EQ(curl.matches(asked_by(), nullptr), MatchResult::no);
    Fields fields;
    fields.add("User-Agent", "Mozilla/5.0");
    auto asked = asked_by();
    asked.fields = &fields;
    EXPECT_EQ(curl.matches(asked, nullptr), MatchResult::no);
    fields.add("USER-AGENT", "curl/7.88");
    EXPECT_EQ(curl.matches(asked, nullptr), MatchResult::yes);
    for (char const* text : {"curl", ": x", "User Agent: x", "User-Agent:", "User-Agent: ("})
        EXPECT_FALSE(FieldPattern::parse(text)) << text;
}

TEST(Matcher, methods_match_in_any_case_in_doubt) {
    Matcher const post{.method = {"POST"}};
    auto asked = asked_by();
    for (auto const& [method, in_doubt, for_certain] :
         {std::tuple("POST", true, true), std::tuple("post", true, false), std::tuple("PUT", false, false)}) {
        asked.method_text = method;
        EXPECT_EQ(post.matches(asked, nullptr, Doubt::matches) == MatchResult::yes, in_doubt) << method;
        EXPECT_EQ(post.matches(asked, nullptr, Doubt::fails) == MatchResult::yes, for_certain) << method;
    }
}

TEST(Matcher, several_lines_of_a_field_match_in_doubt) {
    auto const asked_with = [](Fields const& fields) {
        auto asked = asked_by();
        asked.fields = &fields;
        return asked;
    };
    auto const expect = [&](Matcher const& matcher, std::vector<char const*> const& lines, bool one_reading, bool each_reading) {
        Fields fields;
        for (auto const* line : lines) fields.add(matcher.header.empty() ? "Content-Type" : "X-Kind", line);
        auto const asked = asked_with(fields);
        auto const text = ::testing::PrintToString(lines);
        EXPECT_EQ(matcher.matches(asked, nullptr, Doubt::matches) == MatchResult::yes, one_reading) << text;
        EXPECT_EQ(matcher.matches(asked, nullptr, Doubt::fails) == MatchResult::yes, each_reading) << text;
    };
    auto const kind = [](char const* expression) {
        return Matcher{.header = {*FieldPattern::parse(std::string("X-Kind: ") + expression)}};
    };
    expect(kind("^one$"), {}, false, false);
    expect(kind("^one$"), {"one"}, true, true);
    expect(kind("^one$"), {"one", "two"}, true, false);
    expect(kind("^one$"), {"two", "one"}, true, false);
    expect(kind("one"), {"one", "one"}, true, true);
    expect(kind("^one, two, 3$"), {"one", "two", "3"}, true, false);
    expect(kind("^one, two$"), {"", "one", "two"}, true, false);
    expect(kind("three"), {"one", "two"}, false, false);
    Matcher const images{.content_type = {"image/*"}};
    expect(images, {"text/html", "image/png"}, true, false);
    expect(images, {"image/png"}, true, true);
}

TEST(Matcher, the_media_type_of_the_request) {
    Matcher const uploads{.content_type = {"multipart/form-data", "image/*"}};
    EXPECT_EQ(uploads.matches(asked_by(), nullptr), MatchResult::no);
    for (auto const& [type, expected] : {std::pair("Multipart/Form-Data; boundary=x", MatchResult::yes),
                                         std::pair("image/png", MatchResult::yes), std::pair("text/html", MatchResult::no)}) {
        Fields fields;
        fields.add("Content-Type", type);
        auto asked = asked_by();
        asked.fields = &fields;
        EXPECT_EQ(uploads.matches(asked, nullptr), expected) << type;
    }
}

TEST(Matcher, an_empty_list_matches_nothing) {
    EXPECT_EQ(Matcher{.never = "host"}.matches(asked_by(), nullptr), MatchResult::no);
    EXPECT_FALSE(Matcher{.never = "host"}.matches_all());
}

TEST(Matcher, names_the_members_that_fail) {
    Matcher const match{.source = networks("10.0.0.0/8"),
                        .destination = networks("10.0.0.0/8"),
                        .port = {port_range("80")},
                        .method = {"POST"},
                        .is = {named("lab", {.listener = {port_range("3129")}})}};
    EXPECT_THAT(match.failing(asked_by(), nullptr, Doubt::fails),
                ElementsAre("source", "method", "destination", "is lab: listener"));
    EXPECT_STREQ(match.judge(asked_by(), nullptr, Doubt::fails).by, "source");
}

TEST(Matcher, covers_another_one_whose_requests_it_all_matches) {
    Matcher const office{.source = networks("10.0.0.0/8")}, lab{.source = networks("10.1.0.0/16"), .method = {"GET"}};
    EXPECT_TRUE(office.covers(lab));
    EXPECT_FALSE(lab.covers(office));
    EXPECT_TRUE(Matcher{}.covers(lab));
    EXPECT_FALSE(office.covers({}));
    Matcher const domain{.host = {*HostPattern::parse(".example")}}, host{.host = {*HostPattern::parse("www.a.example")}};
    EXPECT_TRUE(domain.covers(host));
    EXPECT_FALSE(host.covers(domain));
    Matcher const day{.time = {*TimeWindow::parse("Mon-Fri")}}, morning{.time = {*TimeWindow::parse("Tue 08:00-09:00")}};
    EXPECT_TRUE(day.covers(morning));
    EXPECT_FALSE(morning.covers(day));
}

}   // namespace
}   // namespace garner::http
