// Streaming bodies: large ones in both directions, every framing, back-pressure, trailers, interim responses.
#include <sys/socket.h>

#include <atomic>
#include <future>

#include "story/scene.hpp"

namespace garner::test {

namespace {

std::string const reel = pattern(20 * 1024 * 1024);

std::string in_chunks(std::string_view bytes, std::size_t size, std::string_view end = "0\r\n\r\n") {
    std::string text;
    text.reserve(bytes.size() + bytes.size() / size * 10 + 20);
    for (std::size_t at = 0; at < bytes.size(); at += size) text += chunk(bytes.substr(at, size));
    return text.append(end);
}

}   // namespace

TEST(Streaming, twenty_mebibytes_come_down_whole) {
    Origin origin;
    Proxy proxy;
    origin.answer("/reel", fresh(reel));
    auto reply = get(proxy, origin, "/reel");
    EXPECT_EQ(reply.field("Content-Length"), std::to_string(reel.size()));
    EXPECT_TRUE(reply.body() == reel);
    EXPECT_TRUE(reply.complete());
}

TEST(Streaming, twenty_mebibytes_go_up_whole) {
    Origin origin;
    Proxy proxy;
    origin.answer("/reel", no_store("thanks"));
    EXPECT_EQ(Client(proxy, origin).post("/reel", reel).body(), "thanks");
    EXPECT_TRUE(origin.last("/reel").body == reel);
    EXPECT_EQ(origin.last("/reel").head.field("Content-Length"), std::to_string(reel.size()));
}

TEST(Streaming, chunks_come_down_framed_anew) {
    Origin origin;
    Proxy proxy;
    origin.by_hand("/reel", [](Hand& hand) {
        hand.send(Answer{.fields = {{"Cache-Control", "no-store"}}, .delimited = Delimited::by_chunks}.head_text());
        hand.send(in_chunks(reel, 7777));
    });
    auto reply = get(proxy, origin, "/reel");
    EXPECT_TRUE(reply.body() == reel);
    EXPECT_TRUE(reply.chunked());
    EXPECT_TRUE(reply.complete());
}

TEST(Streaming, chunks_go_up_framed_anew) {
    Origin origin;
    Proxy proxy;
    origin.answer("/reel", no_store("thanks"));
    Client client(proxy, origin);
    auto reply = client.begin("POST", "/reel", {{"Transfer-Encoding", "chunked"}});
    client.raw(in_chunks(reel, 5000));
    EXPECT_EQ(reply.body(), "thanks");
    EXPECT_TRUE(origin.last("/reel").body == reel);
    // Chunk extensions of the client are not forwarded.
    auto extended = client.begin("POST", "/reel", {{"Transfer-Encoding", "chunked"}});
    client.raw(chunk("abc", ";name=\"value\"") + "0\r\n\r\n");
    EXPECT_EQ(extended.body(), "thanks");
    EXPECT_EQ(origin.last("/reel").body, "abc");
}

TEST(Streaming, an_answer_that_ends_with_the_connection_is_whole) {
    Origin origin;
    Proxy proxy;
    origin.answer("/reel",
                  {.fields = {{"Cache-Control", "no-store"}}, .body = pattern(1'000'000), .delimited = Delimited::by_close});
    Client client(proxy, origin);
    auto reply = client.get("/reel");
    EXPECT_EQ(reply.body(), pattern(1'000'000));
    EXPECT_TRUE(reply.complete());
    EXPECT_TRUE(reply.chunked()) << "the client's connection stays open after the origin's ends";
    EXPECT_EQ(client.get("/reel").body(), pattern(1'000'000));
    EXPECT_EQ(client.connections(), 1);
}

TEST(Streaming, the_origin_sees_the_beginning_of_an_upload_before_its_end) {
    Origin origin;
    Proxy proxy;
    std::promise<std::string> begun;
    origin.by_hand("/up", [&](Hand& hand) {
        begun.set_value(hand.wire().take(5));
        hand.wire().take(5);
        hand.answer(no_store("thanks"));
    });
    Client client(proxy, origin);
    auto reply = client.begin("PUT", "/up", {{"Content-Length", "10"}});
    client.raw("first");
    EXPECT_EQ(begun.get_future().get(), "first");
    client.raw("later");
    EXPECT_EQ(reply.body(), "thanks");
}

TEST(Streaming, an_answer_during_the_upload_reaches_the_client) {
    Origin origin;
    Proxy proxy;
    origin.by_hand("/up", [](Hand& hand) { hand.answer({.status = 413, .body = "too much", .close = true}); });
    Client client(proxy, origin);
    auto reply = client.begin("PUT", "/up", {{"Content-Length", "100000000"}});
    client.raw(pattern(1000));
    EXPECT_EQ(reply.status(), 413);
    EXPECT_EQ(reply.body(), "too much");
}

TEST(Streaming, trailers_pass_in_both_directions_and_are_never_merged) {
    Origin origin;
    Proxy proxy;
    origin.answer("/sum", {.fields = {{"Cache-Control", "no-store"}, {"Trailer", "X-Sum"}},
                           .body = "body",
                           .delimited = Delimited::by_chunks,
                           .trailers = {{"X-Sum", "42"}, {"Content-Length", "3"}}});
    Client client(proxy, origin);
    auto reply = client.begin("POST", "/sum", {{"Transfer-Encoding", "chunked"}, {"TE", "trailers"}, {"Trailer", "X-Check"}});
    client.raw(in_chunks("question", 3, "0\r\nX-Check: 7\r\nHost: evil\r\n\r\n"));
    EXPECT_EQ(reply.body(), "body");
    EXPECT_FALSE(reply.has("X-Sum"));
    for (auto const& [name, value] : reply.trailers()) EXPECT_EQ(name + value, "X-Sum42");
    auto const asked = origin.last("/sum");
    EXPECT_FALSE(asked.head.has("X-Check"));
    for (auto const& [name, value] : asked.trailers) EXPECT_EQ(name + value, "X-Check7");
}

TEST(Streaming, a_client_that_does_not_read_makes_the_origin_wait) {
    Origin origin;
    Proxy proxy;
    std::atomic<std::size_t> taken{0};
    std::promise<void> blocked;
    origin.by_hand("/reel", [&](Hand& hand) {
        hand.send(Answer{.fields = {{"Cache-Control", "no-store"}}}.head_text(64'000'000));
        taken = hand.wire().send_until_blocked(pattern(64'000'000), 1500ms);
        blocked.set_value();
        hand.leave();
    });
    Client client(proxy, origin);
    client.receive_buffer(4096);
    auto reply = client.get("/reel");
    EXPECT_EQ(reply.status(), 200);
    blocked.get_future().get();
    EXPECT_LT(taken, 24'000'000u) << "the proxy must not buffer the whole body";
    client.reset();
}

TEST(Streaming, an_origin_that_does_not_read_makes_the_client_wait) {
    Origin origin;
    Proxy proxy;
    std::promise<void> over;
    auto const until = over.get_future().share();
    origin.by_hand("/up", [until](Hand& hand) {
        int const small = 4096;
        ::setsockopt(hand.wire().fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
        until.wait();
        hand.leave();
    });
    Client client(proxy, origin);
    client.begin("PUT", "/up", {{"Content-Length", "64000000"}});
    EXPECT_LT(client.wire().send_until_blocked(pattern(64'000'000), 1500ms), 24'000'000u);
    client.reset();
    over.set_value();
}

TEST(Streaming, a_client_that_reads_very_slowly_harms_no_other) {
    Origin origin;
    Proxy proxy(R"({"workers": 1})");
    origin.answer("/reel", fresh(reel));
    origin.answer("/page", fresh("hello"));
    std::vector<Client> slow(20, Client(proxy, origin));
    std::vector<Reply> replies;
    for (auto& client : slow) {
        client.receive_buffer(4096);
        replies.push_back(client.get("/reel"));
    }
    for (int i = 0; i < 30; ++i) {
        for (auto& client : slow) client.wire().receive(0ms, 1);
        auto const before = std::chrono::steady_clock::now();
        EXPECT_EQ(get(proxy, origin, "/page").body(), "hello");
        EXPECT_LT(std::chrono::steady_clock::now() - before, 2s);
        pause_for(30ms);
    }
    for (auto& client : slow) client.reset();
}

// ---- interim responses ----

TEST(Interim, a_client_that_expects_100_gets_it_and_then_sends) {
    Origin origin;
    Proxy proxy;
    origin.answer("/up", no_store("thanks"));
    Client client(proxy, origin);
    auto reply = client.begin("PUT", "/up", {{"Content-Length", "5"}, {"Expect", "100-continue"}});
    EXPECT_TRUE(eventually([&] {
        client.wire().receive(10ms);
        return client.wire().buffer().starts_with("HTTP/1.1 100");
    }));
    client.raw("hello");
    EXPECT_EQ(reply.body(), "thanks");
    ASSERT_FALSE(reply.interim().empty());
    EXPECT_EQ(reply.interim()[0].status(), 100);
    EXPECT_EQ(origin.last("/up").body, "hello");
    EXPECT_EQ(reply.status(), 200);
}

TEST(Interim, an_origin_that_refuses_the_expectation_gets_no_body) {
    Origin origin;
    Proxy proxy;
    origin.by_hand("/up", [](Hand& hand) { hand.answer({.status = 417, .body = "no", .close = true}); });
    Client client(proxy, origin);
    auto reply = client.begin("PUT", "/up", {{"Content-Length", "5"}, {"Expect", "100-continue"}});
    EXPECT_EQ(reply.status(), 417);
    EXPECT_EQ(reply.body(), "no");
    EXPECT_EQ(origin.last("/up").head.field("Expect"), "100-continue");
    EXPECT_EQ(origin.last("/up").body, "");
}

TEST(Interim, a_103_is_passed_on_and_not_stored) {
    Origin origin;
    Proxy proxy;
    origin.by_hand("/page", [](Hand& hand) {
        hand.send("HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n");
        hand.answer(fresh("hello"));
    });
    auto first = get(proxy, origin, "/page");
    EXPECT_EQ(first.body(), "hello");
    ASSERT_EQ(first.interim().size(), 1u);
    EXPECT_EQ(first.interim()[0].status(), 103);
    EXPECT_EQ(first.interim()[0].field("Link"), "</style.css>; rel=preload");
    auto second = get(proxy, origin, "/page");
    EXPECT_EQ(second.body(), "hello");
    EXPECT_TRUE(second.hit());
    EXPECT_TRUE(second.interim().empty());
}

TEST(Interim, an_endless_row_of_interim_answers_is_ended) {
    Origin origin;
    Proxy proxy;
    origin.by_hand("/page", [](Hand& hand) {
        for (int i = 0; i < 10'000; ++i)
            if (!hand.send("HTTP/1.1 102 Processing\r\n\r\n")) break;
        hand.leave();
    });
    EXPECT_EQ(get(proxy, origin, "/page").status(), 502);
}

TEST(Streaming, an_answer_that_breaks_off_is_logged_as_truncated) {
    Origin origin;
    Proxy proxy;
    for (auto control : {"no-store", "max-age=60"}) {
        std::string const path = std::string("/") + control;
        origin.raw(path, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nCache-Control: " + std::string(control) + "\r\n\r\nhalf");
        auto reply = get(proxy, origin, path);
        reply.body();
        EXPECT_FALSE(reply.complete());
        EXPECT_EQ(proxy.logged(path).tag, "TCP_MISS_TRUNCATED") << control;
    }
}

TEST(Streaming, bytes_are_counted_while_they_move) {
    Origin origin;
    Proxy proxy;
    auto const half = pattern(300'000);
    std::uint64_t sum = 0;
    for (auto const& answer : {no_store(""), fresh("")}) {
        auto const path = "/" + std::to_string(sum);
        auto slow = origin.hold(path);
        Client client(proxy, origin);
        auto reply = client.get(path);
        slow.head(answer, 2 * half.size());
        slow.piece(half);
        EXPECT_EQ(reply.early(half.size()), half);
        sum += half.size();
        auto const counted = [&] {
            auto const stats = proxy.stats();
            return stats["client"]["body_bytes"] >= sum && stats["client"]["sent_bytes"] >= sum &&
                   stats["origin"]["received_bytes"] >= sum;
        };
        EXPECT_TRUE(eventually(counted)) << proxy.stats().dump(1);
        slow.piece(half);
        slow.finish();
        EXPECT_TRUE(reply.body() == half + half);
        sum += half.size();
    }
    EXPECT_TRUE(eventually([&] { return proxy.stats()["client"]["body_bytes"] == sum; }));
}

}   // namespace garner::test
