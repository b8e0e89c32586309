// Canonical URLs: the cases of the web platform tests, and some more.
#include "crawl/canonical_url.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/places.hpp"
#include "util/idna.hpp"

namespace garner::crawl {
namespace {

/// The canonical form, or "!" and the error.
std::string canonical(std::string_view text, std::string_view base = "") {
    CanonicalUrl on, url;
    if (!base.empty()) EXPECT_EQ(canonicalise(base, on), UrlFault::none) << base;
    auto const fault = base.empty() ? canonicalise(text, url) : canonicalise(text, on, url);
    return fault == UrlFault::none ? url.text : "!" + std::string(name_of(fault));
}

CanonicalUrl parsed(std::string_view text) {
    CanonicalUrl url;
    EXPECT_EQ(canonicalise(text, url), UrlFault::none) << text;
    return url;
}

bool is_ours(std::string_view url) {
    auto const scheme = url.substr(0, url.find(':'));
    return scheme == "http" || scheme == "https" || scheme == "ws" || scheme == "wss" || scheme == "ftp";
}

struct Case {
    std::string input, base;   // empty: no base, or a base with an unsupported scheme
    std::string href;          // without fragment; empty: the input is invalid or has an unsupported scheme
};

std::vector<Case> web_platform_cases() {
    std::ifstream file(test::source("tests/data/urls/urltestdata.json"));
    std::vector<Case> cases;
    for (auto const& entry : nlohmann::json::parse(file)) {
        if (entry.is_string()) continue;   // a comment
        Case one{.input = entry["input"], .base = {}, .href = {}};
        if (!entry["base"].is_null() && is_ours(canonical(std::string(entry["base"])))) one.base = entry["base"];
        if (auto href = entry.value("href", ""); is_ours(href)) one.href = href.substr(0, href.find('#'));
        cases.push_back(one);
    }
    return cases;
}

TEST(CanonicalUrl, is_right_in_every_case_of_the_web_platform_tests) {
    auto const cases = web_platform_cases();
    std::size_t ours = 0;
    for (auto const& one : cases) {
        auto const got = canonical(one.input, one.base);
        if (one.href.empty())
            EXPECT_EQ(got.front(), '!') << one.input << " on " << one.base;
        else
            EXPECT_EQ(got, one.href) << one.input << " on " << one.base;
        ours += !one.href.empty();
    }
    EXPECT_EQ(cases.size(), 891u);
    EXPECT_EQ(ours, 277u) << "the rest are failures, or of schemes that are refused";
}

TEST(CanonicalUrl, names_why_a_text_is_none) {
    std::vector<std::pair<std::string, std::string>> const cases{
        {"", "empty"},
        {" \r\n", "empty"},
        {"/index.html", "no-scheme"},
        {"example.org", "no-scheme"},
        {"://example.org", "no-scheme"},
        {"FILE:///etc/passwd", "file-scheme"},
        {"mailto:a@example.org", "other-scheme"},
        {"javascript:void(0)", "other-scheme"},
        {"example.org:80/a", "other-scheme"},
        {"http://", "no-host"},
        {"https:?q", "no-host"},
        {"http://user@/a", "no-host"},
        {"http://:80/", "no-host"},
        {"http://\xc2\xad/", "no-host"},
        {"http://a b/", "forbidden-in-host"},
        {"http://a%2fb/", "forbidden-in-host"},
        {"http://a%/", "forbidden-in-host"},
        {std::string("http://a\0b/", 11), "forbidden-in-host"},
        {"http://\xff/", "bad-idna"},
        {"http://\xef\xbf\xbd/", "bad-idna"},
        {"http://%ef\xbc\xa1/", "bad-idna"},
        {"http://1\xd7\x90.com/", "bad-idna"},   // the Bidi rule, RFC 5893
        {"http://a\xe2\x80\x8d/", "bad-idna"},   // ContextJ, RFC 5892
        {"http://1.2.3.256/", "bad-ipv4"},
        {"http://a.1/", "bad-ipv4"},
        {"http://1.2.3.4.5/", "bad-ipv4"},
        {"http://4294967296/", "bad-ipv4"},
        {"http://09/", "bad-ipv4"},
        {"http://[::1/", "bad-ipv6"},
        {"http://[]/", "bad-ipv6"},
        {"http://[1:2:3:4:5:6:7:8::]/", "bad-ipv6"},
        {"http://[::1:2:3:4:5:6:7:8]/", "bad-ipv6"},
        {"http://[fe80::1%25eth0]/", "bad-ipv6"},
        {"http://a:b/", "bad-port"},
        {"http://a:-1/", "bad-port"},
        {"http://a:65536/", "port-too-large"},
        {"http://a/" + std::string(url_bytes_max, 'x'), "too-long"},
        {"http://\xc3\xa9" + std::string(idna_bytes_max, 'x'), "host-too-long"},
    };
    for (auto const& [text, fault] : cases) EXPECT_EQ(canonical(text), "!" + fault) << text.substr(0, 80);
}

TEST(CanonicalUrl, has_one_form_for_each_place) {
    std::vector<std::pair<std::string, std::string>> const cases{
        {"HTTP://Example.ORG", "http://example.org/"},
        {"\thttp://exa\nmple.org/a\r\n", "http://example.org/a"},
        {"https://example.org:443?q", "https://example.org/?q"},
        {"https://example.org:0443/#part", "https://example.org/"},
        {"http:\\\\example.org\\a\\..\\b", "http://example.org/b"},
        {"ws:example.org:80", "ws://example.org/"},
        {"wss://example.org:80", "wss://example.org:80/"},
        {"ftp://me:secret@example.org:21/", "ftp://me:secret@example.org/"},
        {"http://@example.org/", "http://example.org/"},
        {"http://:@example.org/", "http://example.org/"},
        {"http://:b@example.org/", "http://:b@example.org/"},
        {"http://a@b:c@example.org/", "http://a%40b:c@example.org/"},
        {"http://a/%7Eb/./%2e%2E/c/..", "http://a/"},
        {"http://a/..b/...", "http://a/..b/..."},
        {"http://a/.b/../c/./", "http://a/c/"},
        {"http://a/%2e%2/%2e.", "http://a/"},
        {"http://a/b/%2e", "http://a/b/"},
        {"http://a//b/..", "http://a//"},
        {"http://a/ \"<>`{}^|'%zz", "http://a/%20%22%3C%3E%60%7B%7D%5E|'%zz"},
        {"http://a?'\"<>`{}^|%zz", "http://a/?%27%22%3C%3E`{}^|%zz"},
        {"http://a/?", "http://a/?"},
        {"http://a/?#", "http://a/?"},
        {"http://a/\xc3\xa9?\xc3\xa9", "http://a/%C3%A9?%C3%A9"},
        {"http://0x7f.1/", "http://127.0.0.1/"},
        {"http://017700000001", "http://127.0.0.1/"},
        {"http://1.2.3./", "http://1.2.0.3/"},
        {"http://%31.2.3.4/", "http://1.2.3.4/"},
        {"http://[1:0:0:2:0:0:0:3]/", "http://[1:0:0:2::3]/"},
        {"http://[0:0:1::]/", "http://[0:0:1::]/"},
        {"http://[::FFFF:1.2.3.4]:8080/", "http://[::ffff:102:304]:8080/"},
        {"http://[1:2:3:4:5:6:7::]/", "http://[1:2:3:4:5:6:7:0]/"},
        {"http://\xc3\x9f.de/", "http://xn--zca.de/"},
        {"http://b%C3%9CCHER.de/", "http://xn--bcher-kva.de/"},
        {"http://\xef\xbc\x91.\xef\xbc\x92/", "http://1.0.0.2/"},
        {"http://XN--A/", "http://xn--a/"},
        {"http://a..b./", "http://a..b./"},
        {"http://-a-/", "http://-a-/"},
    };
    for (auto const& [text, url] : cases) {
        EXPECT_EQ(canonical(text), url) << text;
        EXPECT_EQ(canonical(url), url) << "the canonical form of the canonical form";
    }
}

TEST(CanonicalUrl, resolves_references_on_their_page) {
    auto const base = "https://me@a.org:81/b/c?d";
    std::vector<std::pair<std::string, std::string>> const cases{
        {"", "https://me@a.org:81/b/c?d"},
        {"#top", "https://me@a.org:81/b/c?d"},
        {"?e", "https://me@a.org:81/b/c?e"},
        {"e", "https://me@a.org:81/b/e"},
        {"./e/", "https://me@a.org:81/b/e/"},
        {"../../../e?f#g", "https://me@a.org:81/e?f"},
        {"..", "https://me@a.org:81/"},
        {"/e", "https://me@a.org:81/e"},
        {"\\e", "https://me@a.org:81/e"},
        {"//e", "https://e/"},
        {"\\/e/f", "https://e/f"},
        {"https:e", "https://me@a.org:81/b/e"},
        {"HTTPS:/e", "https://me@a.org:81/e"},
        {"https://e", "https://e/"},
        {"http:e", "http://e/"},
        {"e:f", "!other-scheme"},
        {"//", "!no-host"},
    };
    for (auto const& [text, url] : cases) EXPECT_EQ(canonical(text, base), url) << text;
}

TEST(CanonicalUrl, tells_its_parts) {
    auto const all = parsed("HTTPS://u:p@Example.org:8443/a/b?c?d#e");
    EXPECT_EQ(all.scheme(), "https");
    EXPECT_EQ(all.userinfo(), "u:p@");
    EXPECT_EQ(all.host(), "example.org");
    EXPECT_EQ(all.port(), ":8443");
    EXPECT_EQ(all.path(), "/a/b");
    EXPECT_EQ(all.query(), "?c?d");
    for (auto const* text : {"http://a", "http://a/", " http://a", "http://a#?"}) {
        auto const least = parsed(text);
        EXPECT_EQ(least.userinfo(), "");
        EXPECT_EQ(least.host(), "a");
        EXPECT_EQ(least.port(), "");
        EXPECT_EQ(least.path(), "/");
        EXPECT_EQ(least.query(), "");
    }
    EXPECT_EQ(parsed("http://a?b").query(), "?b");
    EXPECT_EQ(parsed("http://[::1]:8/").host(), "[::1]");
    CanonicalUrl const page = parsed("http://u@a/b?c");
    CanonicalUrl next;
    EXPECT_EQ(canonicalise("d?e", page, next), UrlFault::none);
    EXPECT_EQ(next.userinfo(), "u@");
    EXPECT_EQ(next.path(), "/d");
    EXPECT_EQ(next.query(), "?e");
}

TEST(CanonicalUrl, takes_bytes_that_are_no_utf8_as_a_browser_does) {
    auto const mark = std::string("%EF%BF%BD");
    std::vector<std::pair<std::string, std::string>> const cases{
        {"\xff", mark},
        {"\xc3", mark},
        {"\xc3z", mark + "z"},
        {"\x80\x80", mark + mark},
        {"\xc0\xaf", mark + mark},              // overlong
        {"\xed\xa0\x80", mark + mark + mark},   // a surrogate
        {"\xe2\x82z", mark + "z"},              // a maximal subpart of two bytes
        {"\xf0\x9f\x92", mark},
        {"\xf4\x90\x80\x80", mark + mark + mark + mark},   // above U+10FFFF
        {"\xf0\x9f\x92\xa9", "%F0%9F%92%A9"},
        {std::string("\0", 1) + "\x7f", "%00%7F"},
        {"\xc3\t\xa9", mark + mark},
        {"\xc3\xa9\t", "%C3%A9"},
    };
    for (auto const& [bytes, written] : cases) {
        EXPECT_EQ(canonical("http://a/" + bytes + "/"), "http://a/" + written + "/");
        EXPECT_EQ(canonical("http://a/?" + bytes + "/"), "http://a/?" + written + "/");
        EXPECT_EQ(canonical("http://" + bytes + "@a/"), "http://" + written + "@a/");
    }
}

// A leading space does not change the URL, but disables the fast path.
void expect_both_ways_agree(std::string const& text) {
    CanonicalUrl quick, slow;
    if (!copy_plain_url(text, quick)) return;
    ASSERT_EQ(canonicalise(" " + text, slow), UrlFault::none) << text;
    ASSERT_EQ(quick.text, slow.text) << text;
    EXPECT_EQ(quick.host(), slow.host());
    EXPECT_EQ(quick.path(), slow.path());
    EXPECT_EQ(quick.scheme(), slow.scheme());
    EXPECT_EQ(quick.port(), slow.port());
}

TEST(CanonicalUrl, is_the_same_by_the_quick_way) {
    for (auto const& one : web_platform_cases()) expect_both_ways_agree(one.input);
    // All combinations of up to four special characters: after a host, in a host, in a query.
    std::string const signs = "./%2eE?#\\a1 :@'^\x80-_";
    for (std::size_t number = 0; number < signs.size() * signs.size() * signs.size() * signs.size(); ++number) {
        std::string text;
        for (auto rest = number; rest > 0; rest /= signs.size()) text.push_back(signs[rest % signs.size()]);
        for (auto const* before : {"http://", "https://a.b", "http://a/", "http://a/b?"}) expect_both_ways_agree(before + text);
    }
}

TEST(CanonicalUrl, has_a_quick_way_for_what_most_links_are) {
    CanonicalUrl url;
    for (auto const* text : {"http://a.org", "https://www.example.org/", "http://a.org/b/c_d-e.html", "http://a.org/.well-known/x",
                             "https://a.org/%C3%A9?q=%20&r=/../", "http://a.org/b#c d", "http://a.org?q", "http://3.a.org/"})
        EXPECT_TRUE(copy_plain_url(text, url)) << text;
    for (auto const* text : {"http://A.org/", "http://a.org:80/", "http://1.2.3.4/", "http://a/b c", "http://a/./b", "http://a/%2e",
                             "ftp://a/", "http:///a", "http://u@a/"})
        EXPECT_FALSE(copy_plain_url(text, url)) << text;
}

TEST(CanonicalUrl, has_a_bound) {
    CanonicalUrl url;
    std::string const worst = "http://a/" + std::string(url_bytes_max - 9, '\xff');
    EXPECT_EQ(canonicalise(worst, url), UrlFault::none);
    EXPECT_LE(url.text.size(), 9 * url_bytes_max);
}

}   // namespace
}   // namespace garner::crawl
