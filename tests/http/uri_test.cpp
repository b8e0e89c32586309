// Request targets and URIs: parsing, refusals, and equivalence.
#include "http/uri.hpp"

#include <gtest/gtest.h>

#include "util/text.hpp"

#include <string>
#include <vector>

namespace garner::http {
namespace {

using namespace std::string_view_literals;

struct RefusedUri {
    std::string_view text;
    char const* refusal;
};

Uri uri(std::string_view text) {
    UriError error;
    auto parsed = parse_absolute(text, error);
    EXPECT_TRUE(parsed) << text << ": " << (error.refusal ? error.refusal : "");
    return parsed.value_or(Uri{});
}

TEST(AbsoluteForm, faults_are_refused_by_name) {
    RefusedUri const rows[] = {
        {"", "scheme is neither http nor https"},
        {"/", "scheme is neither http nor https"},
        {"*", "scheme is neither http nor https"},
        {"http", "scheme is neither http nor https"},
        {"file:///etc/passwd", "scheme is neither http nor https"},
        {"gopher://h/1", "scheme is neither http nor https"},
        {"ftp://h/", "FTP is not supported: ask for an http or https URL"},
        {"WSS://h/", "a WebSocket URL: send CONNECT to its host and port, or the http URL with Upgrade"},
        {"httpx://h/", "scheme is neither http nor https"},
        {" http://h/", "scheme is neither http nor https"},
        {"http\0://h/"sv, "scheme is neither http nor https"},
        {"javascript:alert(1)", "scheme is neither http nor https"},
        {"h:80", "scheme is neither http nor https"},
        {"http:h/", "no authority in target"},
        {"http:/h/", "no authority in target"},
        {"http:\\\\h\\", "no authority in target"},
        {"http:", "no authority in target"},
        {"http://", "empty host"},
        {"http:///a", "empty host"},
        {"http://:80/", "empty host"},
        {"http://?a", "empty host"},
        {"http://[]/", "empty host"},
        {"http://user@h/", "userinfo in target"},
        {"http://user:pass@h/", "userinfo in target"},
        {"http://@h/", "userinfo in target"},
        {"http://good.example:80@evil.example/", "userinfo in target"},
        {"http://h/a#b", "fragment in target"},
        {"http://h#b", "fragment in target"},
        {"http://h?a#", "fragment in target"},
        {"http://h/a b", "control byte or space in target"},
        {"http://h/a\tb", "control byte or space in target"},
        {"http://h/a\0b"sv, "control byte or space in target"},
        {"http://h/a\x7f", "control byte or space in target"},
        {"http://h/?a\r\nb", "control byte or space in target"},
        {"http://h o/", "bad byte in host"},
        {"http://h\\.evil/", "bad byte in host"},
        {"http://h\0/"sv, "bad byte in host"},
        {"http://h\xc3\xb6st/", "bad byte in host"},
        {"http://h_<o>/", "bad byte in host"},
        {"http://h]/", "bad byte in host"},
        {"http://a[::1]/", "bad byte in host"},
        {"http://h\x7f/", "bad byte in host"},
        {"http://h%/", "bad percent-escape in host"},
        {"http://h%2/", "bad percent-escape in host"},
        {"http://h%zz/", "bad percent-escape in host"},
        {"http://h%00/", "bad percent-escape in host"},
        {"http://h%2f/", "bad percent-escape in host"},
        {"http://h%40x/", "bad percent-escape in host"},
        {"http://h%0d%0a/", "bad percent-escape in host"},
        {"http://h:0/", "bad port"},
        {"http://h:00/", "bad port"},
        {"http://h:65536/", "bad port"},
        {"http://h:99999/", "bad port"},
        {"http://h:000080/", "bad port"},
        {"http://h:4294967376/", "bad port"},
        {"http://h:18446744073709551696/", "bad port"},
        {"http://h:-1/", "bad port"},
        {"http://h:+80/", "bad port"},
        {"http://h:80a/", "bad port"},
        {"http://h: 80/", "bad port"},
        {"http://h:0x50/", "bad port"},
        {"http://::1/", "empty host"},
        {"http://fe80::1/", "IPv6 address without brackets"},
        {"http://h:80:90/", "IPv6 address without brackets"},
        {"http://[::1/", "bad IPv6 address"},
        {"http://[::1]x/", "bad IPv6 address"},
        {"http://[::1]80/", "bad IPv6 address"},
        {"http://[:::1]/", "bad IPv6 address"},
        {"http://[1::2::3]/", "bad IPv6 address"},
        {"http://[12345::]/", "bad IPv6 address"},
        {"http://[127.0.0.1]/", "bad IPv6 address"},
        {"http://[::ffff:1.2.3]/", "bad IPv6 address"},
        {"http://[::ffff:127.0.0.1]/", "IPv4 address written as IPv6"},
        {"http://[::FFFF:7f00:1]:80/", "IPv4 address written as IPv6"},
        {"http://[0:0:0:0:0:ffff:7f00:0001]/", "IPv4 address written as IPv6"},
        {"http://127.0.0.01/", "bad IPv4 address"},
        {"http://0127.0.0.1/", "bad IPv4 address"},
        {"http://127.0.0.001:8080/", "bad IPv4 address"},
        {"http://127.0.0.01./", "bad IPv4 address"},
        {"http://127.1/", "bad IPv4 address"},
        {"http://2130706433/", "bad IPv4 address"},
        {"http://0x7f000001/", "bad IPv4 address"},
        {"http://127.0.0.0X1/", "bad IPv4 address"},
        {"http://127.0.0.0x/", "bad IPv4 address"},
        {"http://256.0.0.1/", "bad IPv4 address"},
        {"http://1.2.3.4.5/", "bad IPv4 address"},
        {"http://name.example.7/", "bad IPv4 address"},
        {"http://[fe80::1%25eth0]/", "bad IPv6 address"},
        {"http://[v1.a]/", "bad IPv6 address"},
        {"http://[::1\0]/"sv, "bad IPv6 address"},
        {"http://[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]/", "bad IPv6 address"},
    };
    for (auto const& row : rows) {
        UriError error;
        EXPECT_FALSE(parse_absolute(row.text, error)) << row.text;
        EXPECT_STREQ(error.refusal, row.refusal) << row.text;
    }
    UriError error;
    EXPECT_FALSE(parse_absolute("http://" + std::string(256, 'a') + "/", error));
    EXPECT_STREQ(error.refusal, "host too long");
}

TEST(AbsoluteForm, is_taken_apart) {
    struct Row {
        std::string_view text;
        Uri expected;
        std::string_view normal, host;
    };
    // clang-format off
    Row const rows[] = {
        {"http://h/", {Scheme::http, {"h", 80}, "/"}, "http://h/", "h"},
        {"http://h", {Scheme::http, {"h", 80}, "/"}, "http://h/", "h"},
        {"HTTPS://H.Example:443/A", {Scheme::https, {"H.Example", 443}, "/A"}, "https://h.example/A", "H.Example"},
        {"http://h:443/", {Scheme::http, {"h", 443}, "/"}, "http://h:443/", "h:443"},
        {"http://h:/x", {Scheme::http, {"h", 80}, "/x"}, "http://h/x", "h"},
        {"http://h:00080/", {Scheme::http, {"h", 80}, "/"}, "http://h/", "h"},
        {"http://h:65535", {Scheme::http, {"h", 65535}, "/"}, "http://h:65535/", "h:65535"},
        {"http://h:25/", {Scheme::http, {"h", 25}, "/"}, "http://h:25/", "h:25"},
        {"http://h?q=/@:", {Scheme::http, {"h", 80}, "?q=/@:", true}, "http://h/?q=/@:", "h"},
        {"http://h/?q", {Scheme::http, {"h", 80}, "/?q"}, "http://h/?q", "h"},
        {"http://[::1]", {Scheme::http, {"::1", 80, true}, "/"}, "http://[::1]/", "[::1]"},
        {"http://[FE80::A]:8080/", {Scheme::http, {"FE80::A", 8080, true}, "/"}, "http://[fe80::a]:8080/",
         "[FE80::A]:8080"},
        {"http://[::127.0.0.1]:/", {Scheme::http, {"::127.0.0.1", 80, true}, "/"}, "http://[::127.0.0.1]/",
         "[::127.0.0.1]"},
        {"http://127.0.0.1./", {Scheme::http, {"127.0.0.1.", 80}, "/"}, "http://127.0.0.1./", "127.0.0.1."},
        {"http://7.example/", {Scheme::http, {"7.example", 80}, "/"}, "http://7.example/", "7.example"},
        {"http://h.0x7g/", {Scheme::http, {"h.0x7g", 80}, "/"}, "http://h.0x7g/", "h.0x7g"},
        {"http://h.7a/", {Scheme::http, {"h.7a", 80}, "/"}, "http://h.7a/", "h.7a"},
        {"http://127.0.0.1//a/../b", {Scheme::http, {"127.0.0.1", 80}, "//a/../b"}, "http://127.0.0.1//a/../b",
         "127.0.0.1"},
        {"http://h/%zz%41\"<>[\\]^`{|}\xc3\xa9?%", {Scheme::http, {"h", 80}, "/%zz%41\"<>[\\]^`{|}\xc3\xa9?%"},
         "http://h/%zz%41\"<>[\\]^`{|}\xc3\xa9?%", "h"},
        {"http://h%c3%B6st_-.~!$&'()*+,;=/", {Scheme::http, {"h%c3%B6st_-.~!$&'()*+,;=", 80}, "/"},
         "http://h%c3%b6st_-.~!$&'()*+,;=/", "h%c3%B6st_-.~!$&'()*+,;="},
    };
    // clang-format on
    for (auto const& row : rows) {
        SCOPED_TRACE(row.text);
        auto parsed = uri(row.text);
        EXPECT_EQ(parsed, row.expected);
        std::string normal = "GET ", host = "Host: ";
        append_normalised(parsed, normal);
        append_host(parsed, host);
        EXPECT_EQ(normal, "GET " + std::string(row.normal));
        EXPECT_EQ(host, "Host: " + lower_case(row.host));
        EXPECT_TRUE(same_origin(parsed, uri(row.normal)));
    }
    EXPECT_EQ(uri("http://" + std::string(255, 'a')).path_and_query, "/");
}

TEST(Authority, is_a_host_and_perhaps_a_port) {
    struct Row {
        std::string_view text;
        Authority expected;
    };
    // clang-format off
    Row const rows[] = {
        {"h", {"h", 0}},           {"h:80", {"h", 80}},          {"h:", {"h", 0}},
        {"[::1]", {"::1", 0, true}}, {"[::1]:1", {"::1", 1, true}}, {"1.2.3.4:443", {"1.2.3.4", 443}},
        {"a_b.c", {"a_b.c", 0}},
    };
    // clang-format on
    for (auto const& row : rows) {
        UriError error;
        EXPECT_EQ(parse_authority(row.text, error), row.expected) << row.text;
        EXPECT_EQ(error.refusal, nullptr);
    }
}

TEST(Authority, faults_are_refused_by_name) {
    // clang-format off
    RefusedUri const rows[] = {
        {"", "empty host"},         {":443", "empty host"},        {"h/", "bad byte in host"},
        {"h:443/", "bad port"},     {"h/a:443", "bad byte in host"}, {"u@h:443", "userinfo in target"},
        {"http://h", "bad port"},   {"h:0", "bad port"},           {"h:99999", "bad port"},
        {"h?", "bad byte in host"}, {"h#", "bad byte in host"},    {"a, b", "bad byte in host"},
        {"0127.0.0.1:443", "bad IPv4 address"}, {"[::ffff:1.2.3.4]:443", "IPv4 address written as IPv6"},
        {"h ", "bad byte in host"}, {"::1:443", "empty host"},     {"1::2", "IPv6 address without brackets"},
        {"*", nullptr},
    };
    // clang-format on
    for (auto const& row : rows) {
        UriError error;
        EXPECT_EQ(parse_authority(row.text, error).has_value(), row.refusal == nullptr) << row.text;
        EXPECT_STREQ(error.refusal, row.refusal) << row.text;
    }
}

TEST(OriginForm, begins_with_a_slash) {
    for (auto good : {"/"sv, "/a?b"sv, "//h/a"sv, "/\xff\"<>[]"sv, "/%"sv}) EXPECT_TRUE(is_origin_form(good)) << good;
    for (auto bad : {""sv, "*"sv, "a"sv, "?a"sv, "/a b"sv, "/a#b"sv, "/a\t"sv, "/\0"sv, "/\x7f"sv, "http://h/"sv})
        EXPECT_FALSE(is_origin_form(bad)) << bad;
}

TEST(SameOrigin, compares_scheme_host_and_port) {
    EXPECT_TRUE(same_origin(uri("http://H/a"), uri("http://h:80/b")));
    EXPECT_FALSE(same_origin(uri("http://h/"), uri("https://h/")));
    EXPECT_FALSE(same_origin(uri("http://h/"), uri("http://h:81/")));
    EXPECT_FALSE(same_origin(uri("http://h/"), uri("http://g/")));
    EXPECT_FALSE(same_origin(uri("http://h:443/"), uri("https://h/")));
}

TEST(Resolve, follows_the_examples_of_rfc_3986) {
    auto base = uri("http://a/b/c/d;p?q");
    // clang-format off
    std::pair<std::string_view, std::string_view> const rows[] = {
        {"g", "http://a/b/c/g"},         {"./g", "http://a/b/c/g"},       {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},            {"//g", "http://g/"},            {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},     {"#s", "http://a/b/c/d;p?q"},    {"g#s", "http://a/b/c/g"},
        {"g?y#s", "http://a/b/c/g?y"},   {";x", "http://a/b/c/;x"},       {"g;x", "http://a/b/c/g;x"},
        {"", "http://a/b/c/d;p?q"},      {".", "http://a/b/c/"},          {"./", "http://a/b/c/"},
        {"..", "http://a/b/"},           {"../", "http://a/b/"},          {"../g", "http://a/b/g"},
        {"../..", "http://a/"},          {"../../", "http://a/"},         {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},    {"../../../../g", "http://a/g"}, {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},         {"g.", "http://a/b/c/g."},       {".g", "http://a/b/c/.g"},
        {"g..", "http://a/b/c/g.."},     {"..g", "http://a/b/c/..g"},     {"./../g", "http://a/b/g"},
        {"./g/.", "http://a/b/c/g/"},    {"g/./h", "http://a/b/c/g/h"},   {"g/../h", "http://a/b/c/h"},
        {"g;x=1/../y", "http://a/b/c/y"}, {"g?y/../x", "http://a/b/c/g?y/../x"},
        {"HTTP://G:80/../x", "http://g/x"}, {"https://g", "https://g/"},  {"http://g?a", "http://g/?a"},
        {"./a:b", "http://a/b/c/a:b"},   {"1:b", "http://a/b/c/1:b"},     {"x/y:z", "http://a/b/c/x/y:z"},
    };
    // clang-format on
    for (auto [reference, expected] : rows) EXPECT_EQ(resolve(base, reference), expected) << reference;
}

TEST(Resolve, gives_nothing_for_what_is_no_http_uri) {
    auto base = uri("http://a/b");
    for (auto reference : {"mailto:x"sv, "http:g"sv, "http:///x"sv, "//"sv, "//u@h/"sv, "/a b"sv, "a\tb"sv, "ftp://h/"sv,
                           "//h:0/"sv, "\0"sv, "//[::1/"sv})
        EXPECT_EQ(resolve(base, reference), std::nullopt) << reference;
}

TEST(Resolve, keeps_port_scheme_and_brackets_of_the_base) {
    EXPECT_EQ(resolve(uri("https://H:8443?q"), "x"), "https://h:8443/x");
    EXPECT_EQ(resolve(uri("https://h:8443?q"), ""), "https://h:8443/?q");
    EXPECT_EQ(resolve(uri("https://h:8443?q"), "?r"), "https://h:8443/?r");
    EXPECT_EQ(resolve(uri("https://[::A]/x/y"), "z"), "https://[::a]/x/z");
    EXPECT_EQ(resolve(uri("https://h/x"), "//g/y"), "https://g/y");
}

TEST(Uri, hosts_lose_escapes_of_unreserved_characters_and_their_case) {
    UriError error;
    auto normal = [&](std::string_view text) {
        std::string out;
        if (auto const uri = parse_absolute(text, error)) append_normalised(*uri, out);
        return out;
    };
    EXPECT_EQ(normal("http://%45vil.Example/A"), "http://evil.example/A");
    EXPECT_EQ(normal("http://%31%32%37.0.0.1/"), "http://127.0.0.1/");
    EXPECT_EQ(normal("http://%31%32%37.1/"), "") << "no host";
    EXPECT_EQ(normal("http://%30x7f000001/"), "");
    EXPECT_EQ(normal("http://a%C3%A4/"), "http://a%c3%a4/") << "other escapes stay";
}

TEST(Uri, unescaped_is_what_a_decoder_reads) {
    auto plain = [](std::string_view url) {
        std::string out;
        append_unescaped(url, out);
        return out;
    };
    EXPECT_EQ(plain("/%61ds/"), "/ads/");
    EXPECT_EQ(plain("/%2561ds/%252561"), "/ads/a");
    EXPECT_EQ(plain("/%2fads%2F%3fa"), "/%2Fads%2F%3Fa");
    EXPECT_EQ(plain("/%25/%2/%"), "/%25/%2/%");
    EXPECT_EQ(plain("/%252f"), "/%252f");
    EXPECT_EQ(plain("/%zz%7E%2D%2e%5F"), "/%zz~-._");
}

}   // namespace
}   // namespace garner::http
