// Ranges of a complete object: single and multiple ones, and the effect of Range on other features.
#include "story/rules/film.hpp"
#include "story/scene.hpp"

namespace garner::test {

namespace {

struct Part {
    std::string head;   // its field lines
    std::string bytes;
};

/// The parts of a multipart/byteranges body (RFC 2046 5.1.1), parsed by its boundary only.
std::vector<Part> parts_of(Reply const& reply) {
    std::string const announced = "multipart/byteranges; boundary=";
    EXPECT_THAT(reply.field("Content-Type"), StartsWith(announced));
    auto const delimiter = "\r\n--" + reply.field("Content-Type").substr(announced.size());
    auto const body = "\r\n" + reply.body();
    std::vector<Part> parts;
    for (auto at = body.find(delimiter); at != std::string::npos;) {
        at += delimiter.size();
        if (body.substr(at) == "--\r\n") return parts;
        auto const blank = body.find("\r\n\r\n", at);
        auto const next = body.find(delimiter, at);
        if (blank == std::string::npos || next == std::string::npos || blank > next) break;
        parts.push_back({body.substr(at + 2, blank - at), body.substr(blank + 4, next - blank - 4)});
        at = next;
    }
    ADD_FAILURE() << "the last multipart boundary is missing";
    return parts;
}

struct Ranges : ::testing::Test {
    Origin origin;
    Proxy proxy;

    void SetUp() override {
        Fields more{{"ETag", R"("v1")"}, {"Accept-Ranges", "bytes"}, {"Content-Type", "video/film"}};
        origin.answer("/film", fresh(film, 600, more));
        get(proxy, origin, "/film").body();
    }
    void TearDown() override { EXPECT_EQ(origin.requests("/film"), 1u); }

    Reply part(std::string const& range, Fields more = {}) {
        more.emplace_back("Range", range);
        return get(proxy, origin, "/film", more);
    }
};

}   // namespace

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

TEST_F(Ranges, two_at_once_come_as_two_parts) {
    auto reply = part("bytes=0-9,50000-50099");
    EXPECT_EQ(reply.status(), 206);
    EXPECT_TRUE(reply.hit());
    EXPECT_FALSE(reply.has("Content-Range"));
    EXPECT_EQ(reply.field("ETag"), R"("v1")");
    EXPECT_EQ(reply.field("Content-Length"), std::to_string(reply.body().size()));
    auto parts = parts_of(reply);
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_EQ(parts[0].head, "Content-Type: video/film\r\nContent-Range: bytes 0-9/100000\r\n");
    EXPECT_EQ(parts[0].bytes, film.substr(0, 10));
    EXPECT_EQ(parts[1].head, "Content-Type: video/film\r\nContent-Range: bytes 50000-50099/100000\r\n");
    EXPECT_EQ(parts[1].bytes, film.substr(50'000, 100));
}

TEST_F(Ranges, sixteen_at_once_in_the_order_asked) {
    std::string asked = "bytes=-7";
    for (int i = 14; i >= 0; --i) asked += "," + std::to_string(6000 * i) + "-" + std::to_string(6000 * i + i * 300);
    auto parts = parts_of(part(asked));
    ASSERT_EQ(parts.size(), 16u);
    EXPECT_EQ(parts[0].bytes, film.substr(film.size() - 7));
    for (std::size_t i = 0; i <= 14; ++i) EXPECT_EQ(parts[15 - i].bytes, film.substr(6000 * i, i * 300 + 1));
}

TEST_F(Ranges, those_that_overlap_or_touch_are_one) {
    auto reply = part("bytes=0-99,50-199,200-299");
    EXPECT_EQ(reply.status(), 206);
    EXPECT_EQ(reply.field("Content-Range"), "bytes 0-299/100000");
    EXPECT_EQ(reply.field("Content-Type"), "video/film");
    EXPECT_EQ(reply.body(), film.substr(0, 300));
}

TEST_F(Ranges, of_several_those_beyond_the_end_are_left_out) {
    auto one = part("bytes=0-9,100000-");
    EXPECT_EQ(one.field("Content-Range"), "bytes 0-9/100000");
    EXPECT_EQ(one.body(), film.substr(0, 10));
    EXPECT_EQ(parts_of(part("bytes=200000-,0-9,20-29")).size(), 2u);
    EXPECT_EQ(part("bytes=100000-,200000-300000").status(), 416);
}

TEST_F(Ranges, too_many_are_answered_with_the_whole) {
    std::string many = "bytes=0-0";
    for (int i = 1; i < 1000; ++i) many += "," + std::to_string(2 * i) + "-" + std::to_string(2 * i);
    std::string overlapping = "bytes=0-";
    for (int i = 1; i < 10; ++i) overlapping += "," + std::to_string(i) + "-";
    for (auto const& range : {many, overlapping}) {
        auto reply = part(range);
        EXPECT_EQ(reply.status(), 200);
        EXPECT_EQ(reply.field("Content-Type"), "video/film");
        EXPECT_EQ(reply.body(), film);
    }
}

TEST_F(Ranges, If_Range_decides_about_several_too) {
    EXPECT_EQ(parts_of(part("bytes=0-9,20-29", {{"If-Range", R"("v1")"}})).size(), 2u);
    EXPECT_EQ(part("bytes=0-9,20-29", {{"If-Range", R"("v2")"}}).body(), film);
}

TEST_F(Ranges, mean_nothing_to_HEAD) {
    Client client(proxy, origin);
    for (auto range : {"bytes=0-9", "bytes=0-9,20-29", "bytes=200000-"}) {
        auto reply = client.head("/film", {{"Range", range}});
        EXPECT_EQ(reply.status(), 200) << range;
        EXPECT_EQ(reply.field("Content-Length"), "100000") << range;
    }
}

TEST_F(Ranges, no_boundary_is_used_twice_and_the_connection_stays_in_step) {
    Client client(proxy, origin);
    auto a = client.get("/film", {{"Range", "bytes=0-9,20-29"}});
    auto b = client.get("/film", {{"Range", "bytes=0-9,20-29"}});
    auto c = client.get("/film");
    EXPECT_NE(a.field("Content-Type"), b.field("Content-Type"));
    EXPECT_EQ(parts_of(a).size(), 2u);
    EXPECT_EQ(c.body(), film);
    EXPECT_EQ(client.connections(), 1);
}

TEST(RangesOf, a_small_object_come_in_one_piece_of_memory_all_the_same) {
    Origin origin;
    Proxy proxy;
    auto const page = pattern(1000);
    origin.answer("/page", fresh(page, 600));
    get(proxy, origin, "/page").body();
    std::string asked = "bytes=-1";
    for (int i = 0; i < 15; ++i) asked += "," + std::to_string(i * 50) + "-" + std::to_string(i * 50 + i);
    auto reply = get(proxy, origin, "/page", {{"Range", asked}});
    EXPECT_TRUE(reply.hit());
    auto parts = parts_of(reply);
    ASSERT_EQ(parts.size(), 16u);
    EXPECT_EQ(parts[0].bytes, page.substr(999));
    for (std::size_t i = 0; i < 15; ++i) EXPECT_EQ(parts[i + 1].bytes, page.substr(i * 50, i + 1));
}

TEST(RangesOf, a_large_body_lie_in_many_segments) {
    Origin origin;
    Proxy proxy(R"({"memory": {"size": "64 MiB", "object_max": "16 MiB"}})");
    auto const large = pattern(9'000'000);
    origin.answer("/large", fresh(large, 600));
    get(proxy, origin, "/large").body();
    auto reply = get(proxy, origin, "/large", {{"Range", "bytes=6000000-8999999,1-3000000,4000000-4000000"}});
    auto parts = parts_of(reply);
    ASSERT_EQ(parts.size(), 3u);
    EXPECT_TRUE(parts[0].bytes == large.substr(6'000'000));
    EXPECT_TRUE(parts[1].bytes == large.substr(1, 3'000'000));
    EXPECT_EQ(parts[2].bytes, large.substr(4'000'000, 1));
    EXPECT_EQ(origin.requests("/large"), 1u);
}

TEST(RangesOf, an_encoded_object_come_one_at_a_time) {
    Origin origin;
    Proxy proxy;
    origin.answer("/packed", fresh(film, 600, {{"Content-Encoding", "gzip"}}));
    get(proxy, origin, "/packed").body();
    EXPECT_EQ(get(proxy, origin, "/packed", {{"Range", "bytes=0-9"}}).status(), 206);
    EXPECT_EQ(get(proxy, origin, "/packed", {{"Range", "bytes=0-9,20-29"}}).status(), 200);
}

TEST(RangesOf, an_answer_that_is_no_200_are_not_served) {
    Origin origin;
    Proxy proxy;
    origin.answer("/gone", {.status = 410, .fields = {{"Cache-Control", "max-age=600"}}, .body = "gone for good"});
    get(proxy, origin, "/gone").body();
    for (auto range : {"bytes=0-3", "bytes=0-3,5-7", "bytes=200-"}) {
        auto reply = get(proxy, origin, "/gone", {{"Range", range}});
        EXPECT_EQ(reply.status(), 410) << range;
        EXPECT_EQ(reply.body(), "gone for good") << range;
    }
}

TEST(RangesOf, a_body_that_still_grows_several_are_answered_with_the_whole) {
    Origin origin;
    Proxy proxy;
    auto held = origin.hold("/film");
    auto reply = get(proxy, origin, "/film", {{"Range", "bytes=90000-90009,0-9"}});
    held.head(fresh(film, 600, {{"ETag", R"("v1")"}}), film.size());
    held.piece(film.substr(0, 50'000));
    EXPECT_EQ(reply.early(50'000), film.substr(0, 50'000));
    held.piece(film.substr(50'000));
    held.finish();
    EXPECT_EQ(reply.status(), 200);
    EXPECT_EQ(reply.body(), film);
    EXPECT_EQ(parts_of(get(proxy, origin, "/film", {{"Range", "bytes=90000-90009,0-9"}})).size(), 2u);
    EXPECT_EQ(origin.requests("/film"), 1u);
}

TEST(RangeMiss, a_range_of_what_is_not_stored_goes_to_the_origin_as_it_is) {
    Origin origin;
    Proxy proxy;
    origin.by_hand("/film", [](Hand& hand) {
        if (hand.request().head.field("Range") == "bytes=10-19")
            hand.answer({.status = 206,
                         .fields = {{"Content-Range", "bytes 10-19/100000"}, {"Cache-Control", "max-age=60"}, {"ETag", R"("v1")"}},
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

}   // namespace garner::test
