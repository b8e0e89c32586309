// Attacks by clients: refused with a status and a close, or normalized so that no origin can misread the request.
#include <atomic>

#include "story/faults/many_fields.hpp"
#include "story/scene.hpp"

namespace garner::test {

namespace {

using namespace std::string_literals;

/// A message in which ORIGIN stands for the origin's authority.
struct Refused {
    std::string bytes;
    int status = 400;
};

std::string addressed(std::string text, std::string const& authority) {
    for (std::size_t at = 0; (at = text.find("ORIGIN", at)) != text.npos; at += authority.size()) text.replace(at, 6, authority);
    return text;
}

std::string const post = "POST http://ORIGIN/x HTTP/1.1\r\nHost: ORIGIN\r\n";
std::string const get_line = "GET http://ORIGIN/x HTTP/1.1\r\n";
std::string const get_x = get_line + "Host: ORIGIN\r\n";

/// A smuggled second request; a response to it would be visible.
std::string const second = "GET http://ORIGIN/smuggled HTTP/1.1\r\nHost: ORIGIN\r\n\r\n";

/// A POST with these field lines, a body that fits most interpretations, and the second request.
Refused posting(std::string const& lines, int status = 400) { return {post + lines + "\r\n0\r\n\r\n" + second, status}; }
Refused getting(std::string const& lines, int status = 400) { return {get_x + lines + "\r\n" + second, status}; }
Refused targeting(std::string const& target, int status = 400) {
    return {"GET " + target + " HTTP/1.1\r\nHost: ORIGIN\r\n\r\n" + second, status};
}

std::vector<Refused> const framings{
    posting("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
    posting("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
    posting("Transfer-Encoding: identity\r\nContent-Length: 5\r\n"),
    posting("Transfer-Encoding:\r\nContent-Length: 5\r\n"),
    posting("Content-Length: 5, 5\r\n"),
    posting("Content-Length: 5,\r\n"),
    posting("Content-Length: 5\r\nContent-Length: 5\r\n"),
    posting("Content-Length: 5\r\nContent-Length: 6\r\n"),
    posting("Content-Length: 0\r\ncontent-length: 5\r\n"),
    posting("Content-Length: 5\r\nX: y\r\nCONTENT-LENGTH: \r\n"),
    posting("Content-Length: +5\r\n"),
    posting("Content-Length: -5\r\n"),
    posting("Content-Length: -0\r\n"),
    posting("Content-Length: 0x5\r\n"),
    posting("Content-Length: 5 5\r\n"),
    posting("Content-Length: 1_0\r\n"),
    posting("Content-Length: 5.0\r\n"),
    posting("Content-Length: 5e0\r\n"),
    posting("Content-Length: \"5\"\r\n"),
    posting("Content-Length: 5;x\r\n"),
    posting("Content-Length: five\r\n"),
    posting("Content-Length:\r\n"),
    posting("Content-Length: 9223372036854775808\r\n"),
    posting("Content-Length: 18446744073709551616\r\n"),
    posting("Content-Length: 18446744073709551621\r\n"),
    posting("Content-Length: 99999999999999999999999999999999999999999999\r\n"),
    posting("Content-Length : 5\r\n"),
    posting("Content-Length\t: 5\r\n"),
    posting("Content_Length: 5\r\nContent-Length: x\r\n"),
    posting("Transfer-Encoding: gzip\r\n", 501),
    posting("Transfer-Encoding: gzip, chunked\r\n", 501),
    posting("Transfer-Encoding: identity\r\n", 501),
    posting("Transfer-Encoding: xchunked\r\n", 501),
    posting("Transfer-Encoding: chunked, gzip\r\n"),
    posting("Transfer-Encoding: chunked, identity\r\n"),
    posting("Transfer-Encoding: chunked, chunked\r\n"),
    posting("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
    posting("Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n"),
    posting("Transfer-Encoding: \"chunked\"\r\n"),
    posting("Transfer-Encoding: chunked;a=b\r\n"),
    posting("Transfer-Encoding: ,chunked\r\n"),
    posting("Transfer-Encoding: chunked,\r\n"),
    posting("Transfer-Encoding:\r\n"),
    posting("Transfer-Encoding: \vchunked\r\n"),
    posting("Transfer-Encoding: chunked\x0c\r\n"),
    posting("Transfer-Encoding: chunked\0\r\n"s),
    posting("Transfer-Encoding : chunked\r\n"),
    posting("Transfer-Encoding\r\n : chunked\r\n"),
    posting("Transfer-Encoding:\r\n chunked\r\n"),
    posting("Transfer-Encoding: chunked\r\n , identity\r\n"),
    posting(" Transfer-Encoding: chunked\r\n"),
    posting("X: y\nTransfer-Encoding: chunked\r\n"),
    posting("X: y\rTransfer-Encoding: chunked\r\n"),
    {"POST http://ORIGIN/x HTTP/1.0\r\nHost: ORIGIN\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
    {"POST http://ORIGIN/x HTTP/1.0\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"},
    {"GET http://ORIGIN/x HTTP/1.1\r\nHost: ORIGIN\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
    {"CONNECT ORIGIN HTTP/1.1\r\nHost: ORIGIN\r\nContent-Length: 5\r\n\r\nhello"},
};

std::vector<Refused> const lines{
    getting("X: a\nY: b\r\n"),
    getting("X: a\rY: b\r\n"),
    getting("X: a\r\r\n"),
    getting("X: a\0b\r\n"s),
    getting("X: a\x01\r\n"),
    getting("X: a\x7f\r\n"),
    getting("X: a\x1b[2J\r\n"),
    getting("X: a\r\n folded\r\n"),
    getting("X: a\r\n\tfolded\r\n"),
    getting("X: a\r\n \r\n"),
    getting(" X: a\r\n"),
    getting("X : a\r\n"),
    getting("X\t: a\r\n"),
    getting(": a\r\n"),
    getting("X\r\n"),
    getting("X a\r\n"),
    getting("X(: a\r\n"),
    getting("X\0: a\r\n"s),
    getting("X\x01: a\r\n"),
    getting("\xc3\xa9: a\r\n"),
    getting("\"X\": a\r\n"),
    getting("X\r: a\r\n"),
    {get_line + " Host: ORIGIN\r\n\r\n"},
    {get_line + "\tX: a\r\nHost: ORIGIN\r\n\r\n"},
    {"GET http://ORIGIN/x HTTP/1.1\nHost: ORIGIN\n\n"},
    {get_x + "\n" + second},
};

std::vector<Refused> const request_lines{
    {"GET  http://ORIGIN/x HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"GET http://ORIGIN/x  HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"GET http://ORIGIN/x HTTP/1.1 \r\nHost: ORIGIN\r\n\r\n"},
    {"GET http://ORIGIN/x y HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {" GET http://ORIGIN/x HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"GET\thttp://ORIGIN/x\tHTTP/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"GET http://ORIGIN/x\r\n\r\n"},
    {"GET http://ORIGIN/x \r\n\r\n"},
    {"GET http://ORIGIN/x HTTP/0.9\r\n\r\n", 505},
    {"GET http://ORIGIN/x HTTP/2.0\r\nHost: ORIGIN\r\n\r\n", 505},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
    {"GET http://ORIGIN/x HTTP/1.10\r\nHost: ORIGIN\r\n\r\n"},
    {"GET http://ORIGIN/x HTTP/1\r\nHost: ORIGIN\r\n\r\n"},
    {"GET http://ORIGIN/x HTTP/01.1\r\nHost: ORIGIN\r\n\r\n"},
    {"GET http://ORIGIN/x HTTP/1.1x\r\nHost: ORIGIN\r\n\r\n"},
    {"GET http://ORIGIN/x http/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"GET http://ORIGIN/x HTTP/+1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"GET http://ORIGIN/x ICY/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"G@T http://ORIGIN/x HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"G\0T http://ORIGIN/x HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"s},
    {"G\xc3\x89T http://ORIGIN/x HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"GET: http://ORIGIN/x HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {std::string(65, 'M') + " http://ORIGIN/x HTTP/1.1\r\nHost: ORIGIN\r\n\r\n", 501},
    {"\r\n\r\n\r\nGET http://ORIGIN/x HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"\n" + get_x + "\r\n"},
    {"\0"s + get_x + "\r\n"},
    {"\x16\x03\x01\x02\x00\x01\r\n\r\n"s},
    {"SSH-2.0-client\r\n\r\n"},
};

std::vector<Refused> const targets{
    targeting("/x"),
    targeting("x"),
    targeting("*"),
    targeting("ORIGIN"),
    targeting("//ORIGIN/x"),
    targeting("http:/ORIGIN/x"),
    targeting("http:ORIGIN/x"),
    targeting("http:///x"),
    targeting("http://"),
    targeting("http://ORIGIN/x#part"),
    targeting("http://user@ORIGIN/x"),
    targeting("http://user:word@ORIGIN/x"),
    targeting("http://@ORIGIN/x"),
    targeting("http://ORIGIN\\@192.0.2.1/x"),
    targeting("http://ORIGIN:80/x"),
    targeting("http://127.0.0.1:0/x"),
    targeting("http://127.0.0.1:99999/x"),
    targeting("http://127.0.0.1:65536/x"),
    targeting("http://127.0.0.1:-1/x"),
    targeting("http://127.0.0.1:+80/x"),
    targeting("http://127.0.0.1:0x50/x"),
    targeting("http://127.0.0.1:80:80/x"),
    targeting("http://::1/x"),
    targeting("http://[::1/x"),
    targeting("http://[::1]x/x"),
    targeting("http://[127.0.0.1]/x"),
    targeting("http://127.0.0.1%00/x"),
    targeting("http://127.0.0.1%zz/x"),
    targeting("http://127.0.0.1,192.0.2.1/x y"),
    targeting("http://" + std::string(256, 'a') + "/x"),
    targeting("http://ORIGIN/\0x"s),
    targeting("http://ORIGIN/\x7f"),
    targeting("http://ORIGIN/a\tb"),
    targeting("http://ORIGIN/a\rb"),
    targeting("file:///etc/passwd"),
    targeting("gopher://ORIGIN/_x"),
    targeting("ftp://ORIGIN/x", 501),
    targeting("javascript:alert(1)"),
    targeting("ws://ORIGIN/x", 501),
    targeting("http://ORIGIN/" + std::string(64 * 1024, 'a'), 414),
    {get_line + "\r\n"},
    {get_line + "Host: ORIGIN\r\nHost: ORIGIN\r\n\r\n"},
    {get_line + "Host: ORIGIN\r\nhost: 192.0.2.1\r\n\r\n"},
    {get_line + "Host: ORIGIN, 192.0.2.1\r\n\r\n"},
    {get_line + "Host: ORIGIN/x\r\n\r\n"},
    {get_line + "Host: user@ORIGIN\r\n\r\n"},
    {get_line + "Host: ORIGIN ORIGIN\r\n\r\n"},
    {get_line + "Host: 127.0.0.1:99999\r\n\r\n"},
    {get_line + "Host: [::1\r\n\r\n"},
    {get_line + "Host: http://ORIGIN\r\n\r\n"},
    {"CONNECT http://ORIGIN/ HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"CONNECT ORIGIN/x HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"CONNECT 127.0.0.1 HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"CONNECT 127.0.0.1: HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"CONNECT * HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"CONNECT user@ORIGIN HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"POST * HTTP/1.1\r\nHost: ORIGIN\r\nContent-Length: 0\r\n\r\n"},
};

std::vector<Refused> const amounts{
    getting("X: " + std::string(1 << 20, 'a') + "\r\n", 431),
    getting("X" + std::string(1 << 20, 'a') + ": b\r\n", 431),
    getting(many_fields(20'000), 431),
    getting("Cookie: " + std::string(70'000, 'c') + "\r\n", 431),
    {std::string(1 << 20, 'A'), 501},
    {"GET http://ORIGIN/" + std::string(1 << 20, 'a'), 414},
    {get_line + std::string(1 << 20, 'a'), 431},
};

/// An origin that counts everything it receives.
struct Watched {
    Origin origin;
    std::atomic<int> heads{0}, whole{0};

    Watched() {
        origin.otherwise([this](Hand& hand) {
            ++heads;
            hand.read_body();
            if (hand.leaves()) return;
            ++whole;
            hand.answer(no_store("reached"));
        });
    }
};

void expect_refused(Proxy const& proxy, Origin const& origin, Refused const& row) {
    SCOPED_TRACE(::testing::PrintToString(row.bytes.substr(0, 120)));
    Client client(proxy);
    client.raw(addressed(row.bytes, origin.authority()));
    auto reply = client.expect();
    EXPECT_EQ(reply.status(), row.status) << reply.trouble();
    EXPECT_TRUE(reply.complete());
    EXPECT_TRUE(client.closed_by_proxy());
    EXPECT_THAT(client.wire().buffer(), Not(HasSubstr("HTTP/1.1"))) << "a second answer";
}

void expect_all_refused(std::vector<Refused> const& rows) {
    Watched watched;
    Proxy proxy;
    for (auto const& row : rows) expect_refused(proxy, watched.origin, row);
    EXPECT_EQ(watched.heads, 0);
    EXPECT_EQ(get(proxy, watched.origin, "/x").body(), "reached");
}

}   // namespace

TEST(HostileClient, framing_that_two_could_read_differently_is_refused) { expect_all_refused(framings); }
TEST(HostileClient, lines_that_two_could_end_differently_are_refused) { expect_all_refused(lines); }
TEST(HostileClient, request_lines_of_another_grammar_are_refused) { expect_all_refused(request_lines); }
TEST(HostileClient, targets_that_name_nothing_or_two_things_are_refused) { expect_all_refused(targets); }
TEST(HostileClient, heads_without_end_are_refused_by_their_kind) { expect_all_refused(amounts); }

TEST(HostileClient, an_accelerator_is_no_easier_to_fool) {
    Watched watched;
    Proxy proxy(Proxy::Setup{.accelerates = watched.origin.url()});
    std::vector<Refused> rows = framings;
    rows.insert(rows.end(), lines.begin(), lines.end());
    for (auto const& target : {"x", "?x", "/x#part", "/\x7f", "http://user@a/", "/a\tb", "\\x", "*"})
        rows.push_back(targeting(target));
    rows.push_back(targeting("ftp://a/", 501));
    for (auto const& row : rows) {
        SCOPED_TRACE(::testing::PrintToString(row.bytes.substr(0, 120)));
        Client client("127.0.0.1", proxy.accelerator());
        client.raw(addressed(row.bytes, watched.origin.authority()));
        EXPECT_EQ(client.expect().status(), row.status);
        EXPECT_TRUE(client.closed_by_proxy());
    }
    EXPECT_EQ(watched.heads, 0);
}

// ---- bodies: the error is detected after the head was forwarded ----

TEST(HostileClient, a_body_that_breaks_its_framing_never_becomes_a_whole_request) {
    Watched watched;
    Proxy proxy;
    // clang-format off
    for (std::string const& bad : {
             "0x5\r\nhello\r\n"s, "+5\r\nhello\r\n"s, "-5\r\nhello\r\n"s, " 5\r\nhello\r\n"s, "5 \r\nhello\r\n"s,
             "5\nhello\r\n"s, "5\rhello\r\n"s, "5\r\r\nhello\r\n"s, "\r\n"s, ";x\r\n"s, "g\r\n"s, "5,5\r\nhello\r\n"s,
             "5\0\r\nhello\r\n"s, "8000000000000000\r\nhello\r\n"s, "ffffffffffffffff\r\nhello\r\n"s,
             "10000000000000005\r\nhello\r\n"s, "5\r\nhello!\r\n"s, "5\r\nhello\n"s, "5\r\nhello\r0\r\n"s,
             "5;x\nhello\r\n"s, "5;x\ry\r\nhello\r\n"s, "5;x=\"y\r\nhello\r\n"s, "5;x=\"y\r\nz\"\r\nhello\r\n"s,
             "5;x\0\r\nhello\r\n"s, "5;" + std::string(1 << 20, 'e'), std::string(5000, '0') + "5\r\nhello\r\n",
             "0\r\nX: a\n\r\n"s, "0\r\nX : a\r\n\r\n"s, "0\r\nX: a\r\n folded\r\n\r\n"s, "0\r\n: a\r\n\r\n"s,
             "0\r\n\n"s, "0\r\nX: " + std::string(1 << 20, 'a') + "\r\n\r\n",
             "0\r\nGET http://ORIGIN/smuggled HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"s,
         }) {
        SCOPED_TRACE(::testing::PrintToString(bad.substr(0, 80)));
        Client client(proxy);
        client.raw(addressed(post + "Transfer-Encoding: chunked\r\n\r\n4\r\ngood\r\n" + bad + "0\r\n\r\n" + second,
                             watched.origin.authority()));
        EXPECT_EQ(client.expect().status(), 400);
        EXPECT_TRUE(client.closed_by_proxy());
    }
    // clang-format on
    EXPECT_EQ(watched.whole, 0);
}

TEST(HostileClient, trailers_cannot_frame_route_or_authenticate) {
    Origin origin;
    Proxy proxy;
    origin.answer("/x", no_store("thanks"));
    Client client(proxy);
    client.raw(addressed(
        post +
            "Transfer-Encoding: chunked\r\nTrailer: Content-Length, Transfer-Encoding, Host, Authorization, X-Sum\r\n\r\n"
            "5\r\nhello\r\n0\r\nContent-Length: 9\r\nTransfer-Encoding: gzip\r\nHost: evil\r\nAuthorization: x\r\nX-Sum: 1\r\n\r\n",
        origin.authority()));
    EXPECT_EQ(client.expect().body(), "thanks");
    auto const request = origin.last("/x");
    EXPECT_EQ(request.body, "hello");
    EXPECT_EQ(request.head.field("Host"), origin.authority());
    EXPECT_FALSE(request.head.has("Content-Length"));
    EXPECT_EQ(request.trailers, (Fields{{"X-Sum", "1"}}));
}

// ---- unusual but unambiguous: normalized ----

TEST(HostileClient, what_is_odd_but_clear_is_written_anew) {
    struct Odd {
        std::string bytes, method, target, body;
    };
    Origin origin;
    Proxy proxy(R"({"workers": 1})");
    origin.otherwise([](Hand& hand) {
        hand.read_body();
        hand.answer(no_store("ok"));
    });
    for (auto const& row : std::vector<Odd>{
             {"\r\n" + get_x + "\r\n", "GET", "/x", ""},
             {"\r\n\r\n" + get_x + "\r\n", "GET", "/x", ""},
             {"GET http://ORIGIN HTTP/1.1\r\nHost: ORIGIN\r\n\r\n", "GET", "/", ""},
             {"GET http://ORIGIN?q HTTP/1.1\r\nHost: ORIGIN\r\n\r\n", "GET", "/?q", ""},
             {"GET HTTP://ORIGIN/x HTTP/1.1\r\nHost: ORIGIN\r\n\r\n", "GET", "/x", ""},
             {"GET http://ORIGIN//x/../y HTTP/1.1\r\nHost: ORIGIN\r\n\r\n", "GET", "//x/../y", ""},
             {"GET http://ORIGIN/%2e%2E/%00 HTTP/1.1\r\nHost: ORIGIN\r\n\r\n", "GET", "/%2e%2E/%00", ""},
             {"GET http://ORIGIN/{|}\"<> HTTP/1.1\r\nHost: ORIGIN\r\n\r\n", "GET", "/{|}\"<>", ""},
             {"GET http://ORIGIN/x HTTP/1.9\r\nHost: ORIGIN\r\n\r\n", "GET", "/x", ""},
             {"GET http://ORIGIN/x HTTP/1.0\r\n\r\n", "GET", "/x", ""},
             {get_line + "Host:\r\n\r\n", "GET", "/x", ""},
             {get_line + "Host: 192.0.2.1\r\n\r\n", "GET", "/x", ""},
             {get_line + "hOST:ORIGIN\t \r\n\r\n", "GET", "/x", ""},
             {get_x + "Content-Length: 00000000000000000000000000\r\n\r\n", "GET", "/x", ""},
             {get_x + "Content-Length: 3\r\n\r\nabc", "GET", "/x", "abc"},
             {"get http://ORIGIN/x HTTP/1.1\r\nHost: ORIGIN\r\n\r\n", "get", "/x", ""},
             {post + "Content-Length: \t0005 \t\r\n\r\nhello", "POST", "/x", "hello"},
             {post + "tRANSFER-eNCODING: CHUNKED\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "POST", "/x", "hello"},
             {post + "Transfer-Encoding: chunked\r\n\r\n005;a=\"0\\\"\"\r\nhello\r\n00\r\n\r\n", "POST", "/x", "hello"},
             {post + "Transfer_Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello", "POST", "/x", "hello"},
             {post + "X-Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello", "POST", "/x", "hello"},
             {post + "Connection: Content-Length\r\nContent-Length: 5\r\n\r\nhello", "POST", "/x", "hello"},
             {post + "Connection: Transfer-Encoding, Host\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "POST",
              "/x", "hello"},
         }) {
        SCOPED_TRACE(::testing::PrintToString(row.bytes));
        Client client(proxy);
        client.raw(addressed(row.bytes, origin.authority()));
        EXPECT_EQ(client.expect().status(), 200);
        auto const seen = origin.last(row.target);
        EXPECT_EQ(seen.head.method(), row.method);
        EXPECT_EQ(seen.head.target(), row.target);
        EXPECT_EQ(seen.head.version(), "HTTP/1.1");
        EXPECT_EQ(seen.body, row.body);
        EXPECT_EQ(seen.head.all("Host"), std::vector<std::string>{origin.authority()});
        EXPECT_LE(seen.head.all("Content-Length").size() + seen.head.all("Transfer-Encoding").size(), 1u);
        EXPECT_FALSE(seen.head.has("Connection"));
    }
}

TEST(HostileClient, an_HTTP_1_0_request_with_keep_alive_ends_its_connection_all_the_same) {
    Watched watched;
    Proxy proxy;
    Client client(proxy);
    client.raw(addressed("GET http://ORIGIN/x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + second, watched.origin.authority()));
    EXPECT_EQ(client.expect().body(), "reached");
    EXPECT_TRUE(client.closed_by_proxy());
    EXPECT_EQ(watched.heads, 1) << "the second request";
}

TEST(HostileClient, secrets_for_the_proxy_never_leave_also_when_Connection_hides_them) {
    Origin origin;
    Proxy proxy;
    origin.answer("/x", no_store("ok"));
    // clang-format off
    get(proxy, origin, "/x",
        {{"proxy-AUTHORIZATION", "Basic c2VjcmV0"}, {"PROXY-connection", "keep-alive"}, {"Proxy-Authorization", "x"},
         {"Connection", "Proxy-Authorization-Not"}})
        .body();
    // clang-format on
    auto const head = origin.last("/x").head;
    EXPECT_FALSE(head.has("Proxy-Authorization"));
    EXPECT_FALSE(head.has("Proxy-Connection"));
}

TEST(HostileClient, TRACE_shows_no_secrets_even_in_odd_spellings) {
    Proxy proxy;
    Client client(proxy);
    client.raw("TRACE http://192.0.2.1/x HTTP/1.1\r\nHost: 192.0.2.1\r\nMax-Forwards: 0\r\nCOOKIE: a=secret\r\n"
               "authorization:Basic secret\r\nProxy-authorization: secret\r\nCookie: secret\r\n\r\n");
    auto reply = client.expect();
    EXPECT_EQ(reply.status(), 200);
    EXPECT_THAT(reply.body(), Not(HasSubstr("secret")));
}

TEST(HostileClient, Max_Forwards_that_is_no_number_is_passed_on_as_it_is) {
    Origin origin;
    Proxy proxy;
    origin.answer("/x", no_store("ok"));
    for (auto value : {"-1", "x", "99999999999999999999", "0, 1", "+0"}) {
        EXPECT_EQ(Client(proxy, origin).send("OPTIONS", "/x", {{"Max-Forwards", value}}).status(), 200) << value;
        EXPECT_EQ(origin.last("/x").head.all("Max-Forwards").size(), 1u) << value;
    }
}

TEST(HostileClient, a_request_that_has_passed_too_many_proxies_is_a_loop) {
    Watched watched;
    Proxy proxy;
    std::string via;
    for (int i = 0; i < 1000; ++i) via += "1.1 hop" + std::to_string(i) + ", ";
    EXPECT_EQ(get(proxy, watched.origin, "/x", {{"Via", via}}).status(), 508);
    EXPECT_EQ(watched.heads, 0);
}

// ---- other names of blocked destinations ----

TEST(HostileClient, no_spelling_of_loopback_reaches_what_is_closed) {
    Watched watched;
    Proxy proxy(R"({"access": [{"allow": {"source": ["127.0.0.0/8"]}}]})");
    auto const port = ":" + std::to_string(watched.origin.port());
    // clang-format off
    for (std::string host :
         {"127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001",
          "127.255.255.254", "0.0.0.0", "0", "localhost", "LOCALHOST", "localhost.", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]",
          "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]",
          "[2002:7f00:1::]", "169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]", "127.0.0.1."}) {
        auto const authority = host + port;
        Client client(proxy);
        client.raw(addressed(get_x + "\r\n", authority));
        EXPECT_THAT(client.expect().status(), AnyOf(400, 403, 502)) << host;
        Client tunnel(proxy);
        EXPECT_THAT(tunnel.connect_to(authority).status(), AnyOf(400, 403, 502)) << host;
    }
    // clang-format on
    EXPECT_EQ(watched.heads, 0);
    EXPECT_EQ(watched.origin.connections(), 0u);
}

TEST(HostileClient, a_request_is_no_mail) {
    Proxy proxy(R"({"access": [{"allow": {"source": ["127.0.0.0/8"]}}]})");
    for (auto url : {"http://192.0.2.1:25/", "http://192.0.2.1:587/x", "https://192.0.2.1:465/"}) {
        auto reply = Client(proxy).post(url, "MAIL FROM:<a@b.test>\r\n");
        EXPECT_EQ(reply.status(), 403) << url;
        EXPECT_THAT(reply.body(), HasSubstr("another protocol")) << url;
    }
}

// ---- large but allowed input: costs only its sender ----

TEST(HostileClient, a_thousand_ranges_are_none) {
    Origin origin;
    Proxy proxy;
    origin.answer("/x", fresh(pattern(5000)));
    get(proxy, origin, "/x").body();
    std::string ranges = "bytes=0-0";
    for (int i = 1; i < 1000; ++i) ranges += "," + std::to_string(2 * i) + "-" + std::to_string(2 * i);
    auto reply = get(proxy, origin, "/x", {{"Range", ranges}});
    EXPECT_EQ(reply.status(), 200);
    EXPECT_TRUE(reply.body() == pattern(5000));
}

TEST(HostileClient, a_flood_of_pipelined_requests_is_answered_and_leaves_room_for_others) {
    Origin origin;
    Proxy proxy(R"({"workers": 1})");
    origin.answer("/x", fresh("ok"));
    get(proxy, origin, "/x").body();
    std::string flood;
    constexpr int many = 3000;
    for (int i = 0; i < many; ++i) flood += addressed(get_x + "\r\n", origin.authority());
    Client client(proxy);
    std::vector<Reply> replies;
    client.raw(flood);
    for (int i = 0; i < many; ++i) replies.push_back(client.expect());
    EXPECT_TRUE(get(proxy, origin, "/x").begins_within(5s));
    for (auto const& reply : replies) ASSERT_EQ(reply.body(), "ok");
}

TEST(HostileClient, half_a_message_and_a_half_closed_socket_hold_nothing) {
    Watched watched;
    Proxy proxy;
    for (std::string const& part :
         {"G"s, "GET http://ORIGIN/x HTTP/1.1\r\nHost: ORI"s, get_x, get_x + "\r", post + "Content-Length: 10\r\n\r\nhello",
          post + "Transfer-Encoding: chunked\r\n\r\n5\r\nhel", post + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"}) {
        Client client(proxy);
        client.raw(addressed(part, watched.origin.authority()));
        client.half_close();
        EXPECT_TRUE(client.closed_by_proxy()) << part;
    }
    EXPECT_EQ(watched.whole, 0);
}

TEST(HostileClient, one_that_speaks_SOCKS_or_TLS_is_told_so_and_logged) {
    Proxy proxy(R"({"workers": 1})");   // with several workers the order of lines is not fixed
    std::vector<std::pair<std::string, std::string>> const hellos{
        {"\x05\x01\x00"s, "SOCKS"}, {"\x04\x01"s, "SOCKS"}, {"\x16\x03\x01\x02\x00\x01"s, "not TLS"}};
    for (auto const& [hello, word] : hellos) {
        Client client(proxy);
        client.raw(hello);
        auto reply = client.expect();
        EXPECT_EQ(reply.status(), 400) << word;
        EXPECT_THAT(reply.body(), HasSubstr(word));
        EXPECT_TRUE(client.closed_by_proxy());
    }
    EXPECT_TRUE(eventually([&] { return proxy.log().size() == hellos.size(); }));
    EXPECT_THAT(proxy.log().front().all["reason"].get<std::string>(), HasSubstr("SOCKS"));
}

}   // namespace garner::test
