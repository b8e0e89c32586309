// The memory budget: evicted and kept objects, and the memory of slow readers.
#include "story/rest.hpp"

namespace garner::test {

namespace {

std::string const alone = "only-if-cached";

bool is_stored(Client& client, std::string const& path) {
    auto reply = client.get(path, {{"Cache-Control", alone}});
    reply.body();
    return reply.status() == 200;
}

}   // namespace

TEST(Budget, what_is_stored_never_exceeds_the_memory_it_was_given) {
    constexpr std::size_t objects = 800, object = 50'000, budget = 8 << 20;
    for (std::string policy : {"lru", "gdsf"}) {
        Origin origin;
        origin.otherwise([](Hand& hand) { hand.answer(fresh(pattern(object))); });
        Proxy proxy(R"({"memory": {"size": "8 MiB", "object_max": "1 MiB", "policy": ")" + policy + R"("}})");
        Client client(proxy, origin);
        for (std::size_t i = 0; i < objects; ++i) EXPECT_EQ(client.get("/" + std::to_string(i)).status(), 200);
        client.get("/0").body();
        std::size_t stored = 0;
        for (std::size_t i = 0; i < objects; ++i) stored += is_stored(client, "/" + std::to_string(i));
        EXPECT_LE(stored * object, budget) << policy;
        EXPECT_GE(stored * object, budget * 6 / 10) << policy << ": most of the budget is for bodies";
    }
}

TEST(Budget, lru_keeps_what_is_asked_for_again_and_again) {
    Origin origin;
    origin.otherwise([](Hand& hand) { hand.answer(fresh(pattern(50'000))); });
    Proxy proxy(R"({"memory": {"size": "8 MiB", "object_max": "1 MiB", "policy": "lru"}})");
    Client client(proxy, origin);
    client.get("/loved").body();
    for (int i = 0; i < 600; ++i) {
        client.get("/" + std::to_string(i)).body();
        if (i % 5 == 0) EXPECT_TRUE(client.get("/loved").hit()) << i;
    }
    EXPECT_EQ(origin.requests("/loved"), 1u);
    EXPECT_FALSE(is_stored(client, "/0"));
    EXPECT_TRUE(is_stored(client, "/599"));
}

TEST(Budget, with_memory_for_two_of_the_largest_one_is_a_hit) {
    Origin origin;
    origin.answer("/largest", fresh(pattern(1 << 20)));
    Proxy proxy(R"({"memory": {"size": "2 MiB", "object_max": "1 MiB"}})");
    Client client(proxy, origin);
    client.get("/largest").body();
    auto again = client.get("/largest");
    EXPECT_TRUE(again.hit()) << again.field("Cache-Status");
    EXPECT_EQ(again.body(), pattern(1 << 20));
}

/// The kernel may have pages of a body that was evicted, which other bodies must not change.
TEST(Budget, bytes_of_an_evicted_object_reach_slow_readers_unchanged) {
    constexpr std::size_t large = 1 << 20;
    Origin origin;
    origin.answer("/slow", fresh(pattern(large)));
    origin.otherwise([](Hand& hand) { hand.answer(fresh(std::string(large, 'b'))); });
    Proxy proxy(R"({"memory": {"size": "4 MiB", "object_max": "1 MiB", "policy": "lru"}})");
    Client client(proxy, origin);
    client.get("/slow").body();
    std::vector<Client> slow(8, Client(proxy, origin));
    std::vector<Reply> replies;
    for (auto& reader : slow) replies.push_back(reader.get("/slow"));
    // The order of eviction is exact within a shard only. Each of these URLs has the shard of /slow with a probability of 1/16.
    constexpr int enough = 400;
    int others = 0;
    auto const store_another = [&] { EXPECT_EQ(client.get("/" + std::to_string(others++)).body().size(), large); };
    while (others < enough && is_stored(client, "/slow")) store_another();
    EXPECT_LT(others, enough) << "/slow is still stored";
    for (int i = 0; i < 20; ++i) store_another();
    for (auto& reply : replies) EXPECT_TRUE(reply.body() == pattern(large));
}

TEST(Budget, clients_that_do_not_read_large_answers_hold_bounded_memory) {
    Origin origin;
    origin.otherwise([](Hand& hand) {
        hand.send(fresh("").head_text(64 << 20));
        auto const block = pattern(1 << 20);
        for (int i = 0; i < 64; ++i)
            if (!hand.send(block)) break;
        hand.leave();
    });
    Proxy proxy(R"({"memory": {"size": "16 MiB", "object_max": "4 MiB"}})");
    auto const before = resident(proxy);
    std::vector<Client> sleepers(30, Client(proxy, origin));
    for (std::size_t i = 0; i < sleepers.size(); ++i) {
        sleepers[i].receive_buffer(4096);
        sleepers[i].get("/" + std::to_string(i));
    }
    pause_for(3s);
    // At most 30 windows of 1 MiB plus overhead of sanitizers and buffers, not 30 x 64 MiB.
    EXPECT_LT(resident(proxy), before + (300u << 20));
    for (auto& sleeper : sleepers) sleeper.reset();
}

}   // namespace garner::test
