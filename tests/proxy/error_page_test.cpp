// Error responses: a heading, hints, the technical reason and an id, in the format that the client prefers.
#include "proxy/error_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "proxy/error_help.hpp"
#include "proxy/failure.hpp"

namespace garner::proxy {
namespace {

using cache::FailureKind;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr ErrorFormat formats[] = {ErrorFormat::text, ErrorFormat::html, ErrorFormat::json};

ErrorPage refused_page() {
    ErrorPage page;
    page.status = 502;
    page.kind = FailureKind::refused;
    page.what = "The origin could not be reached: 192.0.2.1: Connection refused";
    page.rule = "connection";
    page.host = "example.com:81";
    page.url = "http://example.com:81/page";
    page.server = "garner-1";
    page.id = "1764078120.123-9f3a0c1d";
    return page;
}

ErrorFormat format_for(std::string_view accept) {
    http::Fields fields;
    fields.add("Accept", accept);
    return error_format(fields);
}

TEST(ErrorPage, has_heading_reason_rule_address_and_id) {
    for (auto const format : {ErrorFormat::text, ErrorFormat::html}) {
        auto const page = error_page(refused_page(), format);
        for (auto const* part : {"502 Bad Gateway", "The server example.com:81 refused the connection", "Connection refused",
                                 "http://example.com:81/page", "connection", "garner-1", "1764078120.123-9f3a0c1d",
                                 "Check the port number if the address has one."})
            EXPECT_THAT(page, HasSubstr(part));
    }
}

TEST(ErrorPage, as_text_begins_with_the_status_and_the_heading) {
    EXPECT_THAT(error_page(refused_page(), ErrorFormat::text),
                StartsWith("502 Bad Gateway: The server example.com:81 refused the connection.\n- "));
}

TEST(ErrorPage, as_JSON_is_a_problem_detail) {
    auto const problem = nlohmann::json::parse(error_page(refused_page(), ErrorFormat::json));
    nlohmann::json const expected{{"type", "about:blank"},
                                  {"title", "Bad Gateway"},
                                  {"status", 502},
                                  {"detail", "The server example.com:81 refused the connection. "
                                             "The origin could not be reached: 192.0.2.1: Connection refused"},
                                  {"hints",
                                   {"The web server may be stopped or restarting. Try again in a few minutes.",
                                    "Check the port number if the address has one."}},
                                  {"rule", "connection"},
                                  {"id", "1764078120.123-9f3a0c1d"}};
    EXPECT_EQ(problem, expected);
}

TEST(ErrorPage, as_HTML_loads_nothing_and_has_no_script) {
    auto const page = error_page(refused_page(), ErrorFormat::html);
    for (auto const* part : {"<script", "<link", "<img", "url(", "@import", "href", "src="})
        EXPECT_THAT(page, Not(HasSubstr(part)));
    for (auto const* part : {"color-scheme: light dark", "prefers-color-scheme: dark", "name=\"viewport\""})
        EXPECT_THAT(page, HasSubstr(part));
}

TEST(ErrorPage, has_no_row_without_a_value) {
    ErrorPage page;
    page.status = 599;
    for (auto const format : formats) EXPECT_THAT(error_page(page, format), Not(HasSubstr("Address")));
    EXPECT_THAT(error_page(page, ErrorFormat::html), Not(HasSubstr("<dt>")));
    EXPECT_EQ(nlohmann::json::parse(error_page(page, ErrorFormat::json))["title"], "Error");
}

TEST(ErrorPage, escapes_text_from_outside) {
    std::string const hostile = "a/<script>alert(\"x\")</script>&\\\r\n\x1b\x7f\xc3";
    auto page = refused_page();
    page.what = page.rule = page.because = page.host = page.url = page.server = page.id = hostile;
    auto const html = error_page(page, ErrorFormat::html);
    EXPECT_THAT(html, Not(HasSubstr("<script")));
    EXPECT_THAT(html, HasSubstr("<dd>a/&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;\\??\?\?\?</dd>"));
    EXPECT_THAT(html, HasSubstr("<title>The server a/&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;\\??\?\?\? refused"));
    auto const text = error_page(page, ErrorFormat::text);
    EXPECT_THAT(text, HasSubstr("Address: a/<script>alert(\"x\")</script>&\\??\?\?\?\n"));
    auto const json = nlohmann::json::parse(error_page(page, ErrorFormat::json));
    EXPECT_EQ(json["id"], "a/<script>alert(\"x\")</script>&\\??\?\?\?");
    EXPECT_EQ(json.size(), 8u);
}

TEST(ErrorPage, truncates_text_from_outside) {
    for (char const filling : {'<', '"', '\\', '\n'}) {
        std::string const text(100'000, filling);
        auto page = refused_page();
        page.what = page.rule = page.because = page.host = page.url = page.server = text;
        for (auto const format : formats) EXPECT_LT(error_page(page, format).size(), 30'000u);
        EXPECT_TRUE(nlohmann::json::accept(error_page(page, ErrorFormat::json)));
    }
}

TEST(ErrorPage, each_status_and_kind_has_a_heading_and_two_hints) {
    for (std::uint16_t status : {400, 403, 404, 408, 414, 431, 500, 501, 502, 503, 504, 505, 508})
        for (int kind = 0; kind <= static_cast<int>(FailureKind::not_stored); ++kind)
            for (auto const* host : {"example.org", ""}) {
                auto const help = error_help(status, static_cast<FailureKind>(kind), host);
                EXPECT_FALSE(help.heading.empty() || help.heading.ends_with('.')) << status << " " << kind;
                EXPECT_THAT(help.heading, Not(HasSubstr("{}")));
                for (auto const hint : help.hints) EXPECT_TRUE(hint.ends_with('.')) << status << " " << kind << hint;
            }
    EXPECT_EQ(error_help(502, FailureKind::name, "example.org").heading, "The server example.org could not be found");
    EXPECT_EQ(error_help(502, FailureKind::name, "").heading, "The server of this site could not be found");
}

TEST(ErrorPage, hints_of_a_refusal_follow_the_subject_of_its_rule) {
    http::Matcher by_time, by_group, by_host, by_host_and_group;
    by_time.time.emplace_back();
    by_time.host = http::HostSet({*http::HostPattern::parse("example.com")});
    by_group.group = {"pupils"};
    by_host.host = by_time.host;
    by_host_and_group.host = by_time.host;
    by_host_and_group.group = {"pupils"};
    http::Matcher by_use;
    by_use.is.push_back({"evenings", std::make_shared<http::Matcher>(by_time)});
    struct {
        http::Matcher const& match;
        std::string_view has, has_not;
    } const rows[] = {
        {by_time, "Try again at another time", "typing errors"},
        {by_use, "Try again at another time", "typing errors"},
        {by_group, "your user name, your group or your computer", "typing errors"},
        {by_host, "typing errors", "another time"},
        {by_host_and_group, "typing errors", "another time"},
        {http::Matcher(), "typing errors", "another time"},
    };
    for (auto const& row : rows) {
        auto page = refused_page();
        page.status = 403;
        page.kind = FailureKind::other;
        page.subject = refused_for(row.match);
        auto const html = error_page(page, ErrorFormat::html);
        EXPECT_THAT(html, HasSubstr(std::string(row.has)));
        EXPECT_THAT(html, Not(HasSubstr(std::string(row.has_not))));
    }
}

TEST(ErrorPage, URLs_in_the_reason_of_a_rule_are_links_in_HTML_alone) {
    auto page = refused_page();
    page.status = 403;
    page.because = "see https://intra.example/rules?a=1&b=2, or <http://help.example/>. javascript:alert(1)";
    auto const html = error_page(page, ErrorFormat::html);
    EXPECT_THAT(
        html, HasSubstr(R"(see <a href="https://intra.example/rules?a=1&amp;b=2">https://intra.example/rules?a=1&amp;b=2</a>, or )"
                        R"(&lt;<a href="http://help.example/">http://help.example/</a>&gt;. javascript:alert(1))"));
    EXPECT_THAT(error_page(page, ErrorFormat::text),
                HasSubstr("see https://intra.example/rules?a=1&b=2, or <http://help.example/>."));
    EXPECT_THAT(error_page(page, ErrorFormat::json), HasSubstr("see https://intra.example/rules?a=1&b=2, or"));
}

TEST(ErrorPage, the_format_is_the_one_that_the_client_prefers) {
    struct {
        std::string_view accept;
        ErrorFormat format;
    } const rows[] = {
        {"*/*", ErrorFormat::text},
        {"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8", ErrorFormat::html},
        {"image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5", ErrorFormat::text},
        {"application/json", ErrorFormat::json},
        {"application/problem+json", ErrorFormat::json},
        {"application/json, text/plain, */*", ErrorFormat::json},
        {"application/json, text/javascript, */*; q=0.01", ErrorFormat::json},
        {"text/html, application/json", ErrorFormat::html},
        {"text/html;q=0.5, application/json", ErrorFormat::json},
        {"text/plain, text/html;q=0.9", ErrorFormat::text},
        {"application/problem+json;q=0, application/json, text/plain;q=0.1", ErrorFormat::text},
        {"text/*", ErrorFormat::text},
        {"application/*", ErrorFormat::json},
        {"text/html;q=0, */*;q=0.1", ErrorFormat::text},
        {"image/png", ErrorFormat::text},
        {"text/html;q=x", ErrorFormat::text},
        {"text/html;q=0", ErrorFormat::text},
        {"application/json;q=0", ErrorFormat::text},
        {"text/plain;q=0.5, */*", ErrorFormat::text},
        {"", ErrorFormat::text},
    };
    for (auto const& [accept, format] : rows) EXPECT_EQ(format_for(accept), format) << accept;
    EXPECT_EQ(error_format(http::Fields()), ErrorFormat::text);
}

TEST(Failure, has_a_kind_for_the_page) {
    using F = net::ConnectFailure;
    net::Connected connected;
    connected.reason = "reason";
    std::pair<F, FailureKind> const rows[] = {{F::dns, FailureKind::name},        {F::refused, FailureKind::refused},
                                              {F::tls, FailureKind::tls},         {F::unreachable, FailureKind::unreachable},
                                              {F::forbidden, FailureKind::other}, {F::timed_out, FailureKind::connect_timeout},
                                              {F::cancelled, FailureKind::other}, {F::no_descriptors, FailureKind::resources}};
    for (auto const& [failure, kind] : rows) {
        connected.failure = failure;
        EXPECT_EQ(failure_of(connected, "The origin", false).told.kind, kind);
    }
    EXPECT_EQ(failure_of(client::Trouble::timed_out, "The origin", "").told.kind, FailureKind::timeout);
    connected.failure = F::refused;
    EXPECT_EQ(at_peer(failure_of(connected, "The parent up", true)).told.kind, FailureKind::peer);
    connected.failure = F::no_descriptors;
    EXPECT_EQ(at_peer(failure_of(connected, "The parent up", true)).told.kind, FailureKind::resources);
}

}   // namespace
}   // namespace garner::proxy
