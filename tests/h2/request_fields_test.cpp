// HTTP/2 fields become one HTTP/1.1 request, and nothing in them becomes a second one.
#include "h2/request_fields.hpp"

#include <gtest/gtest.h>

#include "h2/wire.hpp"
#include "http/framing.hpp"

namespace garner::h2 {
namespace {

using namespace std::string_literals;
using http::Name;

struct Built {
    http::HeadParse parsed;
    std::string text;
    http::RequestHead head;
};

Built build(WireFields const& fields, bool body_follows = false, http::HeadLimits const& limits = {}) {
    RequestBuilder builder;
    builder.begin(limits);
    for (auto const& [name, value] : fields) builder.add(name, value);
    Built built;
    built.parsed = builder.finish({body_follows, "AAAAAAAAAAAAAAAAAAAAAA=="}, built.text, built.head);
    return built;
}

std::string refusal_of(WireFields const& fields, bool body_follows = false) {
    auto const built = build(fields, body_follows);
    if (built.parsed.kind == http::HeadParse::Kind::complete) return "accepted";
    EXPECT_TRUE(built.text.empty());
    EXPECT_TRUE(built.head.fields.empty());
    return std::to_string(built.parsed.status) + " " + built.parsed.refusal;
}

TEST(H2Request, is_written_in_absolute_form_with_host_and_one_cookie_line) {
    auto const built = build({{":method", "GET"},
                              {":authority", "a.example:8443"},
                              {":scheme", "https"},
                              {":path", "/x?y"},
                              {"accept", "*/*"},
                              {"cookie", "a=1"},
                              {"te", "trailers"},
                              {"cookie", "b=2"},
                              {"host", "A.example:8443"}});
    EXPECT_EQ(built.text, "GET https://a.example:8443/x?y HTTP/1.1\r\nHost: a.example:8443\r\naccept: */*\r\nte: trailers\r\n"
                          "Cookie: a=1; b=2\r\n\r\n");
    EXPECT_EQ(built.parsed.kind, http::HeadParse::Kind::complete);
    EXPECT_EQ(built.head.target, "https://a.example:8443/x?y");
    EXPECT_EQ(built.head.fields.first(Name::cookie), "a=1; b=2");
}

TEST(H2Request, without_authority_takes_that_of_host) {
    auto const built = build({{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {"host", "b.example"}});
    EXPECT_EQ(built.text, "GET http://b.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n");
}

TEST(H2Request, for_the_server_as_a_whole_has_no_path) {
    auto const built = build({{":method", "OPTIONS"}, {":scheme", "http"}, {":authority", "a.example"}, {":path", "*"}});
    EXPECT_EQ(built.head.target, "http://a.example");
}

TEST(H2Request, with_a_body_without_length_is_chunked) {
    WireFields fields{{":method", "POST"}, {":scheme", "https"}, {":authority", "a.example"}, {":path", "/"}};
    EXPECT_EQ(http::request_framing(build(fields, true).head).kind, http::Framing::Kind::chunked);
    EXPECT_EQ(http::request_framing(build(fields, false).head).kind, http::Framing::Kind::none);
    fields.emplace_back("content-length", "12");
    auto const framing = http::request_framing(build(fields, true).head);
    EXPECT_EQ(framing.kind, http::Framing::Kind::length);
    EXPECT_EQ(framing.length, 12u);
    EXPECT_EQ(refusal_of(fields, false), "400 Content-Length without a body");
}

TEST(H2Request, connect_names_its_authority_and_has_no_body) {
    auto const built = build({{":method", "CONNECT"}, {":authority", "a.example:443"}}, true);
    EXPECT_EQ(built.text, "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n");
    EXPECT_EQ(refusal_of({{":method", "CONNECT"}}, true), "400 CONNECT with other pseudo-fields");
    EXPECT_EQ(refusal_of({{":method", "CONNECT"}, {":authority", "a:1"}, {":path", "/"}}, true),
              "400 CONNECT with other pseudo-fields");
    EXPECT_EQ(refusal_of({{":method", "CONNECT"}, {":authority", "a:1"}, {":scheme", "https"}}, true),
              "400 CONNECT with other pseudo-fields");
}

TEST(H2Request, an_extended_connect_becomes_an_upgrade_with_a_key_of_the_proxy) {
    WireFields fields{{":method", "CONNECT"},
                      {":protocol", "websocket"},
                      {":scheme", "https"},
                      {":authority", "a.example"},
                      {":path", "/chat"},
                      {"sec-websocket-version", "13"},
                      {"sec-websocket-key", "of the client"}};
    EXPECT_EQ(build(fields, true).text,
              "GET https://a.example/chat HTTP/1.1\r\nHost: a.example\r\nsec-websocket-version: 13\r\n"
              "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n");
    fields[1].second = "connect-udp";
    EXPECT_EQ(refusal_of(fields, true), "501 unknown :protocol");
    fields[1].second = "websocket";
    fields[0].second = "GET";
    EXPECT_EQ(refusal_of(fields, true), "400 :protocol without CONNECT");
    fields[0].second = "CONNECT";
    fields.emplace_back("content-length", "1");
    EXPECT_EQ(refusal_of(fields, true), "400 Content-Length in a request for a WebSocket");
}

struct RefusedFields {
    WireFields fields;
    char const* refusal;
};

std::vector<RefusedFields> const smuggling{
    {{{":method", "GET\r\nX: y"}, {":scheme", "http"}, {":authority", "a"}, {":path", "/"}},
     "400 control byte or space in a pseudo-field"},
    {{{":method", "GET http://b/ HTTP/1.1"}, {":scheme", "http"}, {":authority", "a"}, {":path", "/"}},
     "400 control byte or space in a pseudo-field"},
    {{{":method", "GET"}, {":scheme", "http"}, {":authority", "a"}, {":path", "/ HTTP/1.1\r\nHost: b\r\n\r\nGET /"}},
     "400 control byte or space in a pseudo-field"},
    {{{":method", "GET"}, {":scheme", "http"}, {":authority", "a"}, {":path", "/\n"}},
     "400 control byte or space in a pseudo-field"},
    {{{":method", "GET"}, {":scheme", "http"}, {":authority", "a"}, {":path", {"/\0", 2}}},
     "400 control byte or space in a pseudo-field"},
    {{{":method", "GET"}, {":scheme", "http"}, {":authority", "a\r\nX: y"}, {":path", "/"}},
     "400 control byte or space in a pseudo-field"},
    {{{":method", "GET"}, {":scheme", "http"}, {":authority", "a/b"}, {":path", "/"}}, "400 bad byte in :authority"},
    {{{":method", "GET"}, {":scheme", "http"}, {":authority", "a?"}, {":path", "/"}}, "400 bad byte in :authority"},
    {{{":method", "GET"}, {":scheme", "http"}, {":authority", "user@a"}, {":path", "/"}}, "400 bad byte in :authority"},
    {{{":method", "GET"}, {":scheme", "http://b/?"}, {":authority", "a"}, {":path", "/"}}, "400 neither http nor https"},
    {{{":method", "GET"}, {":scheme", "http"}, {":authority", "a"}, {":path", "@b/"}}, "400 no path in :path"},
    {{{":method", "GET"}, {":scheme", "http"}, {":authority", "a"}, {":path", "*"}}, "400 no path in :path"},
    {{{":method", "GE(T"}, {":scheme", "http"}, {":authority", "a"}, {":path", "/"}}, "400 no valid :method"},
    {{{":scheme", "http"}, {":authority", "a"}, {":path", "/"}}, "400 no valid :method"},
    {{{":method", "GET"}, {":authority", "a"}, {":path", "/"}}, "400 neither http nor https"},
    {{{":method", "GET"}, {":scheme", "http"}, {":path", "/"}}, "400 no :authority"},
    {{{":method", "GET"}, {":scheme", "http"}, {":authority", "a"}}, "400 no path in :path"},
    {{{":method", "GET"}, {":method", "GET"}, {":scheme", "http"}, {":authority", "a"}, {":path", "/"}}, "400 pseudo-field twice"},
    {{{":method", "GET"}, {":scheme", "http"}, {":authority", "a"}, {":path", "/"}, {":status", "200"}},
     "400 unknown pseudo-field"},
    {{{":method", "GET"}, {":scheme", "http"}, {":authority", "a"}, {"accept", "*/*"}, {":path", "/"}},
     "400 pseudo-field after a field"},
    {{{":method", "GET"}, {":scheme", "http"}, {":authority", "a"}, {"cookie", ""}, {":path", "/"}},
     "400 pseudo-field after a field"},
    {get_fields({{"host", "b.example"}}), "400 Host differs from :authority"},
    {get_fields({{"host", "a.example"}, {"host", "a.example"}}), "400 more than one Host field"},
    {get_fields({{"host", "a.example\r\n"}}), "400 CR, LF or NUL in field value"},
    {get_fields({{"x", "y\r\nz: a"}}), "400 CR, LF or NUL in field value"},
    {get_fields({{"x", "y\n"}}), "400 CR, LF or NUL in field value"},
    {get_fields({{"x", {"y\0", 2}}}), "400 CR, LF or NUL in field value"},
    {get_fields({{"cookie", "a\r\nb: c"}}), "400 CR, LF or NUL in field value"},
    {get_fields({{"x: y\r\nz", "a"}}), "400 bad byte in field name"},
    {get_fields({{"transfer-encoding: chunked", "a"}}), "400 bad byte in field name"},
    {get_fields({{"", "a"}}), "400 bad byte in field name"},
    {get_fields({{"x y", "a"}}), "400 bad byte in field name"},
    {get_fields({{"Accept", "a"}}), "400 upper case in field name"},
    {get_fields({{"connection", "close"}}), "400 connection field in an HTTP/2 request"},
    {get_fields({{"keep-alive", "1"}}), "400 connection field in an HTTP/2 request"},
    {get_fields({{"proxy-connection", "keep-alive"}}), "400 connection field in an HTTP/2 request"},
    {get_fields({{"transfer-encoding", "chunked"}}), "400 connection field in an HTTP/2 request"},
    {get_fields({{"upgrade", "h2c"}}), "400 connection field in an HTTP/2 request"},
    {get_fields({{"te", "gzip"}}), "400 TE is not \"trailers\""},
    {get_fields({{"x", "a\x01z"}}), "400 control byte in head"},
};

TEST(H2Request, that_would_be_another_one_in_http1_is_refused) {
    for (auto const& row : smuggling) EXPECT_EQ(refusal_of(row.fields), row.refusal) << testing::PrintToString(row.fields);
}

TEST(H2Request, beyond_the_limits_is_refused_as_it_comes_and_holds_no_memory) {
    RequestBuilder builder;
    builder.begin({.bytes = 1'000, .fields = 10, .target = 100});
    for (auto const& [name, value] : get_fields()) builder.add(name, value);
    auto const before = builder.size();
    std::string const value(600, 'x');
    builder.add("a", value);
    EXPECT_EQ(builder.size(), before + 1 + 600 + 32);
    builder.add("b", value);
    auto const at_refusal = builder.size();
    for (int i = 0; i < 1'000; ++i) builder.add("c", value);
    EXPECT_EQ(builder.size(), at_refusal);
    std::string text;
    http::RequestHead head;
    auto const parsed = builder.finish({}, text, head);
    EXPECT_EQ(parsed.status, 431);
    EXPECT_STREQ(parsed.refusal, "head too large");
}

TEST(H2Request, a_login_beyond_the_limit_is_407) {
    auto const built = [](std::string const& name) {
        auto fields = get_fields();
        fields.emplace_back(name, std::string(1'000, 'x'));
        fields.emplace_back("a", "b");
        return build(fields, false, {.bytes = 1'000, .fields = 10, .target = 100}).parsed;
    };
    EXPECT_EQ(built("proxy-authorization").status, 407);
    EXPECT_STREQ(built("proxy-authorization").refusal, "Proxy-Authorization exceeds limits.head_max");
    EXPECT_EQ(built("authorization").status, 431);
}

TEST(H2Request, counts_fields_but_for_the_parts_of_a_cookie) {
    auto const built = [](std::string_view name, int count) {
        auto fields = get_fields();
        for (int i = 0; i < count; ++i) fields.emplace_back(name, "v");
        return build(fields, false, {.bytes = 100'000, .fields = 10, .target = 100});
    };
    EXPECT_EQ(built("a", 10).parsed.kind, http::HeadParse::Kind::complete);
    EXPECT_EQ(built("a", 11).parsed.status, 431);
    EXPECT_EQ(built("cookie", 500).parsed.kind, http::HeadParse::Kind::complete);
}

TEST(H2Request, target_has_its_own_limit) {
    std::string const path = "/" + std::string(200, 'x');
    WireFields const fields{{":method", "GET"}, {":scheme", "http"}, {":authority", "a"}, {":path", path}};
    EXPECT_EQ(build(fields, false, {.bytes = 100'000, .fields = 10, .target = 100}).parsed.status, 414);
}

TEST(H2Request, builder_forgets_the_request_before) {
    RequestBuilder builder;
    std::string text;
    http::RequestHead head;
    builder.begin({});
    for (auto const& [name, value] : get_fields({{"cookie", "a"}, {"x", "y"}, {"connection", "x"}})) builder.add(name, value);
    EXPECT_EQ(builder.finish({}, text, head).status, 400);
    builder.begin({});
    for (auto const& [name, value] : get_fields()) builder.add(name, value);
    EXPECT_EQ(builder.finish({.body_follows = false, .websocket_key = {}}, text, head).kind, http::HeadParse::Kind::complete);
    EXPECT_EQ(text, "GET https://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n");
}

std::string trailers_of(WireFields const& fields) {
    TrailerBuilder builder;
    builder.begin();
    for (auto const& [name, value] : fields) builder.add(name, value);
    std::string trailers;
    auto const* refusal = builder.finish(trailers);
    return refusal ? refusal : trailers;
}

TEST(H2Trailers, are_those_that_a_chunked_body_may_have) {
    EXPECT_EQ(trailers_of({{"x-checksum", "1"}, {"content-length", "5"}, {"authorization", "x"}, {"y", "2"}}),
              "x-checksum: 1\r\ny: 2\r\n");
    EXPECT_EQ(trailers_of({}), "");
    EXPECT_EQ(trailers_of({{"x", "a\r\nb"}}), "CR, LF or NUL in field value");
    EXPECT_EQ(trailers_of({{":path", "/"}}), "bad byte in field name");
    std::string const large(9'000, 'x');
    EXPECT_EQ(trailers_of({{"x", large}, {"y", large}}), "trailer section too large");
}

}   // namespace
}   // namespace garner::h2
