// Malformed origin responses that are not repaired (see repaired_answers.cpp): 502 if detected in time, an aborted
// connection if detected later, and never stored.
#include "story/faults/many_fields.hpp"
#include "story/scene.hpp"

namespace garner::test {

namespace {

using namespace std::string_literals;

std::string const ok = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\n";

std::vector<std::string> const heads{
    "",
    "\r\n\r\n",
    "hello\r\n\r\n",
    "HTTP/1.1\r\n\r\n",
    "HTTP/1.1 \r\n\r\n",
    "HTTP/1.1 20 OK\r\n\r\n",
    "HTTP/1.1 2000 OK\r\n\r\n",
    "HTTP/1.1 099 Low\r\n\r\n",
    "HTTP/1.1 -20 OK\r\n\r\n",
    "HTTP/1.1 2x0 OK\r\n\r\n",
    "HTTP/1.1  200 OK\r\n\r\n",
    " HTTP/1.1 200 OK\r\n\r\n",
    "HTTP/1.10 200 OK\r\n\r\n",
    "HTTP/2.0 200 OK\r\n\r\n",
    "HTTP/0.9 200 OK\r\n\r\n",
    "http/1.1 200 OK\r\n\r\n",
    "ICY 200 OK\r\n\r\n",
    ok + "Transfer-Encoding: gzip\r\nContent-Length: 4\r\n\r\nbody",
    "HTTP/1.1 200 OK\r\n X: a\r\nContent-Length: 4\r\n\r\nbody",
    ok + "Content-Length: 4\r\nContent-Length: 3\r\n\r\nbody",
    ok + "Content-Length: +4\r\n\r\nbody",
    ok + "Content-Length: -4\r\n\r\nbody",
    ok + "Content-Length: 0x4\r\n\r\nbody",
    ok + "Content-Length: 4 4\r\n\r\nbody",
    ok + "Content-Length: 1_0\r\n\r\nbody",
    ok + "Content-Length:\r\n\r\nbody",
    ok + "Content-Length: 9223372036854775808\r\n\r\nbody",
    ok + "Content-Length: 18446744073709551620\r\n\r\nbody",
    ok + "Transfer-Encoding: gzip\r\n\r\nbody",
    ok + "Transfer-Encoding: gzip, chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
    ok + "Transfer-Encoding: chunked, chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
    ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
    ok + "Transfer-Encoding: chunked, identity\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
    ok + "Transfer-Encoding: \"chunked\"\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
    ok + "Transfer-Encoding: \vchunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
    ok + "Transfer-Encoding:\r\n chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
    ok + ": a\r\nContent-Length: 4\r\n\r\nbody",
    ok + "X\r\nContent-Length: 4\r\n\r\nbody",
    ok + "X\xc3\xa9: a\r\nContent-Length: 4\r\n\r\nbody",
    ok + "X: " + std::string(1 << 20, 'a') + "\r\n\r\n",
    ok + many_fields(20'000) + "\r\n",
    ok + "Content-Length: 4",
};

/// Bodies after a valid head; the error comes after some valid bytes.
std::vector<std::string> const bodies{
    "Content-Length: 10\r\n\r\nshort",
    "Content-Length: 9223372036854775807\r\n\r\nshort",
    "Transfer-Encoding: chunked\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0",
    "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
    "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: a\r\n",
    "Transfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0x5\r\nhello\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n-5\r\nhello\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n 5\r\nhello\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n10000000000000005\r\nhello\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5;x\ny\r\nhello\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5;x=\"\r\nhello\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5;" + std::string(1 << 20, 'x'),
    "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: " + std::string(1 << 20, 'x'),
};

}   // namespace

TEST(HostileAnswers, a_head_that_two_could_read_differently_is_502_and_is_not_stored) {
    Origin origin;
    Proxy proxy(R"({"caching": {"negative_ttl": "0s"}})");
    for (auto const& head : heads) {
        SCOPED_TRACE(::testing::PrintToString(head.substr(0, 160)));
        origin.raw("/page", head);
        for (int time = 0; time < 2; ++time) {
            auto reply = get(proxy, origin, "/page");
            EXPECT_EQ(reply.status(), 502);
            EXPECT_FALSE(reply.hit());
        }
    }
    origin.answer("/page", fresh("fine"));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "fine");
}

TEST(HostileAnswers, a_body_that_breaks_its_framing_is_never_complete_and_never_stored) {
    Origin origin;
    Proxy proxy;
    int number = 0;
    for (auto const& body : bodies) {
        SCOPED_TRACE(::testing::PrintToString(body.substr(0, 160)));
        auto const path = "/page" + std::to_string(number++);
        origin.raw(path, ok + body);
        for (std::size_t time = 1; time <= 2; ++time) {
            Client client(proxy, origin);
            auto reply = client.get(path);
            if (reply.status() != 502) {
                EXPECT_EQ(reply.status(), 200);
                EXPECT_FALSE(reply.complete());
                EXPECT_TRUE(client.closed_by_proxy());
            }
            EXPECT_FALSE(reply.hit());
            EXPECT_EQ(origin.requests(path), time);
        }
        // A client without chunked coding gets Content-Length or no response, never a truncated body with a clean end.
        Client old(proxy);
        old.raw("GET " + origin.url(path) + " HTTP/1.0\r\n\r\n");
        EXPECT_THAT(old.expect().status(), AnyOf(200, 502));
        EXPECT_TRUE(old.closed_by_proxy());
    }
}

TEST(HostileAnswers, a_body_where_none_may_be_is_no_part_of_the_next_answer) {
    Origin origin;
    Proxy proxy(R"({"workers": 1})");
    std::string const poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison";
    origin.answer("/next", no_store("next"));
    for (std::string const& head : {
             "HTTP/1.1 204 No Content\r\n\r\n"s,
             "HTTP/1.1 204 No Content\r\nContent-Length: 51\r\n\r\n"s,
             "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n"s,
             "HTTP/1.1 304 Not Modified\r\n\r\n"s,
             "HTTP/1.1 304 Not Modified\r\nContent-Length: 51\r\n\r\n"s,
             "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"s,
             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"s,
         }) {
        SCOPED_TRACE(head);
        origin.by_hand("/page", [&](Hand& hand) { hand.send(head + poison); });
        Client client(proxy, origin);
        auto reply = client.get("/page", {{"If-None-Match", R"("a")"}});
        EXPECT_THAT(reply.status(), AnyOf(200, 204, 304));
        EXPECT_EQ(reply.body(), "");
        EXPECT_EQ(client.get("/next").body(), "next");
        EXPECT_EQ(get(proxy, origin, "/next").body(), "next");
    }
}

TEST(HostileAnswers, the_answer_to_HEAD_has_no_body_whatever_follows_it) {
    Origin origin;
    Proxy proxy(R"({"workers": 1})");
    origin.answer("/next", no_store("next"));
    for (std::string const& framing :
         {"Content-Length: 6"s, "Transfer-Encoding: chunked"s, "X: y"s, "Content-Length: 6\r\nTransfer-Encoding: chunked"s}) {
        origin.by_hand("/page", [&](Hand& hand) {
            hand.send("HTTP/1.1 200 OK\r\n" + framing + "\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison");
        });
        Client client(proxy, origin);
        EXPECT_THAT(client.head("/page").status(), AnyOf(200, 502)) << framing;
        EXPECT_EQ(get(proxy, origin, "/next").body(), "next") << framing;
        EXPECT_EQ(client.get("/next").body(), "next") << framing;
    }
}

TEST(HostileAnswers, interim_answers_that_lie_or_never_end_are_502) {
    Origin origin;
    Proxy proxy;
    std::string endless;
    for (int i = 0; i < 5000; ++i) endless += "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    for (std::string const& answer : {
             endless,
             "HTTP/1.1 103 Early Hints\r\nX y\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"s,
             "HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"s,
             "HTTP/1.1 100 Continue\r\n\r\n"s,
             "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"s,
         }) {
        SCOPED_TRACE(answer.substr(0, 80));
        origin.raw("/page", answer);
        EXPECT_EQ(get(proxy, origin, "/page").status(), 502);
    }
}

TEST(HostileAnswers, fields_that_one_hop_owns_and_lengths_are_written_anew) {
    Origin origin;
    Proxy proxy;
    origin.raw("/page", "HTTP/1.1 200 \r\nCache-Control: max-age=600\r\nConnection: X-Hop, Content-Length, Via\r\n"
                        "X-Hop: 1\r\nContent-Length: 0004\r\nProxy-Authenticate: Basic\r\n\r\nbody");
    for (int time = 0; time < 2; ++time) {
        auto reply = get(proxy, origin, "/page");
        EXPECT_EQ(reply.body(), "body");
        EXPECT_EQ(reply.field("Content-Length"), "4");
        EXPECT_FALSE(reply.has("X-Hop"));
        EXPECT_FALSE(reply.has("Proxy-Authenticate"));
        EXPECT_TRUE(reply.has("Via"));
        EXPECT_EQ(reply.hit(), time == 1);
    }
}

TEST(HostileAnswers, a_206_that_nobody_asked_for_or_that_contradicts_itself_never_answers_another) {
    Origin origin;
    Proxy proxy;
    int number = 0;
    for (std::string range : {"bytes 0-3/4", "bytes 0-3/*", "bytes 0-9/10", "bytes 3-0/4", "bytes 0-3/2", "items 0-3/4",
                              "bytes 0-99999999999999999999/4", "nonsense", ""}) {
        auto const path = "/page" + std::to_string(number++);
        origin.answer(path, {{.status = 206,
                              .fields = {{"Content-Range", range}, {"Cache-Control", "max-age=600"}, {"ETag", R"("a")"}},
                              .body = "part"},
                             fresh("the whole")});
        get(proxy, origin, path).body();
        EXPECT_EQ(get(proxy, origin, path).body(), "the whole") << range;
    }
}

}   // namespace garner::test
