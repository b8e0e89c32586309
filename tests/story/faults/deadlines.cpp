// Every wait has a deadline, and every resource a limit: heads, fields and connections.
#include "story/scene.hpp"

namespace garner::test {

namespace {

using Clock = std::chrono::steady_clock;

std::string deadlines(std::string const& members) { return R"({"deadlines": {)" + members + "}}"; }

/// A response without length that nothing stores, such as a stream of events.
Answer stream_of_events() {
    auto events = no_store("");
    events.fields.emplace_back("Content-Type", "text/event-stream");
    events.delimited = Delimited::by_chunks;
    return events;
}

}   // namespace

TEST(Deadlines, a_head_that_comes_too_slowly_is_408) {
    Proxy proxy(deadlines(R"("head": "1s")"));
    Client client(proxy);
    auto reply = client.expect();
    auto const begun = Clock::now();
    std::string const head = "GET http://192.0.2.1/ HTTP/1.1\r\nHost: 192.0.2.1\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    for (char byte : head) {
        if (!client.raw(std::string(1, byte)) || reply.begins_within(100ms)) break;
    }
    EXPECT_EQ(reply.status(), 408);
    EXPECT_GE(Clock::now() - begun, 800ms);
    EXPECT_LE(Clock::now() - begun, 4s);
    EXPECT_TRUE(client.closed_by_proxy());
}

TEST(Deadlines, a_connection_that_never_speaks_is_closed) {
    Proxy proxy(deadlines(R"("head": "1s", "keep_alive": "1s")"));
    Client client(proxy);
    client.wire();
    EXPECT_TRUE(client.closed_by_proxy(6s));
}

TEST(Deadlines, an_idle_connection_is_closed_without_a_word) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy(deadlines(R"("keep_alive": "1s")"));
    Client client(proxy, origin);
    client.get("/page").body();
    pause_for(500ms);
    EXPECT_EQ(client.get("/page").body(), "x");
    EXPECT_EQ(client.connections(), 1);
    EXPECT_TRUE(client.closed_by_proxy(6s));
    EXPECT_EQ(client.wire().buffer(), "");
}

TEST(Deadlines, an_origin_that_does_not_answer_is_504) {
    Origin origin;
    auto silent = origin.hold("/page");
    Proxy proxy(deadlines(R"("first_byte": "1s")"));
    auto const begun = Clock::now();
    auto reply = get(proxy, origin, "/page");
    EXPECT_EQ(reply.status(), 504);
    EXPECT_LE(Clock::now() - begun, 5s);
    EXPECT_TRUE(silent.nth(0).abandoned());
}

TEST(Deadlines, an_origin_that_drips_its_head_is_504) {
    Origin origin;
    origin.by_hand("/page", [](Hand& hand) {
        hand.leave();
        bool there = hand.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n");
        for (int i = 0; there && i < 40; ++i) {
            pause_for(200ms);
            there = hand.send("X-Slow: 1\r\n");
        }
        hand.send("\r\n");
    });
    Proxy proxy(deadlines(R"("first_byte": "1s")"));
    auto const begun = Clock::now();
    EXPECT_EQ(get(proxy, origin, "/page").status(), 504);
    EXPECT_LE(Clock::now() - begun, 5s);
}

TEST(Deadlines, an_origin_that_stalls_within_the_body_cuts_the_answer) {
    Origin origin;
    auto stalls = origin.hold("/film");
    Proxy proxy(deadlines(R"("body": "1s")"));
    Client client(proxy, origin);
    auto reply = client.get("/film");
    stalls.head(fresh(""), 100);
    stalls.piece("begin");
    EXPECT_EQ(reply.early(5), "begin");
    EXPECT_TRUE(reply.ends_within(6s));
    EXPECT_FALSE(reply.complete());
}

TEST(Deadlines, a_stream_of_events_may_be_silent_for_longer_than_a_body) {
    Origin origin;
    auto events = origin.hold("/events");
    Proxy proxy(deadlines(R"("body": "500ms")"));
    Client client(proxy, origin);
    auto reply = client.get("/events");
    events.head(stream_of_events());
    events.piece("data: 1");
    EXPECT_EQ(reply.early(7), "data: 1");
    pause_for(2s);
    events.piece("data: 2");
    EXPECT_EQ(reply.early(14), "data: 1data: 2");
    pause_for(1s);
    events.piece("data: 3");
    events.finish();
    EXPECT_EQ(reply.body(), "data: 1data: 2data: 3");
    EXPECT_TRUE(reply.complete());
}

TEST(Deadlines, a_stream_that_is_silent_for_too_long_is_cut) {
    Origin origin;
    auto events = origin.hold("/events");
    Proxy proxy(deadlines(R"("body": "500ms", "stream": "1500ms")"));
    Client client(proxy, origin);
    auto const begun = Clock::now();
    auto reply = client.get("/events");
    events.head(stream_of_events());
    events.piece("data: 1");
    EXPECT_TRUE(reply.ends_within(8s));
    EXPECT_GE(Clock::now() - begun, 1'400ms);
    EXPECT_FALSE(reply.complete());
}

TEST(Deadlines, a_silent_stream_ends_with_its_client) {
    Origin origin;
    auto events = origin.hold("/events");
    Proxy proxy(deadlines(R"("body": "500ms")"));
    Client client(proxy, origin);
    auto reply = client.get("/events");
    events.head(stream_of_events());
    events.piece("data: 1");
    EXPECT_EQ(reply.early(7), "data: 1");
    pause_for(1s);   // it waits for the next event now
    client.close();
    EXPECT_TRUE(events.nth(0).abandoned(5s));
    EXPECT_THAT(proxy.logged("/events").tag, HasSubstr("ABORTED"));
}

TEST(Deadlines, a_client_that_stalls_within_its_body_is_let_go) {
    Origin origin;
    origin.answer("/up", no_store("thanks"));
    Proxy proxy(deadlines(R"("body": "1s")"));
    Client client(proxy, origin);
    auto reply = client.begin("PUT", "/up", {{"Content-Length", "100"}});
    client.raw("some");
    reply.ends_within(6s);
    EXPECT_THAT(reply.status(), AnyOf(0, 408));
    EXPECT_TRUE(client.closed_by_proxy());
}

TEST(Deadlines, a_slow_body_that_moves_is_not_cut) {
    Origin origin;
    auto slow = origin.hold("/film");
    Proxy proxy(deadlines(R"("body": "1s")"));
    Client client(proxy, origin);
    auto reply = client.get("/film");
    slow.head(fresh(""), 6);
    for (int i = 0; i < 6; ++i) {
        pause_for(400ms);
        slow.piece("x");
    }
    slow.finish();
    EXPECT_EQ(reply.body(), "xxxxxx");
    EXPECT_TRUE(reply.complete());
}

// ---- limits ----

TEST(Limits, too_large_a_head_is_431) {
    Proxy proxy(R"({"limits": {"head_max": "8 KiB", "target_max": "4 KiB"}})");
    Client client(proxy);
    client.raw("GET http://192.0.2.1/ HTTP/1.1\r\nHost: 192.0.2.1\r\nX-Large: " + std::string(20'000, 'a') + "\r\n\r\n");
    EXPECT_EQ(client.expect().status(), 431);
    EXPECT_TRUE(client.closed_by_proxy());
}

TEST(Limits, too_many_fields_are_431) {
    Proxy proxy(R"({"limits": {"fields_max": 50}})");
    Client client(proxy);
    std::string head = "GET http://192.0.2.1/ HTTP/1.1\r\nHost: 192.0.2.1\r\n";
    for (int i = 0; i < 100; ++i) head += "X: y\r\n";
    client.raw(head + "\r\n");
    EXPECT_EQ(client.expect().status(), 431);
}

TEST(Limits, too_long_a_target_is_414) {
    Proxy proxy;
    Client client(proxy);
    client.raw("GET http://192.0.2.1/" + std::string(40'000, 'a') + " HTTP/1.1\r\nHost: 192.0.2.1\r\n\r\n");
    EXPECT_EQ(client.expect().status(), 414);
}

TEST(Limits, an_endless_head_is_refused_while_it_comes) {
    Proxy proxy;
    Client client(proxy);
    client.raw("GET http://192.0.2.1/ HTTP/1.1\r\n");
    auto reply = client.expect();
    for (int i = 0; i < 4000 && !reply.begins_within(0ms); ++i)
        if (!client.raw("X-" + std::string(1000, 'a') + ": b\r\n")) break;
    EXPECT_THAT(reply.status(), AnyOf(431, 0));
    EXPECT_TRUE(client.closed_by_proxy());
}

TEST(Limits, an_origins_endless_head_is_502) {
    Origin origin;
    Proxy proxy;
    origin.by_hand("/page", [](Hand& hand) {
        hand.send("HTTP/1.1 200 OK\r\n");
        for (int i = 0; i < 4000; ++i)
            if (!hand.send("X-Field: " + std::string(1000, 'a') + "\r\n")) break;
        hand.leave();
    });
    EXPECT_EQ(get(proxy, origin, "/page").status(), 502);
}

TEST(Limits, one_client_gets_only_so_many_connections) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy(R"({"limits": {"connections_per_client": 5}})");
    ASSERT_TRUE(eventually([&] { return get(proxy, origin, "/page").status() == 200; }));
    std::vector<Client> clients(5, Client(proxy, origin));
    for (auto& client : clients) EXPECT_EQ(client.get("/page").status(), 200);
    Client sixth(proxy, origin);
    EXPECT_THAT(sixth.get("/page").status(), AnyOf(0, 429, 503));
    auto const is_refusal = [](Logged const& line) { return line.status == 429; };
    EXPECT_TRUE(eventually([&] {
        auto const log = proxy.log();
        auto const at = std::find_if(log.begin(), log.end(), is_refusal);
        return at != log.end() && at->tag == "TCP_DENIED" && at->all.value("reason", "") == "limits.connections_per_client";
    }));
    clients.pop_back();
    EXPECT_TRUE(eventually([&] { return get(proxy, origin, "/page").status() == 200; }));
    for (auto& client : clients) EXPECT_EQ(client.get("/page").status(), 200);
}

// ---- malformed messages ----

TEST(Faulty, what_is_ambiguous_is_refused_and_never_forwarded) {
    Origin origin;
    Proxy proxy;
    auto const line = "POST " + origin.url("/x") + " HTTP/1.1\r\nHost: " + origin.authority() + "\r\n";
    for (std::string const& message : {
             line + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
             line + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
             line + "Content-Length: +3\r\n\r\nabc",
             line + "Content-Length: 99999999999999999999\r\n\r\n",
             line + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
             line + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
             line + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
             line + "X: a\r\n folded\r\n\r\n",
             line + "X: a\nY: b\r\n\r\n",
             line + "Host: other\r\n\r\n",
             line + std::string("X: a\0b\r\n\r\n", 10),
             std::string("GET  http://127.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n"),
             std::string("GET http://user@127.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n"),
             std::string("GET file:///etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n"),
             std::string("GET http://127.0.0.1/ HTTP/1.1\r\n\r\n"),
         }) {
        Client client(proxy);
        client.raw(message);
        auto reply = client.expect();
        EXPECT_THAT(reply.status(), AnyOf(400, 501)) << message;
        EXPECT_TRUE(client.closed_by_proxy()) << message;
    }
    Client future(proxy);
    future.raw("GET http://127.0.0.1/ HTTP/2.0\r\nHost: x\r\n\r\n");
    EXPECT_EQ(future.expect().status(), 505);
    EXPECT_EQ(origin.requests("/x"), 0u);
}

TEST(Faulty, a_faulty_chunk_on_the_way_up_ends_both_connections) {
    Origin origin;
    Proxy proxy;
    origin.answer("/up", no_store("thanks"));
    for (std::string bad : {"0x3\r\nabc\r\n", "-3\r\nabc\r\n", "3\nabc\r\n", "3\r\nabcd\r\n", "fffffffffffffffff\r\nabc"}) {
        Client client(proxy, origin);
        auto reply = client.begin("PUT", "/up", {{"Transfer-Encoding", "chunked"}});
        client.raw(chunk("good") + bad + "0\r\n\r\n");
        EXPECT_THAT(reply.status(), AnyOf(0, 400)) << bad;
        EXPECT_TRUE(client.closed_by_proxy()) << bad;
    }
}

}   // namespace garner::test
