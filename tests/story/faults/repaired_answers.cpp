// Responses of origins with errors that every browser reads: repaired for the client, not stored where their framing was in doubt,
// and their connection is not used again.
#include "story/faults/many_fields.hpp"
#include "story/scene.hpp"
#include "support/strict.hpp"

namespace garner::test {

namespace {

using namespace std::string_literals;

std::string const cacheable = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\n";
std::string const of_length = "Content-Length: 4\r\n\r\nbody";
std::string const coded = "Transfer-Encoding: chunked\r\n\r\n";
std::string const of_chunks = coded + "4\r\nbody\r\n0\r\n\r\n";
std::string const second_answer = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 6\r\n\r\npoison";

enum class Stored : bool { no, yes };

struct Repairable {
    std::string answer;
    Stored stored = Stored::no;
    bool ends_by_close = false;
};

std::vector<Repairable> const repairable{
    {cacheable + "X : a\r\n" + of_length, Stored::yes},
    {cacheable + "X\t: a\r\n" + of_chunks, Stored::yes},
    {cacheable + "X: \x1b[2J\x01\x7f\r\n" + of_length, Stored::yes},
    {"HTTP/1.1 200 O\x1bK\r\nCache-Control: max-age=600\r\n" + of_length, Stored::yes},
    {cacheable + coded + "4  \r\nbody\r\n0 \r\n\r\n", Stored::yes},
    {cacheable + "Content-Length : 4\r\n\r\nbody"},
    {cacheable + "Transfer-Encoding : chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"},
    {cacheable + "Content-Length: 4\r\n" + of_length},
    {cacheable + "Content-Length: 4, 4\r\n\r\nbody"},
    {cacheable + "Content-Length: 9\r\n" + of_chunks},
    {cacheable + coded.substr(0, coded.size() - 2) + "Content-Length: 2\r\n\r\n4\r\nbody\r\n0\r\n\r\n"},
    {"HTTP/1.0 200 OK\r\nCache-Control: max-age=600\r\n" + of_chunks},
    {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nCache-Control: max-age=600\r\n" + of_chunks},
    {"HTTP/1.1 200 OK\nCache-Control: max-age=600\nContent-Length: 4\n\nbody"},
    {"HTTP/1.1 200 OK\nCache-Control: max-age=600\n\nbody", Stored::no, true},
    {cacheable + "X: a\n" + of_length},
    {cacheable + coded + "4\nbody\n0\n\n"},
    {cacheable + coded + "2\r\nbo\r\n2\ndy\r\n0\r\n\r\n"},
    {cacheable + coded + "4\r\nbody\r\n0\r\nX: a\n\r\n"},
    {cacheable + coded + "4\r\nbody\r\n0\r\nX : a\r\n\r\n"},
    {cacheable + "X: a\r\n b\r\n\tc\r\n" + of_length},
    {cacheable + " folded\r\n" + of_length},
    {cacheable + "X: a\0b\r\n"s + of_length},
    {cacheable + "X: a\rb\r\n" + of_length},
    {"HTTP/1.1 103 Early Hints\r\nLink : </a>\r\n\r\n" + cacheable + of_length, Stored::yes},
    {"HTTP/1.1 103 Early Hints\nLink: </a>\n\n" + cacheable + of_length},
};

/// Everything that a client receives which asks once.
std::string received_once(Proxy const& proxy, Origin const& origin, std::string const& path, std::string const& method = "GET") {
    auto wire = Wire::connect("127.0.0.1", proxy.port());
    wire.send(method + " " + origin.url(path) + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    return wire.take_all();
}

/// Leaves its connection open behind the answer and a second one that nobody has asked for.
Script sends_two(Repairable const& row) {
    return [row](Hand& hand) {
        hand.read_body();
        hand.send(row.ends_by_close ? row.answer : row.answer + second_answer);
        if (row.ends_by_close) hand.leave();
    };
}

}   // namespace

TEST(RepairedAnswers, reach_the_client_whole_and_without_their_errors) {
    Origin origin;
    Proxy proxy(R"({"workers": 1})");
    origin.answer("/next", no_store("next"));
    int number = 0;
    for (auto const& row : repairable) {
        SCOPED_TRACE(::testing::PrintToString(row.answer));
        auto const path = "/page" + std::to_string(number++);
        origin.by_hand(path, sends_two(row));
        auto const answer = read_strictly(received_once(proxy, origin, path), "GET");
        EXPECT_EQ(answer.end, StrictAnswer::End::whole);
        EXPECT_EQ(answer.status, 200);
        EXPECT_EQ(answer.body, "body");
        EXPECT_EQ(get(proxy, origin, "/next").body(), "next");
        EXPECT_EQ(get(proxy, origin, path).hit(), row.stored == Stored::yes);
        EXPECT_EQ(get(proxy, origin, "/next").body(), "next");
    }
}

TEST(RepairedAnswers, to_HEAD_have_no_body) {
    Origin origin;
    Proxy proxy(R"({"workers": 1})");
    origin.answer("/next", no_store("next"));
    for (auto const& row : repairable) {
        SCOPED_TRACE(::testing::PrintToString(row.answer));
        origin.by_hand("/page", sends_two(row));
        auto const answer = read_strictly(received_once(proxy, origin, "/page", "HEAD"), "HEAD");
        EXPECT_EQ(answer.end, StrictAnswer::End::whole);
        EXPECT_EQ(answer.body, "");
        EXPECT_EQ(get(proxy, origin, "/next").body(), "next");
    }
}

TEST(RepairedAnswers, that_come_byte_by_byte_are_repaired_all_the_same) {
    Origin origin;
    Proxy proxy;
    int number = 0;
    for (auto const& row : repairable) {
        SCOPED_TRACE(::testing::PrintToString(row.answer));
        auto const path = "/page" + std::to_string(number++);
        origin.by_hand(path, [&row](Hand& hand) {
            for (char const& byte : row.answer) hand.send({&byte, 1});
            hand.leave();
        });
        EXPECT_EQ(get(proxy, origin, path).body(), "body");
    }
}

/// An application copies a parameter with a line feed into a field: an attacker's request splits its response.
TEST(RepairedAnswers, a_response_that_an_attacker_has_split_poisons_no_URL_and_no_connection) {
    Origin origin;
    Proxy proxy(R"({"workers": 1})");
    origin.answer("/home", fresh("home"));
    for (std::string const line_end : {"\n", "\r\n", "\r", "\r\n "}) {
        SCOPED_TRACE(::testing::PrintToString(line_end));
        auto const injected = "x" + line_end + "Content-Length: 0" + line_end + line_end + second_answer;
        origin.by_hand("/redirect", [injected](Hand& hand) {
            hand.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nX: " + injected + "\r\nContent-Length: 4\r\n\r\nbody");
        });
        std::string const asks = "GET " + origin.url("/redirect") + " HTTP/1.1\r\nHost: h\r\n\r\n";
        auto wire = Wire::connect("127.0.0.1", proxy.port());
        wire.send(asks + "GET " + origin.url("/home") + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        auto const all = wire.take_all();
        auto const first = read_strictly(all, "GET");
        if (first.end == StrictAnswer::End::whole) {
            EXPECT_EQ(read_strictly(std::string_view(all).substr(first.bytes), "GET").body, "home");
        }
        EXPECT_EQ(get(proxy, origin, "/home").body(), "home");
        origin.answer("/redirect", no_store("the victim's"));
        bool const is_as_sent = line_end == "\r\n";   // nothing tells this from the origin's own words
        if (!is_as_sent) {
            EXPECT_EQ(get(proxy, origin, "/redirect").body(), "the victim's");
        }
        EXPECT_EQ(get(proxy, origin, "/home").body(), "home");
        Client(proxy, origin).send("PURGE", "/redirect");
    }
}

TEST(RepairedAnswers, followers_of_a_doubtful_chunk_get_all_of_it_and_later_clients_nothing) {
    Origin origin;
    Proxy proxy;
    auto slow = origin.hold("/film");
    Client leader(proxy, origin), follower(proxy, origin);
    auto first = leader.get("/film");
    slow.arrived();
    slow.nth(0).raw(cacheable + coded + "4\r\nreel\r\n");
    EXPECT_EQ(first.early(4), "reel");
    auto second = follower.get("/film");
    EXPECT_EQ(second.early(4), "reel");
    slow.nth(0).raw("4\nmore\r\n0\r\n\r\n");
    EXPECT_EQ(first.body(), "reelmore");
    EXPECT_EQ(second.body(), "reelmore");
    EXPECT_TRUE(first.complete() && second.complete());
    origin.answer("/film", fresh("another"));
    EXPECT_EQ(get(proxy, origin, "/film").body(), "another");
}

TEST(RepairedAnswers, a_doubtful_304_does_not_keep_a_stored_response) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", Answer{.fields = {{"Cache-Control", "max-age=0"}, {"ETag", "\"1\""}}, .body = "old"});
    EXPECT_EQ(get(proxy, origin, "/page").body(), "old");
    origin.raw("/page", "HTTP/1.1 304 Not Modified\nETag: \"1\"\nCache-Control: max-age=600\n\n");
    EXPECT_EQ(get(proxy, origin, "/page").body(), "old");
    origin.answer("/page", fresh("new"));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "new");
}

TEST(RepairedAnswers, may_have_hundreds_of_fields_and_not_thousands) {
    Origin origin;
    Proxy proxy;
    origin.raw("/many", cacheable + many_fields(1'000) + of_length);
    for (bool const is_hit : {false, true}) {
        auto const reply = get(proxy, origin, "/many");
        EXPECT_EQ(reply.status(), 200);
        EXPECT_EQ(reply.field("X-999"), "y");
        EXPECT_EQ(reply.hit(), is_hit);
    }
    origin.raw("/more", cacheable + many_fields(1'100) + of_length);
    EXPECT_EQ(get(proxy, origin, "/more").status(), 502);
}

}   // namespace garner::test
