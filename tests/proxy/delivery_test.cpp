// What a client gets of a stored or growing response: framing, ranges, conditions, truncation.
#include "proxy/delivery.hpp"

#include <gmock/gmock.h>

#include "proxy/request_scene.hpp"

namespace garner::proxy {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Deliveries : public ::testing::Test {
protected:
    /// A request for a complete stored response "hello".
    OneRequest& request(std::string const& fields = {}, std::string const& method = "GET") {
        request_.emplace(worker_, method + " /a HTTP/1.1\r\nHost: site.example" + fields);
        store::Object::Parts parts;
        parts.key = request_->request.key.text;
        parts.head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nETag: \"v1\"\r\n";
        parts.bytes = "hello";
        parts.terms.response_time = wall_now();
        parts.terms.lifetime = 600;
        request_->state.object = store::Object::make(parts, nullptr);
        request_->request.record.cache_status.hit = true;
        return *request_;
    }
    /// A request whose response grows while the origin sends it.
    OneRequest& growing(test::Script script) {
        origin_.by_hand("/a", std::move(script));
        request_.emplace(worker_, "GET /a HTTP/1.1\r\nHost: site.example");
        EXPECT_TRUE(request_->fetch());
        EXPECT_EQ(request_->store(), Step::deliver);
        return *request_;
    }
    static std::string const& sent_for(OneRequest& one) {
        one.deliver();
        return one.client.sent;
    }

    test::Origin origin_;
    OneWorker worker_{origin_};
    std::optional<OneRequest> request_;
};

constexpr char const* chunked_head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nTransfer-Encoding: chunked\r\n\r\n";

TEST_F(Deliveries, a_stored_response_has_its_length_and_no_framing) {
    auto& one = request();
    auto const& sent = sent_for(one);
    EXPECT_THAT(sent, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(sent, HasSubstr("\r\nContent-Length: 5\r\n"));
    EXPECT_THAT(sent, HasSubstr("\r\nAge: 0\r\n"));
    EXPECT_THAT(sent, HasSubstr("\r\nCache-Status: test; hit"));
    EXPECT_THAT(sent, EndsWith("\r\n\r\nhello"));
    EXPECT_EQ(one.request.record.body_sent, 5u);
    EXPECT_FALSE(one.request.close);
}

TEST_F(Deliveries, a_small_response_is_sent_at_once_where_the_socket_takes_it) {
    auto& one = request();
    EXPECT_TRUE(one.delivery.deliver_at_once(one.state.object));
    EXPECT_EQ(one.client.body_sent(), "hello");

    auto& other = request();
    other.client.accepts_at_once = false;
    EXPECT_FALSE(other.delivery.deliver_at_once(other.state.object));
    EXPECT_EQ(other.client.sent, "");
    other.deliver();
    EXPECT_THAT(other.client.sent, StartsWith("HTTP/1.1 200 OK\r\n")) << "the rest, with one head";
    EXPECT_EQ(other.client.body_sent(), "hello");
    EXPECT_EQ(other.request.record.body_sent, 5u);
}

TEST_F(Deliveries, HEAD_gets_the_length_without_the_body) {
    auto const& sent = sent_for(request({}, "HEAD"));
    EXPECT_THAT(sent, HasSubstr("\r\nContent-Length: 5\r\n"));
    EXPECT_THAT(sent, EndsWith("\r\n\r\n"));
}

TEST_F(Deliveries, a_range_is_206_with_its_place) {
    auto& one = request("\r\nRange: bytes=1-3");
    auto const& sent = sent_for(one);
    EXPECT_THAT(sent, StartsWith("HTTP/1.1 206 "));
    EXPECT_THAT(sent, HasSubstr("\r\nContent-Range: bytes 1-3/5\r\n"));
    EXPECT_THAT(sent, HasSubstr("\r\nContent-Length: 3\r\n"));
    EXPECT_EQ(one.client.body_sent(), "ell");
    EXPECT_EQ(one.request.record.sent_status, 206);
}

TEST_F(Deliveries, a_range_beyond_the_end_is_416_with_the_length) {
    auto const& sent = sent_for(request("\r\nRange: bytes=9-"));
    EXPECT_THAT(sent, StartsWith("HTTP/1.1 416 "));
    EXPECT_THAT(sent, HasSubstr("\r\nContent-Range: bytes */5\r\n"));
    EXPECT_THAT(sent, EndsWith("\r\n\r\n"));
}

TEST_F(Deliveries, several_ranges_are_parts_of_a_multipart_body) {
    auto& one = request("\r\nRange: bytes=0-0,4-4");
    auto const& sent = sent_for(one);
    EXPECT_THAT(sent, StartsWith("HTTP/1.1 206 "));
    EXPECT_THAT(sent, HasSubstr("\r\nContent-Type: multipart/byteranges; boundary="));
    auto const body = one.client.body_sent();
    EXPECT_THAT(body, HasSubstr("Content-Range: bytes 0-0/5\r\n\r\nh\r\n--"));
    EXPECT_THAT(body, HasSubstr("Content-Range: bytes 4-4/5\r\n\r\no\r\n--"));
    EXPECT_THAT(sent, HasSubstr("\r\nContent-Length: " + std::to_string(body.size()) + "\r\n"));
}

TEST_F(Deliveries, a_validator_that_matches_gets_304) {
    auto& one = request("\r\nIf-None-Match: \"v1\"");
    auto const& sent = sent_for(one);
    EXPECT_THAT(sent, StartsWith("HTTP/1.1 304 "));
    EXPECT_THAT(sent, HasSubstr("\r\nETag: \"v1\"\r\n"));
    EXPECT_THAT(sent, Not(HasSubstr("Content-Type")));
    EXPECT_THAT(sent, EndsWith("\r\n\r\n"));
    EXPECT_THAT(sent_for(request("\r\nIf-None-Match: \"v0\"")), EndsWith("\r\n\r\nhello"));
}

TEST_F(Deliveries, a_client_that_is_gone_ends_its_connection) {
    auto& one = request();
    one.client.leave();
    one.deliver();
    EXPECT_EQ(one.client.sent, "");
    EXPECT_TRUE(one.request.client_gone);
    EXPECT_TRUE(one.request.close);
    EXPECT_EQ(one.request.record.body_sent, 0u);
}

TEST_F(Deliveries, the_client_frames_a_body_of_unknown_length) {
    auto held = origin_.hold("/a");
    request_.emplace(worker_, "GET /a HTTP/1.1\r\nHost: site.example");
    auto& one = *request_;
    bool asked = false, answered = false, delivered = false;
    auto const ask = [&]() -> net::awaitable<void> { answered = co_await one.upstream.ask(one.state.changes); };
    one.state.lead = worker_.cache.lookup(one.request.query(cache::Collapse::lead_and_follow)).lead;
    worker_.begin(ask(), asked);
    worker_.run_until([&] { return held.count() == 1; });
    auto answer = test::fresh("");
    answer.delimited = test::Delimited::by_chunks;
    held.head(answer);
    worker_.run_until([&] { return asked; });
    ASSERT_TRUE(answered);
    ASSERT_EQ(one.store(), Step::deliver);

    worker_.begin(one.delivery.deliver(one.state.object, &*one.state.follower), delivered);
    held.piece("hello");
    worker_.run_until([&] { return one.client.body_sent() == "[5:hello]"; });
    EXPECT_FALSE(delivered);
    held.finish();
    worker_.run_until([&] { return delivered; });
    EXPECT_THAT(one.client.sent, Not(HasSubstr("Content-Length")));
    EXPECT_EQ(one.client.body_sent(), "[5:hello][end]");
    EXPECT_FALSE(one.client.truncated);
}

TEST_F(Deliveries, a_body_that_the_origin_truncates_is_truncated_for_the_client) {
    auto& one = growing([](test::Hand& hand) {
        hand.read_body();
        hand.send(chunked_head);
        hand.send("5\r\nhello\r\n");
        hand.leave();
    });
    sent_for(one);
    EXPECT_EQ(one.client.body_sent(), "[5:hello]");
    EXPECT_TRUE(one.client.truncated);
    EXPECT_TRUE(one.request.record.truncated);
    EXPECT_EQ(one.request.record.texts.reason, "the response of the origin was truncated");
}

TEST_F(Deliveries, a_client_that_leaves_ends_the_wait_for_growth) {
    auto held = origin_.hold("/a");
    request_.emplace(worker_, "GET /a HTTP/1.1\r\nHost: site.example");
    auto& one = *request_;
    bool asked = false, delivered = false;
    bool answered = false;
    auto const ask = [&]() -> net::awaitable<void> { answered = co_await one.upstream.ask(one.state.changes); };
    auto found = worker_.cache.lookup(one.request.query(cache::Collapse::lead_and_follow));
    one.state.lead = std::move(found.lead);
    worker_.begin(ask(), asked);
    worker_.run_until([&] { return held.count() == 1; });
    held.head(test::fresh("hello"), 5);
    held.piece("he");
    worker_.run_until([&] { return asked; });
    ASSERT_TRUE(answered);
    ASSERT_EQ(one.store(), Step::deliver);

    worker_.begin(one.delivery.deliver(one.state.object, &*one.state.follower), delivered);
    worker_.run_until([&] { return one.client.is_watched() && one.client.body_sent() == "he"; });
    EXPECT_FALSE(delivered);
    one.client.leave();
    worker_.run_until([&] { return delivered; });
    EXPECT_TRUE(one.request.client_gone);
    EXPECT_TRUE(one.client.truncated);
    held.piece("llo");
    held.finish();
}

}   // namespace
}   // namespace garner::proxy
