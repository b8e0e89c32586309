// Heads: accepted and refused input, the error responses, and input in pieces.
#include "http/message.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "util/text.hpp"

namespace garner::http {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

/// Small, so that rows above a limit stay readable and can be parsed byte by byte.
constexpr HeadLimits small_limits{.bytes = 512, .fields = 8, .target = 128};

/// Everything a caller can see, in owned bytes.
struct Seen {
    HeadParse::Kind kind = HeadParse::Kind::incomplete;
    std::size_t bytes = 0;
    std::uint16_t status = 0;
    std::string refusal, start;
    std::vector<std::pair<std::string, std::string>> fields;

    friend bool operator==(Seen const&, Seen const&) = default;
    friend std::ostream& operator<<(std::ostream& out, Seen const& seen) {
        out << "kind " << static_cast<int>(seen.kind) << ", " << seen.bytes << " bytes, status " << seen.status << " ("
            << seen.refusal << ") " << seen.start;
        for (auto const& [name, value] : seen.fields) out << " [" << name << "|" << value << "]";
        return out;
    }
};

struct Request {
    using Head = RequestHead;
    static constexpr auto parse = parse_request_head;
    static std::string start(Head const& head) {
        return std::string(head.method_text) + "|" + std::string(head.target) + "|" +
               (head.version == Version::http_1_0 ? "1.0" : "1.1");
    }
};

struct Response {
    using Head = ResponseHead;
    static constexpr auto parse = parse_response_head;
    static std::string start(Head const& head) {
        return std::to_string(head.status) + "|" + std::string(head.reason) + "|" +
               (head.version == Version::http_1_0 ? "1.0" : "1.1");
    }
};

template <class Kind>
Seen seen(HeadParse const& parse, typename Kind::Head const& head) {
    Seen result;
    result.kind = parse.kind;
    if (parse.kind == HeadParse::Kind::refused) {
        result.status = parse.status;
        result.refusal = parse.refusal;
    }
    if (parse.kind != HeadParse::Kind::complete) return result;
    result.bytes = parse.bytes;
    result.start = Kind::start(head);
    for (auto const& field : head.fields) {
        result.fields.emplace_back(field.name, field.value);
        EXPECT_EQ(field.id, name_of(field.name));
    }
    return result;
}

/// Parses the prefixes that end at `ends`, each in its own allocation, like a growing buffer that moves.
template <class Kind>
Seen feed(std::string_view bytes, std::vector<std::size_t> const& ends) {
    typename Kind::Head head;
    std::size_t scanned = 0;
    HeadParse parse;
    std::unique_ptr<char[]> buffer;
    for (auto end : ends) {
        auto moved = std::make_unique<char[]>(end);
        bytes.copy(moved.get(), end);
        buffer = std::move(moved);
        parse = Kind::parse({buffer.get(), end}, small_limits, scanned, head);
        if (parse.kind != HeadParse::Kind::incomplete) break;
    }
    return seen<Kind>(parse, head);
}

template <class Kind>
Seen whole(std::string_view bytes) {
    return feed<Kind>(bytes, {bytes.size()});
}

template <class Kind>
void expect_same_in_pieces(std::string_view bytes) {
    auto const expected = whole<Kind>(bytes);
    std::vector<std::size_t> every_byte;
    for (std::size_t end = 1; end <= bytes.size(); ++end) every_byte.push_back(end);
    EXPECT_EQ(feed<Kind>(bytes, every_byte), expected) << "byte by byte";
    for (std::size_t split = 0; split <= bytes.size(); ++split)
        EXPECT_EQ(feed<Kind>(bytes, {split, bytes.size()}), expected) << "split at " << split;
}

struct RefusedHead {
    std::string bytes;
    std::uint16_t status;
    char const* refusal;
};

/// A request with the field section `lines`.
std::string get(std::string const& lines) { return "GET / HTTP/1.1\r\n" + lines + "\r\n"; }

std::vector<RefusedHead> const refused_requests{
    // the request line
    {"GET  / HTTP/1.1\r\n\r\n", 400, "more than one space in request line"},
    {"GET /  HTTP/1.1\r\n\r\n", 400, "more than one space in request line"},
    {"GET / HTTP/1.1 \r\n\r\n", 400, "more than one space in request line"},
    {"GET /a b HTTP/1.1\r\n\r\n", 400, "more than one space in request line"},
    {" GET / HTTP/1.1\r\n\r\n", 400, "white space before request line"},
    {"\tGET / HTTP/1.1\r\n\r\n", 400, "bad byte in method"},
    {"GET\t/ HTTP/1.1\r\n\r\n", 400, "bad byte in method"},
    {"G(T / HTTP/1.1\r\n\r\n", 400, "bad byte in method"},
    {"G\xc3\xa9T / HTTP/1.1\r\n\r\n", 400, "bad byte in method"},
    {"G\0T / HTTP/1.1\r\n\r\n"s, 400, "bad byte in method"},
    {"GET /\r\n\r\n", 400, "no version in request line"},
    {"GET\r\n\r\n", 400, "no version in request line"},
    {"GET /\tHTTP/1.1\r\n\r\n", 400, "no version in request line"},
    {"GET /a\tb HTTP/1.1\r\n\r\n", 400, "control byte in target"},
    {"GET /a\0b HTTP/1.1\r\n\r\n"s, 400, "control byte in target"},
    {"GET /a\x7f HTTP/1.1\r\n\r\n", 400, "control byte in target"},
    {"GET /a\rb HTTP/1.1\r\n\r\n", 400, "control byte in target"},
    {"GET / HTTP/1.10\r\n\r\n", 400, "malformed version"},
    {"GET / HTTP/1.\r\n\r\n", 400, "malformed version"},
    {"GET / HTTP/11\r\n\r\n", 400, "malformed version"},
    {"GET / HTTP/x.1\r\n\r\n", 400, "malformed version"},
    {"GET / HTTP/1,1\r\n\r\n", 400, "malformed version"},
    {"GET / http/1.1\r\n\r\n", 400, "malformed version"},
    {"GET / HTTP /1.1\r\n\r\n", 400, "more than one space in request line"},
    {"GET / HTTPS/1.1\r\n\r\n", 400, "malformed version"},
    {"GET / HTTP/1.1\r\r\n\r\n", 400, "malformed version"},
    {"GET / HTTP/0.9\r\n\r\n", 505, "version is not HTTP/1"},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "version is not HTTP/1"},
    {"GET / HTTP/3.0\r\n\r\n", 505, "version is not HTTP/1"},
    {"\r\n\r\n\r\nGET / HTTP/1.1\r\n\r\n", 400, "empty request line"},
    {"\nGET / HTTP/1.1\r\n\r\n", 400, "bare LF in head"},
    {"GET / HTTP/1.1\nHost: a\r\n\r\n", 400, "bare LF in head"},
    {"GET /" + std::string(128, 'a') + " HTTP/1.1\r\n\r\n", 414, "target too long"},
    {"GET /" + std::string(600, 'a') + " HTTP/1.1\r\n\r\n", 414, "target too long"},
    {std::string(65, 'M') + " / HTTP/1.1\r\n\r\n", 501, "method too long"},
    {std::string(600, 'M'), 501, "method too long"},
    // lines
    {get("Host: a\n"), 400, "bare LF in head"},
    {get("Host: a\r\n\n"), 400, "bare LF in head"},
    {get("A: b\nTransfer-Encoding: chunked\r\n"), 400, "bare LF in head"},
    {get("A: b\rc\r\n"), 400, "bare CR in head"},
    {get("A: b\r\r\n"), 400, "bare CR in head"},
    {get("A: b\r \r\n"), 400, "bare CR in head"},
    {get("\rA: b\r\n"), 400, "bad byte in field name"},
    {get("A: b\0c\r\n"s), 400, "NUL in head"},
    {get("A\0: b\r\n"s), 400, "bad byte in field name"},
    {get("A: \x01\r\n"), 400, "control byte in head"},
    {get("Transfer-Encoding: \x0b"
         "chunked\r\n"),
     400, "control byte in head"},
    {get("A: 123456\x7f\r\n"), 400, "control byte in head"},
    {get("A: 1234567\x1f"
         "90\r\n"),
     400, "control byte in head"},
    {get("A: b\r\n c\r\n"), 400, "folded field line"},
    {get("A: b\r\n\tc\r\n"), 400, "folded field line"},
    {get("A: b\r\n \r\n"), 400, "folded field line"},
    {get(" Host: a\r\n"), 400, "folded field line"},
    {get("Host : a\r\n"), 400, "white space before colon"},
    {get("Host\t: a\r\n"), 400, "white space before colon"},
    {get("Content-Length : 5\r\n"), 400, "white space before colon"},
    {get(": a\r\n"), 400, "empty field name"},
    {get("Host\r\n"), 400, "no colon in field line"},
    {get("Host a\r\n"), 400, "no colon in field line"},
    {get("H(st: a\r\n"), 400, "bad byte in field name"},
    {get("H\xf6st: a\r\n"), 400, "bad byte in field name"},
    {get("H\x01st: a\r\n"), 400, "bad byte in field name"},
    {get("\"Host\": a\r\n"), 400, "bad byte in field name"},
    // amounts
    {get("A: " + std::string(600, 'b') + "\r\n"), 431, "head too large"},
    {get("A: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\n"), 431, "too many fields"},
    {get("A" + std::string(600, 'b') + ": c\r\n"), 431, "head too large"},
};

TEST(RequestHead, faults_are_refused_by_name) {
    for (auto const& row : refused_requests) {
        SCOPED_TRACE(testing::PrintToString(row.bytes.substr(0, 80)));
        auto result = whole<Request>(row.bytes);
        EXPECT_EQ(result.kind, HeadParse::Kind::refused);
        EXPECT_EQ(result.refusal, row.refusal);
        EXPECT_EQ(result.status, row.status);
        expect_same_in_pieces<Request>(row.bytes);
    }
}

struct Understood {
    std::string bytes;
    std::string start;
    std::vector<std::pair<std::string, std::string>> fields;
};

std::vector<Understood> const understood_requests{
    {"GET / HTTP/1.1\r\n\r\n", "GET|/|1.1", {}},
    {"GET / HTTP/1.0\r\nHost: a\r\n\r\n", "GET|/|1.0", {{"Host", "a"}}},
    {"GET / HTTP/1.2\r\n\r\n", "GET|/|1.1", {}},
    {"GET / HTTP/1.9\r\n\r\n", "GET|/|1.1", {}},
    {"\r\n\r\nGET / HTTP/1.1\r\n\r\n", "GET|/|1.1", {}},
    {"get http://h/a?b HTTP/1.1\r\n\r\n", "get|http://h/a?b|1.1", {}},
    {"M-SEARCH * HTTP/1.1\r\n\r\n", "M-SEARCH|*|1.1", {}},
    {"GET /\xc3\xa9\"<>[\\]^`{|} HTTP/1.1\r\n\r\n", "GET|/\xc3\xa9\"<>[\\]^`{|}|1.1", {}},
    {"GET /" + std::string(127, 'a') + " HTTP/1.1\r\n\r\n", "GET|/" + std::string(127, 'a') + "|1.1", {}},
    {std::string(64, 'M') + " / HTTP/1.1\r\n\r\n", std::string(64, 'M') + "|/|1.1", {}},
    {get("A:\r\nB: \r\nC:c\r\nD: \t d d \t \r\ne:f\r\n"),
     "GET|/|1.1",
     {{"A", ""}, {"B", ""}, {"C", "c"}, {"D", "d d"}, {"e", "f"}}},
    {get("A: b\tc d\te f\tg h\ti\r\nB: \xff\x80\r\nx!#$%&'*+-.^_`|~9: :\r\n"),
     "GET|/|1.1",
     {{"A", "b\tc d\te f\tg h\ti"}, {"B", "\xff\x80"}, {"x!#$%&'*+-.^_`|~9", ":"}}},
    {get("A: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\nA: c\r\n"),
     "GET|/|1.1",
     {{"A", "b"}, {"A", "b"}, {"A", "b"}, {"A", "b"}, {"A", "b"}, {"A", "b"}, {"A", "b"}, {"A", "c"}}},
};

TEST(RequestHead, well_formed_heads_are_understood) {
    for (auto const& row : understood_requests) {
        SCOPED_TRACE(testing::PrintToString(row.bytes));
        for (std::string const after : {"", "body", "\r\n\r\n", "\n \0"}) {
            Seen const expected{HeadParse::Kind::complete, row.bytes.size(), 0, "", row.start, row.fields};
            EXPECT_EQ(whole<Request>(row.bytes + after), expected);
            expect_same_in_pieces<Request>(row.bytes + after);
        }
    }
}

/// Long values are checked many bytes at a time.
TEST(RequestHead, a_control_byte_is_found_wherever_it_is_in_a_value) {
    for (std::size_t size = 3; size <= 40; ++size)
        for (std::size_t at = 1; at + 1 < size; ++at)
            for (char const byte : "\x01\t\x1f \x7e\x7f\x80\xff"s) {
                std::string value(size, 'v');
                value[at] = byte;
                auto const is_control = byte != '\t' && (byte == '\x7f' || (byte >= 0 && byte < ' '));
                Field field;
                auto const* fault = parse_field_line("Name: " + value, field);
                EXPECT_EQ(fault != nullptr, is_control) << int{byte} << " at " << at << " of " << size;
            }
}

TEST(RequestHead, is_incomplete_until_its_blank_line) {
    std::string const head = "\r\nPOST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n";
    for (std::size_t size = 0; size < head.size(); ++size)
        EXPECT_EQ(whole<Request>(head.substr(0, size)).kind, HeadParse::Kind::incomplete) << size;
}

TEST(RequestHead, is_refused_as_soon_as_a_fault_is_certain) {
    std::vector<RefusedHead> const unfinished{
        {"GET / HTTP/1.1\r\nA: b\n", 400, "bare LF in head"},
        {"GET / HTTP/2.0\r\n", 505, "version is not HTTP/1"},
        {"GET / HTTP/1.1\r\nA b\r\n", 400, "no colon in field line"},
        {"GET /" + std::string(128, 'a'), 414, "target too long"},
        {"\r\n\r\nGET /" + std::string(128, 'a'), 414, "target too long"},
        {std::string(65, 'a'), 501, "method too long"},
        {get("A: " + std::string(512, 'b')).substr(0, 512), 431, "head too large"},
        {get("A: b\r\nproxy-AUTHORIZATION: " + std::string(512, 'b')).substr(0, 512), 407,
         "Proxy-Authorization exceeds limits.head_max"},
        {get("Proxy-Authorization: b\r\nA: " + std::string(512, 'b')).substr(0, 512), 431, "head too large"},
    };
    for (auto const& row : unfinished) {
        SCOPED_TRACE(row.bytes);
        auto result = whole<Request>(row.bytes);
        EXPECT_EQ(result.refusal, row.refusal);
        EXPECT_EQ(result.status, row.status);
        EXPECT_EQ(whole<Request>(row.bytes.substr(0, row.bytes.size() - 1)).kind, HeadParse::Kind::incomplete);
    }
}

TEST(RequestHead, may_be_exactly_as_large_as_the_limit) {
    auto head = get("A: " + std::string(small_limits.bytes - 23, 'b') + "\r\n");
    ASSERT_EQ(head.size(), small_limits.bytes);
    EXPECT_EQ(whole<Request>(head + "body").kind, HeadParse::Kind::complete);
    expect_same_in_pieces<Request>(head + "body");
    head.insert(head.size() - 4, "b");
    EXPECT_EQ(whole<Request>(head).refusal, "head too large");
}

TEST(RequestHead, a_reused_head_forgets_the_message_before) {
    RequestHead head;
    std::size_t scanned = 0;
    parse_request_head("POST /a HTTP/1.0\r\nContent-Length: 3\r\n\r\n", {}, scanned, head);
    EXPECT_EQ(head.method, Method::post);
    EXPECT_EQ(scanned, 0u);
    parse_request_head("GET /b HTTP/1.1\r\nHost: h\r\n\r\n", {}, scanned, head);
    EXPECT_EQ(head.method, Method::get);
    EXPECT_EQ(head.version, Version::http_1_1);
    EXPECT_FALSE(head.fields.has(Name::content_length));
    EXPECT_EQ(head.fields.size(), 1u);
}

/// Bytes of a slow sender are not scanned repeatedly: a pass per byte would take minutes here.
TEST(RequestHead, a_large_head_byte_by_byte_is_no_burden) {
    std::string bytes = "GET / HTTP/1.1\r\n";
    for (int i = 0; i < 250; ++i) bytes += "Name: " + std::string(1000, 'v') + "\r\n";
    bytes += "\r\n";
    RequestHead head;
    std::size_t scanned = 0;
    HeadParse parse;
    for (std::size_t size = 1; size <= bytes.size(); ++size)
        parse = parse_request_head({bytes.data(), size}, {.bytes = 1 << 20}, scanned, head);
    EXPECT_EQ(parse.kind, HeadParse::Kind::complete);
    EXPECT_EQ(head.fields.size(), 250u);
}

std::vector<RefusedHead> const refused_responses{
    {"HTTP/1.1 2x0 OK\r\n\r\n", 502, "malformed status"},
    {"HTTP/1.1 099 OK\r\n\r\n", 502, "malformed status"},
    {"HTTP/1.1 2000 OK\r\n\r\n", 502, "malformed status"},
    {"HTTP/1.1 200OK\r\n\r\n", 502, "malformed status"},
    {"HTTP/1.1 20\r\n\r\n", 502, "malformed status line"},
    {"HTTP/1.1 -20 OK\r\n\r\n", 502, "malformed status"},
    {"HTTP/1.1  200 OK\r\n\r\n", 502, "malformed status"},
    {"HTTP/1.1\r\n\r\n", 502, "malformed status line"},
    {"HTTP/1.1\t200 OK\r\n\r\n", 502, "malformed status line"},
    {"HTTP/2.0 200 OK\r\n\r\n", 502, "version is not HTTP/1"},
    {"http/1.1 200 OK\r\n\r\n", 502, "malformed version"},
    {"ICY 200 OK\r\n\r\n", 502, "malformed version"},
    {"\r\nHTTP/1.1 200 OK\r\n\r\n", 502, "malformed version"},
    {"HTTP/1.1 200 O\rK\r\n\r\n", 502, "bare CR in head"},
    {"HTTP/1.1 200 O\0K\r\n\r\n"s, 502, "NUL in head"},
    {"HTTP/1.1 200 OK\nA: b\r\n\r\n", 502, "bare LF in head"},
    {"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", 502, "folded field line"},
    {"HTTP/1.1 200 OK\r\nA : b\r\n\r\n", 502, "white space before colon"},
    {"HTTP/1.1 200 OK\r\nA\r\n\r\n", 502, "no colon in field line"},
    {"HTTP/1.1 200 " + std::string(600, 'a'), 502, "head too large"},
    {"HTTP/1.1 200 OK\r\na:\r\na:\r\na:\r\na:\r\na:\r\na:\r\na:\r\na:\r\na:\r\n", 502, "too many fields"},
};

TEST(ResponseHead, faults_are_refused_by_name) {
    for (auto const& row : refused_responses) {
        SCOPED_TRACE(testing::PrintToString(row.bytes.substr(0, 80)));
        auto result = whole<Response>(row.bytes);
        EXPECT_EQ(result.refusal, row.refusal);
        EXPECT_EQ(result.status, row.status);
        expect_same_in_pieces<Response>(row.bytes);
    }
}

std::vector<Understood> const understood_responses{
    {"HTTP/1.1 200 OK\r\n\r\n", "200|OK|1.1", {}},
    {"HTTP/1.0 404 Not Found\r\nA: b\r\n\r\n", "404|Not Found|1.0", {{"A", "b"}}},
    {"HTTP/1.1 200 \r\n\r\n", "200||1.1", {}},
    {"HTTP/1.1 200\r\n\r\n", "200||1.1", {}},
    {"HTTP/1.3 599 \t\xe9 \r\n\r\n", "599|\t\xe9 |1.1", {}},
    {"HTTP/1.1 999 Denied\r\n\r\n", "999|Denied|1.1", {}},
};

TEST(ResponseHead, well_formed_heads_are_understood) {
    for (auto const& row : understood_responses) {
        SCOPED_TRACE(testing::PrintToString(row.bytes));
        Seen const expected{HeadParse::Kind::complete, row.bytes.size(), 0, "", row.start, row.fields};
        EXPECT_EQ(whole<Response>(row.bytes + "body\n"), expected);
        expect_same_in_pieces<Response>(row.bytes + "body\n");
    }
}

TEST(Names, every_known_name_is_found_in_any_case) {
    std::pair<Name, char const*> const names[] = {
        {Name::accept, "Accept"},
        {Name::accept_encoding, "Accept-Encoding"},
        {Name::accept_language, "Accept-Language"},
        {Name::age, "Age"},
        {Name::authorization, "Authorization"},
        {Name::cache_control, "Cache-Control"},
        {Name::cache_status, "Cache-Status"},
        {Name::connection, "Connection"},
        {Name::content_encoding, "Content-Encoding"},
        {Name::content_length, "Content-Length"},
        {Name::content_location, "Content-Location"},
        {Name::content_range, "Content-Range"},
        {Name::content_type, "Content-Type"},
        {Name::cookie, "Cookie"},
        {Name::date, "Date"},
        {Name::etag, "ETag"},
        {Name::expect, "Expect"},
        {Name::expires, "Expires"},
        {Name::forwarded, "Forwarded"},
        {Name::garner_admin, "Garner-Admin"},
        {Name::host, "Host"},
        {Name::http2_settings, "HTTP2-Settings"},
        {Name::if_match, "If-Match"},
        {Name::if_modified_since, "If-Modified-Since"},
        {Name::if_none_match, "If-None-Match"},
        {Name::if_range, "If-Range"},
        {Name::if_unmodified_since, "If-Unmodified-Since"},
        {Name::keep_alive, "Keep-Alive"},
        {Name::last_modified, "Last-Modified"},
        {Name::location, "Location"},
        {Name::max_forwards, "Max-Forwards"},
        {Name::origin, "Origin"},
        {Name::pragma, "Pragma"},
        {Name::proxy_authenticate, "Proxy-Authenticate"},
        {Name::proxy_authentication_info, "Proxy-Authentication-Info"},
        {Name::proxy_authorization, "Proxy-Authorization"},
        {Name::proxy_connection, "Proxy-Connection"},
        {Name::range, "Range"},
        {Name::set_cookie, "Set-Cookie"},
        {Name::te, "TE"},
        {Name::trailer, "Trailer"},
        {Name::transfer_encoding, "Transfer-Encoding"},
        {Name::upgrade, "Upgrade"},
        {Name::vary, "Vary"},
        {Name::via, "Via"},
        {Name::warning, "Warning"},
        {Name::x_forwarded_for, "X-Forwarded-For"},
    };
    EXPECT_EQ(std::size(names) + 1, static_cast<std::size_t>(Name::count_));
    for (auto [id, text] : names) {
        std::string upper(text);
        for (char& c : upper)
            if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
        EXPECT_EQ(name_of(text), id) << text;
        EXPECT_EQ(name_of(upper), id) << text;
        EXPECT_EQ(name_of(lower_case(text)), id) << text;
        EXPECT_EQ(name_of(std::string(text) + "x"), Name::other) << text;
        EXPECT_EQ(name_of(std::string(text).substr(1)), Name::other) << text;
    }
}

TEST(FieldIn, finds_a_field_of_any_case_and_only_whole_names) {
    constexpr auto head = "HTTP/1.1 200 OK\r\nX-Content-Type: no\r\ncontent-TYPE:  text/html \r\nETag: \"a\"\r\n"sv;
    EXPECT_EQ(field_in(head, "Content-Type"), "text/html");
    EXPECT_EQ(field_in(head, "ETag"), "\"a\"");
    EXPECT_EQ(field_in(head, "Vary"), "");
    EXPECT_EQ(field_in("", "Vary"), "");
    EXPECT_EQ(field_in("HTTP/1.1 200 OK\r\nVary", "Vary"), "");
}

TEST(Names, others_are_not_known) {
    for (auto text : {""sv, "X"sv, "Hosr"sv, "Content_Length"sv, "Content\rLength"sv, "Te "sv, "\xe8ost"sv, "Hos\0"sv})
        EXPECT_EQ(name_of(text), Name::other) << text;
    EXPECT_EQ(name_of(std::string(300, 'a')), Name::other);
}

TEST(Fields, are_found_by_name) {
    Fields fields;
    fields.add("Via", "1.1 a");
    fields.add("X-One", "1");
    fields.add("VIA", "1.0 b");
    fields.add("Vary", "");
    fields.add("vary", "accept");
    EXPECT_TRUE(fields.has(Name::via));
    EXPECT_FALSE(fields.has(Name::host));
    EXPECT_EQ(fields.first(Name::via), "1.1 a");
    EXPECT_EQ(fields.first(Name::host), "");
    EXPECT_EQ(fields.count(Name::via), 2u);
    EXPECT_EQ(fields.count(Name::host), 0u);
    ASSERT_NE(fields.find("x-one"), nullptr);
    EXPECT_EQ(fields.find("x-one")->value, "1");
    EXPECT_EQ(fields.find("via")->value, "1.1 a");
    EXPECT_EQ(fields.find("x-two"), nullptr);
    EXPECT_EQ(fields.find("host"), nullptr);
    fields.clear();
    EXPECT_TRUE(fields.empty());
    EXPECT_FALSE(fields.has(Name::via));
    EXPECT_EQ(fields.find("X-One"), nullptr);
}

TEST(Fields, list_members_respect_quotes_and_skip_empty_ones) {
    Fields fields;
    fields.add("Vary", "a, ,\tb ,");
    fields.add("Host", "x");
    fields.add("Vary", "\"c, \\\" d\", e");
    std::vector<std::string> members;
    for_each_member(fields, Name::vary, [&](std::string_view member) { members.emplace_back(member); });
    EXPECT_EQ(members, (std::vector<std::string>{"a", "b", "\"c, \\\" d\"", "e"}));
}

TEST(Method, names_are_case_sensitive) {
    std::tuple<char const*, Method, bool, bool> const rows[] = {
        {"GET", Method::get, true, true},         {"HEAD", Method::head, true, true},
        {"POST", Method::post, false, false},     {"PUT", Method::put, false, true},
        {"DELETE", Method::delete_, false, true}, {"OPTIONS", Method::options, true, true},
        {"TRACE", Method::trace, true, true},     {"CONNECT", Method::connect, false, false},
        {"PATCH", Method::patch, false, false},   {"PURGE", Method::purge, false, false},
        {"get", Method::other, false, false},     {"MKCOL", Method::other, false, false},
        {"", Method::other, false, false},
    };
    for (auto [text, method, safe, idempotent] : rows) {
        EXPECT_EQ(method_of(text), method) << text;
        EXPECT_EQ(is_safe(method), safe) << text;
        EXPECT_EQ(is_idempotent(method), idempotent) << text;
    }
}

TEST(Token, is_tchars_only) {
    for (auto text : {"a"sv, "GET"sv, "!#$%&'*+-.^_`|~09AZaz"sv}) EXPECT_TRUE(is_token(text)) << text;
    for (auto text : {""sv, "a b"sv, "a:"sv, "(a)"sv, "\"a\""sv, "a\0"sv, "\x80"sv, "a\r"sv}) EXPECT_FALSE(is_token(text));
}

}   // namespace
}   // namespace garner::http
