// Parts of an object: single ranges from a complete one, and what a Range does to everything else.
#include "story/scene.hpp"

namespace garner::test {

namespace {

std::string const film = pattern(100'000);

struct Ranges : ::testing::Test {
    Origin origin;
    Proxy proxy;

    void SetUp() override {
        origin.answer("/film", fresh(film, 600, {{"ETag", R"("v1")"}, {"Accept-Ranges", "bytes"}}));
        get(proxy, origin, "/film").body();
    }
    void TearDown() override { EXPECT_EQ(origin.requests("/film"), 1u); }

    Reply part(std::string const& range, Fields more = {}) {
        more.emplace_back("Range", range);
        return get(proxy, origin, "/film", more);
    }
};

}  // namespace

TEST_F(Ranges, the_first_bytes) {
    auto reply = part("bytes=0-99");
    EXPECT_EQ(reply.status(), 206);
    EXPECT_EQ(reply.body(), film.substr(0, 100));
    EXPECT_EQ(reply.field("Content-Range"), "bytes 0-99/100000");
    EXPECT_EQ(reply.field("Content-Length"), "100");
    EXPECT_EQ(reply.field("ETag"), R"("v1")");
    EXPECT_TRUE(reply.hit());
}

TEST_F(Ranges, bytes_from_the_middle) {
    auto reply = part("bytes=50000-59999");
    EXPECT_EQ(reply.status(), 206);
    EXPECT_EQ(reply.body(), film.substr(50'000, 10'000));
    EXPECT_EQ(reply.field("Content-Range"), "bytes 50000-59999/100000");
}

TEST_F(Ranges, from_somewhere_to_the_end_and_past_it) {
    EXPECT_EQ(part("bytes=99990-").body(), film.substr(99'990));
    auto past = part("bytes=99990-200000");
    EXPECT_EQ(past.status(), 206);
    EXPECT_EQ(past.body(), film.substr(99'990));
    EXPECT_EQ(past.field("Content-Range"), "bytes 99990-99999/100000");
}

TEST_F(Ranges, the_last_bytes) {
    auto reply = part("bytes=-10");
    EXPECT_EQ(reply.status(), 206);
    EXPECT_EQ(reply.body(), film.substr(99'990));
    EXPECT_EQ(part("bytes=-200000").body(), film);
}

TEST_F(Ranges, beyond_the_end_is_416) {
    for (auto range : {"bytes=100000-", "bytes=200000-300000", "bytes=-0"}) {
        auto reply = part(range);
        EXPECT_EQ(reply.status(), 416) << range;
        EXPECT_EQ(reply.field("Content-Range"), "bytes */100000") << range;
    }
}

TEST_F(Ranges, what_is_no_range_is_ignored) {
    for (auto range : {"bytes=5-2", "bytes=a-b", "lines=1-2", "bytes="}) {
        auto reply = part(range);
        EXPECT_EQ(reply.status(), 200) << range;
        EXPECT_EQ(reply.body(), film) << range;
    }
}

TEST_F(Ranges, If_Range_decides_between_part_and_whole) {
    EXPECT_EQ(part("bytes=0-9", {{"If-Range", R"("v1")"}}).status(), 206);
    EXPECT_EQ(part("bytes=0-9", {{"If-Range", R"("v2")"}}).status(), 200);
    EXPECT_EQ(part("bytes=0-9", {{"If-Range", R"(W/"v1")"}}).status(), 200);
}

TEST_F(Ranges, a_range_keeps_the_connection_in_step) {
    Client client(proxy, origin);
    auto a = client.get("/film", {{"Range", "bytes=0-9"}});
    auto b = client.get("/film", {{"Range", "bytes=500000-"}});
    auto c = client.get("/film");
    EXPECT_EQ(a.body(), film.substr(0, 10));
    EXPECT_EQ(b.status(), 416);
    EXPECT_EQ(c.body(), film);
    EXPECT_EQ(client.connections(), 1);
}

TEST(RangeMiss, a_range_of_what_is_not_stored_goes_to_the_origin_as_it_is) {
    Origin origin;
    Proxy proxy;
    origin.by_hand("/film", [](Hand& hand) {
        if (hand.request().head.field("Range") == "bytes=10-19")
            hand.answer({.status = 206,
                         .fields = {{"Content-Range", "bytes 10-19/100000"},
                                    {"Cache-Control", "max-age=60"},
                                    {"ETag", R"("v1")"}},
                         .body = film.substr(10, 10)});
        else
            hand.answer(fresh(film, 60, {{"ETag", R"("v1")"}}));
    });
    auto part = get(proxy, origin, "/film", {{"Range", "bytes=10-19"}});
    EXPECT_EQ(part.status(), 206);
    EXPECT_EQ(part.body(), film.substr(10, 10));
    auto whole = get(proxy, origin, "/film");
    EXPECT_EQ(whole.status(), 200);
    EXPECT_EQ(whole.body(), film);
}

}  // namespace garner::test
