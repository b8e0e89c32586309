// Connections on both sides: persistent, pipelined, HTTP/1.0, reused, and closed when needed.
#include <atomic>
#include <thread>

#include "story/scene.hpp"
#include "support/connection_login.hpp"

namespace garner::test {

TEST(Connections, one_connection_serves_request_after_request) {
    Origin origin;
    Proxy proxy;
    for (int i = 0; i < 20; ++i) origin.answer("/" + std::to_string(i), i % 2 ? fresh("odd") : no_store("even"));
    Client client(proxy, origin);
    for (int i = 0; i < 40; ++i) EXPECT_EQ(client.get("/" + std::to_string(i % 20)).body(), i % 2 ? "odd" : "even");
    EXPECT_EQ(client.connections(), 1);
    EXPECT_EQ(origin.connections(), 1u) << "the origin's connection is kept too";
}

TEST(Connections, fifty_pipelined_requests_are_answered_in_order) {
    Origin origin;
    Proxy proxy;
    std::string wire;
    Client client(proxy, origin);
    std::vector<Reply> replies;
    for (int i = 0; i < 50; ++i) {
        auto const path = "/" + std::to_string(i);
        // Hits, misses, uncacheable responses, and slow ones.
        origin.by_hand(path, [i](Hand& hand) {
            if (i % 7 == 0) pause_for(20ms);
            auto const body = "body " + std::to_string(i);
            hand.answer(i % 3 ? fresh(body) : no_store(body));
        });
        if (i % 5 == 0) get(proxy, origin, path).body();
        wire += "GET " + origin.url(path) + " HTTP/1.1\r\nHost: " + origin.authority() + "\r\n\r\n";
    }
    client.raw(wire);
    for (int i = 0; i < 50; ++i) replies.push_back(client.expect());
    for (int i = 0; i < 50; ++i) EXPECT_EQ(replies[i].body(), "body " + std::to_string(i));
    EXPECT_EQ(client.connections(), 1);
}

TEST(Connections, a_request_that_comes_byte_by_byte_is_a_request) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", fresh("hello"));
    Client client(proxy, origin);
    for (char byte : "GET " + origin.url("/page") + " HTTP/1.1\r\nHost: x\r\n\r\n") {
        client.raw(std::string(1, byte));
        pause_for(1ms);
    }
    EXPECT_EQ(client.expect().body(), "hello");
}

TEST(Connections, a_body_that_comes_with_its_head_and_the_next_request_behind_it) {
    Origin origin;
    Proxy proxy;
    origin.answer("/form", no_store("thanks"));
    origin.answer("/page", fresh("hello"));
    Client client(proxy, origin);
    client.raw("POST " + origin.url("/form") + " HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbodyGET " + origin.url("/page") +
               " HTTP/1.1\r\nHost: x\r\n\r\n");
    auto form = client.expect("POST");
    auto page = client.expect();
    EXPECT_EQ(form.body(), "thanks");
    EXPECT_EQ(page.body(), "hello");
    EXPECT_EQ(origin.last("/form").body, "body");
}

/// RFC 9112 2.2: some clients send an empty line behind a body.
TEST(Connections, empty_lines_on_an_idle_connection_begin_no_request) {
    Origin origin;
    Proxy proxy(R"({"deadlines": {"head": "500ms", "keep_alive": "20s"}})");
    origin.answer("/page", fresh("hello"));
    Client client(proxy, origin);
    EXPECT_EQ(client.get("/page").body(), "hello");
    for (int i = 0; i < 3; ++i) {
        (void)client.raw("\r\n");
        pause_for(Millis{300});
    }
    EXPECT_EQ(client.get("/page").body(), "hello") << "no 408 has come";
    EXPECT_EQ(client.connections(), 1);

    Proxy impatient(R"({"deadlines": {"head": "500ms", "keep_alive": "1s"}})");
    Client empty(impatient, origin);
    EXPECT_EQ(empty.get("/page").body(), "hello");
    auto const closes = [&] {
        (void)empty.raw("\r\n");
        return empty.closed_by_proxy(Millis{100});
    };
    EXPECT_TRUE(eventually(closes, Millis{10'000})) << "they do not keep it open";

    Client halves(impatient, origin);
    EXPECT_EQ(halves.get("/page").body(), "hello");
    bool half = false;
    auto const closes_too = [&] {
        half = !half;
        (void)halves.raw(half ? "\r" : "\n");
        return halves.closed_by_proxy(Millis{100});
    };
    EXPECT_TRUE(eventually(closes_too, Millis{10'000})) << "nor in pieces";
}

TEST(Connections, the_client_says_close_and_gets_it) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", fresh("hello"));
    Client client(proxy, origin);
    auto reply = client.get("/page", {{"Connection", "close"}});
    EXPECT_EQ(reply.body(), "hello");
    EXPECT_EQ(lower(reply.field("Connection")), "close");
    EXPECT_TRUE(client.closed_by_proxy());
}

TEST(Connections, a_client_that_ends_its_side_still_gets_what_is_stored) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", fresh("hello"));
    get(proxy, origin, "/page").body();
    Client client(proxy, origin);
    auto reply = client.get("/page");
    client.half_close();
    EXPECT_EQ(reply.body(), "hello");
    EXPECT_TRUE(client.closed_by_proxy());
}

TEST(Connections, an_HTTP_1_0_client_gets_a_body_that_ends_with_the_connection) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", {.fields = {{"Cache-Control", "no-store"}}, .body = "hello", .delimited = Delimited::by_chunks});
    Client client(proxy, origin);
    client.raw("GET " + origin.url("/page") + " HTTP/1.0\r\n\r\n");
    auto reply = client.expect();
    EXPECT_EQ(reply.status(), 200);
    EXPECT_FALSE(reply.chunked());
    EXPECT_EQ(reply.body(), "hello");
    EXPECT_TRUE(client.closed_by_proxy());
    EXPECT_EQ(origin.last("/page").head.version(), "HTTP/1.1");
}

TEST(Connections, an_HTTP_1_0_client_is_not_kept_alive_even_when_it_asks_for_that) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", fresh("hello"));
    Client client(proxy, origin);
    client.raw("GET " + origin.url("/page") + " HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    auto reply = client.expect();
    EXPECT_EQ(reply.body(), "hello");
    // RFC 9112 9.3: another proxy on the path may have forwarded the field without understanding it.
    EXPECT_EQ(lower(reply.field("Connection")), "close");
    EXPECT_TRUE(client.closed_by_proxy());
}

TEST(Connections, an_HTTP_1_0_client_gets_no_interim_answer) {
    Origin origin;
    Proxy proxy;
    origin.by_hand("/page", [](Hand& hand) {
        hand.send("HTTP/1.1 103 Early Hints\r\n\r\n");
        hand.answer(no_store("hello"));
    });
    Client client(proxy, origin);
    client.raw("GET " + origin.url("/page") + " HTTP/1.0\r\n\r\n");
    auto reply = client.expect();
    EXPECT_EQ(reply.body(), "hello");
    EXPECT_TRUE(reply.interim().empty());
}

TEST(Connections, an_HTTP_1_0_origin_is_understood_and_its_connection_not_reused) {
    Origin origin;
    Proxy proxy;
    origin.by_hand("/page", [](Hand& hand) {
        hand.send("HTTP/1.0 200 OK\r\nCache-Control: no-store\r\n\r\nhello");
        hand.leave();
    });
    Client client(proxy, origin);
    EXPECT_EQ(client.get("/page").body(), "hello");
    EXPECT_EQ(client.get("/page").body(), "hello");
    EXPECT_EQ(client.get("/page").head().version(), "HTTP/1.1");
    EXPECT_EQ(client.connections(), 1);
    EXPECT_EQ(origin.connections(), 3u);
}

// ---- reused connections that were closed ----

namespace {

/// An origin that answers the first request of every connection, and closes the connection without notice at the second.
void dies_when_reused(Origin& origin) {
    origin.otherwise([seen = std::make_shared<std::atomic<std::size_t>>(0)](Hand& hand) {
        if (hand.request().connection == *seen) return hand.leave();
        *seen = hand.request().connection;
        hand.read_body();
        hand.answer(no_store("answer"));
    });
}

}   // namespace

TEST(Connections, a_login_that_belongs_to_a_connection_is_of_no_use_to_another_client) {
    Origin origin;
    origin.by_hand("/inbox", logs_connections_in());
    Proxy proxy(R"({"workers": 1})");
    Client alice(proxy, origin), mallory(proxy, origin);
    EXPECT_EQ(alice.get("/inbox").status(), 401);
    EXPECT_EQ(alice.get("/inbox", {{"Authorization", "NTLM alice"}}).body(), "mail of NTLM alice");
    EXPECT_EQ(alice.get("/inbox").body(), "mail of NTLM alice") << "her connection";
    EXPECT_EQ(mallory.get("/inbox").status(), 401);
    EXPECT_EQ(mallory.get("/inbox", {{"Authorization", "negotiate mallory"}}).body(), "mail of negotiate mallory");
    auto const again = alice.get("/inbox");
    EXPECT_EQ(again.body(), "mail of NTLM alice");
    EXPECT_EQ(again.detail(), "authorization");
    EXPECT_EQ(get(proxy, origin, "/inbox").status(), 401);
    EXPECT_EQ(alice.get("/inbox", {{"Cache-Control", "only-if-cached"}}).status(), 504);
    EXPECT_EQ(origin.connections(), 3u);   // shared, and one of each user

    // RFC 9110 9.3.3: the response to a POST may be that to a later GET.
    for (auto const* path : {"/report", "/public"}) origin.answer(path, fresh("report", 600, {{"Content-Location", path}}));
    EXPECT_EQ(Client(proxy, origin).post("/public", "x").body(), "report");
    EXPECT_EQ(get(proxy, origin, "/public").body(), "report");
    EXPECT_EQ(origin.requests("/public"), 1u);
    EXPECT_EQ(alice.post("/report", "x").body(), "report");
    EXPECT_EQ(get(proxy, origin, "/report").body(), "report");
    EXPECT_EQ(origin.requests("/report"), 2u) << "what the origin told alice is not stored";
}

TEST(Connections, a_login_behind_a_gateway_holds_for_one_request) {
    Origin origin;
    origin.by_hand("/inbox", logs_connections_in());
    Proxy proxy(R"({"workers": 1, "forwarded_trust": ["127.0.0.1"]})");
    Client gateway(proxy, origin);
    auto const ask = [&](std::string const& user, std::string const& login) {
        Fields fields{{"X-Forwarded-For", user}};
        if (!login.empty()) fields.emplace_back("Authorization", login);
        return gateway.get("/inbox", fields);
    };
    EXPECT_EQ(ask("192.0.2.1", "Negotiate alice").body(), "mail of Negotiate alice");
    EXPECT_EQ(ask("192.0.2.1", "").status(), 401) << "another user may have this address";
    EXPECT_EQ(ask("192.0.2.2", "").status(), 401);
}

TEST(Retry, a_GET_on_a_reused_connection_that_died_is_sent_again) {
    Origin origin;
    Proxy proxy;
    dies_when_reused(origin);
    Client client(proxy, origin);
    for (int i = 0; i < 6; ++i) EXPECT_EQ(client.get("/page").status(), 200);
    EXPECT_EQ(client.connections(), 1);
}

TEST(Retry, a_POST_on_a_reused_connection_that_died_is_not_sent_again) {
    Origin origin;
    Proxy proxy;
    dies_when_reused(origin);
    Client client(proxy, origin);
    EXPECT_EQ(client.get("/page").status(), 200);
    auto posted = client.post("/form", "pay once");
    EXPECT_THAT(posted.status(), AnyOf(200, 502));
    EXPECT_EQ(origin.requests("/form"), 1u);
}

TEST(Retry, a_fresh_connection_that_dies_is_not_tried_again) {
    Origin origin;
    Proxy proxy;
    origin.by_hand("/page", [](Hand& hand) { hand.leave(); });
    EXPECT_EQ(get(proxy, origin, "/page").status(), 502);
    EXPECT_EQ(origin.requests("/page"), 1u);
}

TEST(Retry, only_what_does_no_harm_twice_is_sent_again_and_only_once) {
    struct Row {
        std::string method, body, answered;   // bytes sent by the origin before the connection is closed
        std::size_t times;
    };
    std::string const early_hints = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n";
    // clang-format off
    Row const rows[] = {
        {"GET", "", "", 2},     {"HEAD", "", "", 2},      {"OPTIONS", "", "", 2},
        {"DELETE", "", "", 2},  {"PUT", "", "", 2},       {"POST", "", "", 1},
        {"PATCH", "", "", 1},   {"BREW", "", "", 1},      {"PUT", "new", "", 1},
        {"GET", "why", "", 1},  {"GET", "", "HTTP/1.1 200 OK\r\nX: ", 1}, {"GET", "", early_hints, 1},
    };
    // clang-format on
    Origin origin;
    Proxy proxy(R"({"workers": 1, "caching": {"negative_ttl": "0s"}})");
    origin.answer("/before", no_store("alive"));
    int number = 0;
    for (auto const& row : rows) {
        auto const path = "/" + std::to_string(number++);
        origin.by_hand(path, [row](Hand& hand) {
            hand.read_body();
            hand.send(row.answered);
            hand.leave();
        });
        EXPECT_EQ(get(proxy, origin, "/before").body(), "alive");
        EXPECT_EQ(Client(proxy, origin).send(row.method, path, {}, row.body).status(), 502) << row.method << number;
        EXPECT_EQ(origin.requests(path), row.times) << row.method << ' ' << row.body << row.answered;
    }
}

TEST(Retry, a_connection_that_the_origin_closed_meanwhile_is_not_used) {
    Origin origin;
    Proxy proxy(R"({"workers": 1})");
    origin.by_hand("/last", [](Hand& hand) {
        hand.answer(no_store("bye"));
        hand.leave();
    });
    origin.answer("/form", no_store("thanks"));
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(get(proxy, origin, "/last").body(), "bye");
        pause_for(100ms);
        EXPECT_EQ(Client(proxy, origin).post("/form", "x").body(), "thanks");
    }
}

TEST(Connections, bytes_behind_an_answer_never_become_the_next_one) {
    Origin origin;
    Proxy proxy(R"({"workers": 1})");
    origin.by_hand("/first",
                   [](Hand& hand) { hand.send(no_store("good").text() + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"); });
    origin.answer("/second", no_store("right"));
    Client client(proxy, origin);
    EXPECT_EQ(client.get("/first").body(), "good");
    EXPECT_EQ(client.get("/second").body(), "right");
}

// ---- many connections ----

TEST(Crowd, two_thousand_connections_at_once_are_all_served) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", fresh("hello"));
    std::vector<Client> clients(2000, Client(proxy, origin));
    std::vector<Reply> replies;
    for (auto& client : clients) client.wire();
    for (auto& client : clients) replies.push_back(client.get("/page"));
    std::size_t served = 0;
    for (auto& reply : replies) served += reply.body() == "hello";
    EXPECT_EQ(served, 2000u);
    EXPECT_EQ(origin.requests("/page"), 1u);
    replies.clear();
    for (auto& client : clients) replies.push_back(client.get("/page"));
    for (auto& reply : replies) served += reply.hit();
    EXPECT_EQ(served, 4000u);
    for (auto& client : clients) EXPECT_EQ(client.connections(), 1);
}

TEST(Crowd, two_hundred_connections_that_never_speak_leave_room_for_others) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", fresh("hello"));
    std::vector<Client> silent(200, Client(proxy, origin));
    for (auto& client : silent) client.wire();
    EXPECT_EQ(get(proxy, origin, "/page").body(), "hello");
}

TEST(Crowd, eight_threads_of_mixed_requests_get_what_they_asked_for) {
    Origin origin;
    Proxy proxy(R"({"memory": {"size": "4 MiB", "object_max": "1 MiB"}})");
    for (unsigned i = 0; i < 60; ++i) {
        auto answer = fresh(pattern(1000 * (i + 1), i), i % 4 == 0 ? 0 : 600);
        if (i % 5 == 0) answer.delimited = Delimited::by_chunks;
        if (i % 7 == 0) answer.fields = {{"Cache-Control", "private"}};
        origin.answer("/" + std::to_string(i), answer);
    }
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 8; ++t)
        threads.emplace_back([&, t] {
            Client client(proxy, origin);
            for (unsigned n = 0; n < 150; ++n) {
                auto const i = (n * 7 + t * 13) % 60;
                if (n % 29 == 28) client.send("PURGE", "/" + std::to_string(i)).body();
                auto reply = client.get("/" + std::to_string(i));
                if (n % 11 == 10)
                    client.reset();
                else
                    wrong += reply.body() != pattern(1000 * (i + 1), i);
            }
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

}   // namespace garner::test
