// The actors without a proxy: behaviour that the scenes rely on.
#include <gtest/gtest.h>

#include "support/client.hpp"
#include "support/origin.hpp"

namespace garner::test {

TEST(Actors, a_client_reads_bodies_of_every_framing) {
    Origin origin;
    origin.answer("/length", fresh("alpha"));
    origin.answer("/chunks", {.body = "beta", .delimited = Delimited::by_chunks, .trailers = {{"Sum", "4"}}});
    origin.answer("/close", {.body = "gamma", .delimited = Delimited::by_close});
    Client client("127.0.0.1", origin.port());
    auto length = client.get("/length");
    auto chunks = client.get("/chunks");
    auto close = client.get("/close");
    EXPECT_EQ(length.body(), "alpha");
    EXPECT_EQ(length.field("cache-control"), "max-age=600");
    EXPECT_EQ(chunks.body(), "beta");
    EXPECT_EQ(chunks.trailers(), (Fields{{"Sum", "4"}}));
    EXPECT_EQ(close.body(), "gamma");
    EXPECT_TRUE(close.complete());
    EXPECT_EQ(client.connections(), 1);
    EXPECT_EQ(client.get("/length").body(), "alpha");
    EXPECT_EQ(client.connections(), 2);
    EXPECT_EQ(origin.requests("/length"), 2u);
    EXPECT_EQ(origin.last("/length").connection, 2u);
}

TEST(Actors, a_held_answer_comes_piece_by_piece) {
    Origin origin;
    auto slow = origin.hold("/film");
    Client client("127.0.0.1", origin.port());
    auto film = client.get("/film");
    EXPECT_FALSE(film.begins_within(Millis{50}));
    slow.head(fresh(""), 8);
    EXPECT_EQ(film.status(), 200);
    slow.piece("reel");
    EXPECT_EQ(film.early(4), "reel");
    EXPECT_FALSE(film.ends_within(Millis{50}));
    slow.piece("ends");
    slow.finish();
    EXPECT_EQ(film.body(), "reelends");
    EXPECT_TRUE(film.complete());
}

TEST(Actors, a_body_that_is_cut_short_is_not_complete) {
    Origin origin;
    auto slow = origin.hold("/film");
    Client client("127.0.0.1", origin.port());
    auto film = client.get("/film");
    slow.head(fresh(""), 8);
    slow.piece("reel");
    slow.close();
    EXPECT_EQ(film.body(), "reel");
    EXPECT_FALSE(film.complete());
    auto again = client.get("/film");
    slow.nth(1).reset();
    EXPECT_EQ(again.status(), 0);
    EXPECT_NE(again.trouble(), "");
}

TEST(Actors, an_origin_notices_a_client_that_leaves) {
    Origin origin;
    auto slow = origin.hold("/film");
    Client client("127.0.0.1", origin.port());
    auto film = client.get("/film");
    EXPECT_FALSE(slow.nth(0).abandoned(Millis{50}));
    client.close();
    EXPECT_TRUE(slow.nth(0).abandoned());
}

TEST(Actors, both_speak_TLS) {
    Certificate certificate;
    Origin origin({.address = "::1", .certificate = &certificate});
    auto const large = pattern(3'000'000);
    origin.answer("/film", fresh(large));
    Client client("::1", origin.port());
    client.start_tls("localhost");
    EXPECT_EQ(client.wire().peer_certificate(), certificate.pem());
    EXPECT_EQ(client.get("/film").body(), large);
    EXPECT_EQ(client.post("/film", large).status(), 200);
    EXPECT_EQ(origin.last("/film").body, large);
}

TEST(Actors, cache_status_is_read_from_its_last_member) {
    Origin origin;
    origin.answer("/a", {.fields = {{"Cache-Status", "other; hit"},
                                    {"Cache-Status", R"(garner-1; fwd=uri-miss; fwd-status=200; stored; detail="a; b, c")"}}});
    origin.answer("/b", {.fields = {{"Cache-Status", "garner-1; hit; ttl=-5"}, {"Age", "7"}}});
    Client client("127.0.0.1", origin.port());
    auto a = client.get("/a");
    EXPECT_EQ(a.outcome(), "uri-miss");
    EXPECT_TRUE(a.stored());
    EXPECT_EQ(a.fwd_status(), 200);
    EXPECT_EQ(a.detail(), "a; b, c");
    auto b = client.get("/b");
    EXPECT_TRUE(b.hit());
    EXPECT_EQ(b.cache_parameter("ttl"), "-5");
    EXPECT_EQ(b.age(), 7);
}

}   // namespace garner::test
