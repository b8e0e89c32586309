// Squid without Garner: behaviour that the scenes of the mesh rely on.
#include "story/mesh/squid.hpp"

namespace garner::test {

TEST(Actors, squid_fetches_keeps_and_logs) {
    NEEDS("squid");
    Origin origin;
    origin.answer("/page", fresh("hello"));
    Squid squid;
    auto client = squid.client();
    EXPECT_EQ(client.get(origin.url("/page")).body(), "hello");
    EXPECT_EQ(client.get(origin.url("/page")).body(), "hello");
    EXPECT_EQ(origin.requests("/page"), 1u);
    EXPECT_EQ(squid.logged("/page", "TCP_MISS").front().hierarchy, "HIER_DIRECT");
    auto const hit = squid.logged("/page", "TCP_MEM_HIT").front();
    EXPECT_EQ(hit.status, 200);
    EXPECT_EQ(hit.hierarchy, "HIER_NONE");
    EXPECT_EQ(hit.url, origin.url("/page"));
    EXPECT_TRUE(squid.alive());
}

TEST(Actors, squid_tells_of_its_peers) {
    NEEDS("squid");
    Origin origin;
    origin.answer("/page", fresh("hello"));
    // A peer that receives queries and never replies.
    Origin silent;
    Squid squid("cache_peer 127.0.0.1 sibling " + std::to_string(silent.port()) + " " + std::to_string(free_port()) +
                " no-digest name=silent");
    EXPECT_EQ(squid.client().get(origin.url("/page")).body(), "hello");
    auto const peer = squid.peer();
    EXPECT_EQ(peer.number("PINGS SENT"), 1);
    EXPECT_EQ(peer.number("PINGS ACKED"), 0);
    EXPECT_EQ(squid.logged("/page", "TCP_MISS").front().hierarchy, "TIMEOUT_HIER_DIRECT");
}

TEST(Actors, squid_with_a_disk_publishes_a_digest) {
    NEEDS("squid");
    Squid squid({.disk = true});
    // In origin-form: Squid accepts an absolute form as its own only with its visible_hostname.
    EXPECT_TRUE(eventually([&] {
        auto reply = squid.client().get("/squid-internal-periodic/store_digest");
        return reply.field("Content-Type") == "application/cache-digest";
    }));
}

TEST(Actors, squid_may_be_killed) {
    NEEDS("squid");
    Squid squid;
    squid.end(SIGKILL);
    EXPECT_FALSE(squid.alive());
    EXPECT_THROW(squid.client().wire(), Trouble);
}

}   // namespace garner::test
