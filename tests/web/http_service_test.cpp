// The server of the admin address and of the URL-seen service, tested with a service that measures bodies.
#include "web/http_service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/client.hpp"
#include "support/wire.hpp"

namespace garner::web {
namespace {

using test::Client;
using test::Fields;
using test::Millis;
using testing::HasSubstr;

/// POST returns the body's length and its longest piece; GET /many replies in pieces.
class Scene {
public:
    explicit Scene(HttpService::Options const& options = {}) {
        auto opened = HttpService::open(options, serve);
        if (!opened) throw test::Trouble(opened.fault().text());
        service_ = *std::move(opened);
        service_->start();
    }

    HttpService& service() { return *service_; }
    Client client() const {
        auto const& address = service_->address();
        return {"127.0.0.1", static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)))};
    }

private:
    static net::awaitable<void> serve(HttpConnection& connection) {
        while (co_await connection.receive()) {
            auto reply = wrong_method(connection.request(), "GET, HEAD, POST");
            if (reply)
                co_await connection.send(*reply);
            else if (connection.request().path == "/many")
                co_await send_many(connection);
            else
                co_await measure(connection);
        }
    }
    static net::awaitable<void> measure(HttpConnection& connection) {
        std::size_t length = 0, longest = 0;
        TakePiece const take = [sizes = std::pair(&length, &longest)](std::string_view piece) {
            *sizes.first += piece.size();
            *sizes.second = std::max(*sizes.second, piece.size());
            return piece.find("stop") == piece.npos;
        };
        auto refusal = co_await connection.read_body(take);
        Reply reply{200, std::to_string(length) + " " + (longest <= 64 * KiB ? "in pieces" : "at once")};
        if (refusal) reply = *refusal;
        co_await connection.send(reply);
    }
    static net::awaitable<void> send_many(HttpConnection& connection) {
        int left = 3;
        NextPiece const next = [&left](std::string& piece) { return piece.assign(left > 0 ? 100'000 : 0, 'x'), left-- > 0; };
        Reply const head;
        co_await connection.send(head, 300'000, next);
    }

    std::unique_ptr<HttpService> service_;
};

HttpService::Options with_limits(HttpConnection::Limits const& limits) { return {.limits = limits}; }

TEST(HttpService, gives_a_long_body_piece_by_piece_and_keeps_the_connection) {
    Scene scene(with_limits({.body_bytes = 10 * MiB}));
    auto client = scene.client();
    EXPECT_EQ(client.post("/", std::string(1'000'000, 'a')).body(), "1000000 in pieces");
    auto chunked = client.begin("POST", "/", {{"Transfer-Encoding", "chunked"}});
    client.raw("3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n");
    EXPECT_EQ(chunked.body(), "7 in pieces");
    EXPECT_EQ(client.get("/").body(), "0 in pieces");
    EXPECT_EQ(client.connections(), 1);
}

TEST(HttpService, replies_in_pieces_with_their_length) {
    Scene scene;
    auto client = scene.client();
    auto reply = client.get("/many");
    EXPECT_EQ(reply.field("Content-Length"), "300000");
    EXPECT_EQ(reply.body().size(), 300'000u);
    EXPECT_EQ(client.head("/").field("Content-Length"), "11");
    EXPECT_EQ(client.get("/").body(), "0 in pieces");
    EXPECT_EQ(client.connections(), 1);
}

TEST(HttpService, closes_behind_a_body_that_was_not_read_to_its_end) {
    Scene scene(with_limits({.body_bytes = 10 * MiB}));
    auto client = scene.client();
    auto reply = client.post("/", "stop" + std::string(1'000'000, 'a'));
    EXPECT_EQ(reply.status(), 200);
    EXPECT_EQ(reply.field("Connection"), "close");
    EXPECT_TRUE(client.closed_by_proxy());
}

TEST(HttpService, refuses_what_is_too_long_or_may_be_read_in_two_ways) {
    Scene scene(with_limits({.head_bytes = 1 * KiB, .body_bytes = 1 * KiB}));
    auto const status = [&](std::string const& bytes) {
        auto client = scene.client();
        client.raw(bytes);
        return client.expect().status();
    };
    std::string const post = "POST / HTTP/1.1\r\nHost: a\r\n", body = std::string(2'000, 'x');
    EXPECT_EQ(status("nonsense\r\n\r\n"), 400);
    EXPECT_EQ(status("GET / HTTP/1.1\r\n\r\n"), 400);
    EXPECT_EQ(status("GET / HTTP/1.0\r\n\r\n"), 200);
    EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
    EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: a\r\nX: " + body + "\r\n\r\n"), 431);
    EXPECT_EQ(status(post + "Content-Length: 2000\r\n\r\n" + body), 413);
    EXPECT_EQ(status(post + "Transfer-Encoding: chunked\r\n\r\n7d0\r\n" + body), 413);
    EXPECT_EQ(status(post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"), 400);
    EXPECT_EQ(status(post + "Transfer-Encoding: gzip, chunked\r\n\r\n"), 400);
    EXPECT_EQ(status("POST / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
    EXPECT_EQ(status(post + "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx"), 415);
    EXPECT_EQ(status(post + "Expect: a miracle\r\nContent-Length: 1\r\n\r\nx"), 417);
    auto const wrong = scene.client().send("DELETE", "/");
    EXPECT_EQ(wrong.status(), 405);
    EXPECT_EQ(wrong.field("Allow"), "GET, HEAD, POST");
}

TEST(HttpService, the_connection_that_is_idle_longest_makes_room) {
    Scene scene({.connections = 2});
    auto first = scene.client(), second = scene.client(), third = scene.client();
    EXPECT_EQ(first.get("/").status(), 200);
    EXPECT_EQ(second.get("/").status(), 200);
    EXPECT_EQ(first.get("/").status(), 200);
    EXPECT_EQ(third.get("/").status(), 200);
    EXPECT_TRUE(second.closed_by_proxy());
    EXPECT_EQ(first.get("/").status(), 200);
    EXPECT_EQ(first.connections(), 1);
}

TEST(HttpService, a_busy_connection_makes_room_only_where_it_is_said) {
    for (bool const closes_busy : {false, true}) {
        Scene scene({.connections = 1, .closes_busy = closes_busy});
        auto busy = scene.client(), other = scene.client();
        auto reply = busy.begin("POST", "/", {{"Content-Length", "2"}});
        busy.raw("a");
        test::pause_for(Millis{100});
        EXPECT_EQ(other.get("/").status(), closes_busy ? 200 : 0);
        busy.raw("b");
        EXPECT_EQ(reply.status(), closes_busy ? 0 : 200);
    }
}

TEST(HttpService, an_idle_connection_makes_room_before_a_busy_one) {
    Scene scene({.connections = 2, .closes_busy = true});
    auto busy = scene.client(), idle = scene.client(), other = scene.client();
    auto reply = busy.begin("POST", "/", {{"Content-Length", "2"}});
    busy.raw("a");
    test::pause_for(Millis{50});
    EXPECT_EQ(idle.get("/").status(), 200);
    EXPECT_EQ(other.get("/").status(), 200);
    busy.raw("b");
    EXPECT_EQ(reply.status(), 200);
    EXPECT_TRUE(idle.closed_by_proxy());
}

TEST(HttpService, bodies_that_one_client_has_begun_give_way_to_another_client) {
    Scene scene({.connections = 3});
    std::array<Client, 3> busy{scene.client(), scene.client(), scene.client()};
    std::vector<test::Reply> replies;
    for (auto& one : busy) {
        replies.push_back(one.begin("POST", "/", {{"Content-Length", "2"}}));
        one.raw("a");
        test::pause_for(Millis{50});
    }
    auto same = scene.client(), other = scene.client(), third = scene.client();
    EXPECT_EQ(same.get("/").status(), 0) << "the client that holds the connections gets no further one";
    EXPECT_EQ(other.from("127.0.0.2").get("/").status(), 200);
    EXPECT_TRUE(busy[0].closed_by_proxy());
    auto reply = other.begin("POST", "/", {{"Content-Length", "2"}});
    test::pause_for(Millis{50});
    EXPECT_EQ(third.from("127.0.0.2").get("/").status(), 0) << "both have their share";
    for (int index : {1, 2}) {
        busy[index].raw("b");
        EXPECT_EQ(replies[index].status(), 200);
    }
}

TEST(HttpService, patience_ends_with_silent_clients) {
    Scene scene(with_limits({.idle = milliseconds{200}, .progress = milliseconds{200}}));
    auto silent = scene.client(), slow = scene.client();
    silent.raw("GET / HTTP/1.1\r\n");
    EXPECT_TRUE(silent.closed_by_proxy(Millis{5'000}));
    auto reply = slow.begin("POST", "/", {{"Content-Length", "2"}});
    EXPECT_TRUE(slow.closed_by_proxy(Millis{5'000}));
}

TEST(HttpService, answers_what_has_begun_when_it_is_told_to_stop) {
    Scene scene;
    auto idle = scene.client(), busy = scene.client();
    EXPECT_EQ(idle.get("/").status(), 200);
    auto reply = busy.begin("POST", "/", {{"Content-Length", "2"}});
    busy.raw("a");
    test::pause_for(Millis{100});
    bool ended = false;
    std::thread stopping([&] { scene.service().stop(milliseconds{20'000}, [&] { ended = true; }); });
    EXPECT_TRUE(idle.closed_by_proxy());
    busy.raw("b");
    EXPECT_EQ(reply.body(), "2 in pieces");
    EXPECT_EQ(reply.field("Connection"), "close");
    stopping.join();
    EXPECT_TRUE(ended);
}

TEST(HttpService, an_address_that_cannot_be_had_is_named) {
    Scene scene;
    auto const port = scene.service().address().substr(scene.service().address().rfind(':') + 1);
    auto const opened = HttpService::open({.port = static_cast<std::uint16_t>(std::stoi(port))}, {});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.fault().where, "127.0.0.1 port " + port);
    EXPECT_THAT(opened.fault().what, HasSubstr("in use"));
}

}   // namespace
}   // namespace garner::web
