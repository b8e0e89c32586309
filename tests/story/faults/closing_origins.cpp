// Origins that close idle connections while a request is on its way, and origins that answer before they have read the request.
#include "story/scene.hpp"

namespace garner::test {

namespace {

/// Keeps its connection, and ends it at the next request, as if its FIN and that request had crossed.
Script closes_at_next_request(Fields fields) {
    return [fields = std::move(fields)](Hand& hand) {
        hand.read_body();
        auto answer = no_store("one");
        answer.fields.insert(answer.fields.end(), fields.begin(), fields.end());
        hand.answer(answer);
        hand.wire().receive(5s);
        hand.leave();
    };
}

}   // namespace

TEST(ClosingOrigins, a_request_that_cannot_be_repeated_takes_no_connection_that_was_idle_for_more_than_a_second) {
    Origin origin;
    Proxy proxy(R"({"workers": 1})");
    origin.answer("/next", no_store("done"));
    for (std::string const method : {"POST", "PUT", "PATCH"}) {
        origin.by_hand("/first", closes_at_next_request({}));
        EXPECT_EQ(get(proxy, origin, "/first").body(), "one");
        pause_for(1'100ms);
        EXPECT_EQ(Client(proxy, origin).send(method, "/next", {}, "x").status(), 200) << method;
        EXPECT_EQ(get(proxy, origin, "/next").body(), "done") << "repeated, if its connection had died";
    }
}

TEST(ClosingOrigins, a_connection_that_was_just_used_takes_a_POST) {
    Origin origin;
    Proxy proxy(R"({"workers": 1})");
    origin.answer("/page", no_store("page"));
    get(proxy, origin, "/page").body();
    EXPECT_EQ(Client(proxy, origin).post("/page", "x").body(), "page");
    EXPECT_EQ(origin.connections(), 1u);
}

TEST(ClosingOrigins, the_announced_time_of_an_idle_connection_is_heeded) {
    struct Row {
        std::string keep_alive;
        Millis pause;
        std::size_t connections;
    };
    for (auto const& row : {Row{"timeout=1", 0ms, 2}, Row{"timeout=2", 1'200ms, 2}, Row{"timeout=60, max=9", 1'200ms, 1}}) {
        Origin origin;
        Proxy proxy(R"({"workers": 1})");
        auto page = no_store("page");
        page.fields.emplace_back("Keep-Alive", row.keep_alive);
        origin.answer("/page", page);
        get(proxy, origin, "/page").body();
        pause_for(row.pause);
        EXPECT_EQ(get(proxy, origin, "/page").body(), "page");
        EXPECT_EQ(origin.connections(), row.connections) << row.keep_alive;
    }
}

TEST(EarlyAnswers, to_an_upload_announce_that_the_connection_closes) {
    Origin origin;
    Proxy proxy;
    for (int const status : {413, 401, 403, 417, 200}) {
        SCOPED_TRACE(status);
        origin.by_hand("/up", [status](Hand& hand) {
            hand.send("HTTP/1.1 " + std::to_string(status) + " Early\r\nContent-Length: 9\r\nConnection: close\r\n\r\ntoo large");
            hand.leave();
        });
        for (bool const expects : {false, true}) {
            Client client(proxy, origin);
            Fields fields{{"Content-Length", "1000000"}};
            if (expects) fields.emplace_back("Expect", "100-continue");
            auto const reply = client.begin("POST", "/up", fields);
            if (!expects) client.raw(std::string(1'000, 'x'));
            EXPECT_EQ(reply.status(), status);
            EXPECT_EQ(reply.body(), "too large");
            EXPECT_EQ(reply.field("Connection"), "close");
            EXPECT_TRUE(client.closed_by_proxy());
        }
    }
}

TEST(EarlyAnswers, an_upload_that_was_read_keeps_the_connection) {
    Origin origin;
    Proxy proxy;
    origin.answer("/up", no_store("taken"));
    Client client(proxy, origin);
    for (std::size_t const size : {1, 1'000, 3'000'000}) {
        auto const reply = client.post("/up", std::string(size, 'x'));
        EXPECT_EQ(reply.body(), "taken");
        EXPECT_FALSE(reply.has("Connection"));
    }
    EXPECT_EQ(client.connections(), 1);
}

}   // namespace garner::test
