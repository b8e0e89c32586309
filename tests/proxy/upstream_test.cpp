// How a request asks its sources: one retry on an idle connection that died, the next source, and the rest of a truncated body.
#include "proxy/upstream.hpp"

#include <gmock/gmock.h>

#include "proxy/request_scene.hpp"
#include "support/made.hpp"

namespace garner::proxy {
namespace {

using ::testing::StartsWith;

class Asking : public ::testing::Test {
protected:
    std::unique_ptr<OneRequest> request(std::string const& method = "GET", std::string const& fields = {},
                                        std::string const& body = {}) {
        auto const length = body.empty() ? std::string() : "\r\nContent-Length: " + std::to_string(body.size());
        return std::make_unique<OneRequest>(worker_, method + " /a HTTP/1.1\r\nHost: site.example" + fields + length, body);
    }
    /// Leaves an idle connection to the origin, which ends with its next request.
    void leave_dying_connection() {
        origin_.by_hand("/a", [](test::Hand& hand) {
            if (hand.request().connection != 1) hand.read_body();
            hand.request().connection == 1 ? hand.leave() : hand.answer(test::fresh("again"));
        });
        origin_.answer("/first", test::fresh("first"));
        OneRequest first(worker_, "GET /first HTTP/1.1\r\nHost: site.example");
        ASSERT_TRUE(first.ask());
        read_all(first);
        first.upstream.finish_exchange();
        ASSERT_EQ(worker_.counters.origin_connections.value(), 1u);
    }
    std::string read_all(OneRequest& one) {
        std::string body;
        auto const read = [&]() -> net::awaitable<void> {
            for (;;) {
                auto piece = one.upstream.exchange().body_at_hand();
                if (piece.data.empty() && piece.trouble == client::Trouble::none && !one.upstream.exchange().body_done())
                    piece = co_await one.upstream.exchange().read_body(seconds{5});
                if (piece.data.empty()) break;
                body += piece.data;
            }
        };
        worker_.run(read());
        return body;
    }
    /// The sources are this parent and then the origin.
    void put_parent_before_origin(OneRequest& one, test::Origin const& parent) {
        auto* const worker = &worker_.worker;
        if (!mesh_) mesh_ = test::made(icp::Mesh::make({}, std::span(&worker, 1), worker_.cache));
        worker_.services.mesh = mesh_.get();
        icp::PeerOptions options;
        options.name = "up";
        options.host = "127.0.0.1";
        options.http = parent.port();
        options.icp = 0;
        peer_ = std::make_shared<icp::Peer>(options);
        std::vector<icp::Source> const sources{{peer_, Hierarchy::first_parent_miss}, {nullptr, Hierarchy::direct}};
        one.upstream.sources().assign(sources, 0);
    }

    test::Origin origin_, parent_;
    OneWorker worker_{origin_};
    std::unique_ptr<icp::Mesh> mesh_;
    std::shared_ptr<icp::Peer> peer_;
};

TEST_F(Asking, the_origin_gets_its_own_name_and_ours_in_Via) {
    origin_.answer("/a", test::fresh("a"));
    auto const one = request("GET", "\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nX-End: 2");
    ASSERT_TRUE(one->ask());
    auto const& head = origin_.last("/a").head;
    EXPECT_EQ(head.field("Host"), origin_.authority());
    EXPECT_EQ(head.field("Via"), "1.1 test");
    EXPECT_EQ(head.field("X-End"), "2");
    EXPECT_FALSE(head.has("X-Hop"));
    EXPECT_EQ(one->upstream.head().status, 200);
    EXPECT_EQ(one->upstream.source_address().text(), "127.0.0.1");
    EXPECT_EQ(one->request.record.cache_status.fwd_status, 200);
}

TEST_F(Asking, an_idle_connection_is_used_again) {
    origin_.answer("/a", test::fresh("a"));
    for (int i = 0; i < 2; ++i) {
        auto const one = request();
        ASSERT_TRUE(one->ask());
        EXPECT_EQ(read_all(*one), "a");
        one->upstream.finish_exchange();
    }
    EXPECT_EQ(origin_.connections(), 1u);
    EXPECT_EQ(worker_.counters.origin_reused.value(), 1u);
}

TEST_F(Asking, a_GET_is_repeated_once_where_the_idle_connection_died) {
    leave_dying_connection();
    auto const one = request();
    ASSERT_TRUE(one->ask());
    EXPECT_EQ(read_all(*one), "again");
    EXPECT_EQ(origin_.connections(), 2u);
    EXPECT_EQ(worker_.counters.origin_retries.value(), 1u);
}

TEST_F(Asking, a_POST_is_not_repeated) {
    leave_dying_connection();
    auto const one = request("POST", {}, "content");
    EXPECT_FALSE(one->ask());
    EXPECT_EQ(origin_.connections(), 1u);
    EXPECT_EQ(one->upstream.failure().told.status, 502);
    EXPECT_EQ(one->upstream.failure().cause, FailureCause::answer);
}

TEST_F(Asking, a_new_connection_that_ends_is_not_repeated) {
    origin_.by_hand("/a", [](test::Hand& hand) { hand.leave(); });
    auto const one = request();
    EXPECT_FALSE(one->ask());
    EXPECT_EQ(origin_.connections(), 1u);
    EXPECT_EQ(one->upstream.failure().told.kind, cache::FailureKind::closed);
    EXPECT_FALSE(one->upstream.may_try_next());
}

TEST_F(Asking, the_body_of_a_request_goes_out_with_its_length) {
    origin_.answer("/a", test::no_store("done"));
    auto const one = request("POST", {}, "content");
    ASSERT_TRUE(one->ask());
    worker_.run(one->upstream.upload().join());
    EXPECT_EQ(origin_.last("/a").body, "content");
    EXPECT_EQ(origin_.last("/a").head.field("Content-Length"), "7");
    EXPECT_TRUE(one->upstream.upload().sent_whole());
}

TEST_F(Asking, a_parent_that_cannot_reach_the_origin_is_followed_by_the_origin) {
    origin_.answer("/a", test::fresh("a"));
    parent_.otherwise([](test::Hand& hand) {
        hand.read_body();
        hand.answer({.status = 504, .fields = {}, .body = "no"});
    });
    auto const one = request();
    put_parent_before_origin(*one, parent_);
    ASSERT_TRUE(one->ask());
    EXPECT_EQ(parent_.connections(), 1u);
    EXPECT_EQ(read_all(*one), "a");
    EXPECT_EQ(one->upstream.sources().at(), 1u);
}

TEST_F(Asking, a_POST_that_a_parent_has_received_goes_nowhere_else) {
    parent_.otherwise([](test::Hand& hand) {
        hand.read_body();
        hand.answer({.status = 504, .fields = {}, .body = "no"});
    });
    auto const one = request("POST", {}, "content");
    put_parent_before_origin(*one, parent_);
    ASSERT_TRUE(one->ask()) << "the client gets the response of the parent";
    EXPECT_EQ(one->upstream.head().status, 504);
    EXPECT_EQ(origin_.connections(), 0u);
    worker_.run(one->upstream.upload().join());
}

/// The first five bytes of ten.
constexpr char const* truncated = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 10\r\n\r\n01234";

void send_truncated(test::Hand& hand) {
    hand.read_body();
    hand.send(truncated);
    hand.leave();
}

TEST_F(Asking, the_origin_continues_a_body_that_a_parent_truncates) {
    parent_.otherwise(send_truncated);
    origin_.answer("/a", {.status = 206, .fields = {{"ETag", "\"v1\""}, {"Content-Range", "bytes 5-9/10"}}, .body = "56789"});
    auto const one = request();
    put_parent_before_origin(*one, parent_);
    ASSERT_TRUE(one->ask());
    worker_.run(one->pass_through.stream("no reason"));
    EXPECT_EQ(one->client.body_sent(), "0123456789");
    EXPECT_FALSE(one->client.truncated);
    EXPECT_THAT(origin_.last("/a").head.field("Range"), StartsWith("bytes=5-"));
    EXPECT_EQ(origin_.last("/a").head.field("If-Range"), "\"v1\"");
    EXPECT_EQ(worker_.counters.resumed.value(), 1u);
    EXPECT_EQ(one->request.record.cache_status.fwd_status, 200) << "that of the head that the client has";
}

TEST_F(Asking, another_version_does_not_continue_it) {
    parent_.otherwise(send_truncated);
    origin_.answer("/a", {.status = 206, .fields = {{"ETag", "\"v2\""}, {"Content-Range", "bytes 5-9/10"}}, .body = "56789"});
    auto const one = request();
    put_parent_before_origin(*one, parent_);
    ASSERT_TRUE(one->ask());
    worker_.run(one->pass_through.stream("no reason"));
    EXPECT_EQ(one->client.body_sent(), "01234");
    EXPECT_TRUE(one->client.truncated);
    EXPECT_EQ(worker_.counters.resumed.value(), 0u);
}

TEST_F(Asking, an_abort_ends_the_wait_for_the_origin) {
    auto held = origin_.hold("/a");
    auto const one = request();
    bool done = false, answered = true;
    auto const ask = [&]() -> net::awaitable<void> { answered = co_await one->upstream.ask(one->state.changes); };
    worker_.begin(ask(), done);
    worker_.run_until([&] { return held.count() == 1; });
    EXPECT_FALSE(done);
    one->request.aborted = true;
    one->upstream.abort();
    worker_.run_until([&] { return done; });
    EXPECT_FALSE(answered);
    EXPECT_TRUE(one->upstream.went_out());
    one->upstream.drop_exchange();
    EXPECT_TRUE(held.nth(0).abandoned());
    held.close();
}

TEST_F(Asking, a_client_that_leaves_ends_the_wait_for_the_origin) {
    auto held = origin_.hold("/a");
    auto const one = request();
    bool done = false, answered = true;
    auto const ask = [&]() -> net::awaitable<void> { answered = co_await one->upstream.ask(one->state.changes); };
    worker_.begin(ask(), done);
    worker_.run_until([&] { return held.count() == 1 && one->client.is_watched(); });
    one->client.leave();
    worker_.run_until([&] { return done; });
    EXPECT_FALSE(answered);
    EXPECT_TRUE(one->request.client_gone);
    one->upstream.drop_exchange();
    held.close();
}

}   // namespace
}   // namespace garner::proxy
