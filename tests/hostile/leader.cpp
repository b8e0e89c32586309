// A leader that does not read, or whose own request is slow, does not delay its followers.
#include "hostile/hostile.hpp"

namespace garner::test {

namespace {

bool follows(Proxy const& proxy, int followers) {
    return eventually([&] { return proxy.stats()["cache"]["followers"] == followers; });
}

}   // namespace

TEST(SlowLeader, interim_responses_wait_for_no_leader_that_does_not_read) {
    Origin origin;
    Proxy proxy(R"({"caching": {"follow_timeout": "1m"}})");
    auto held = origin.hold("/page");
    Client attacker(proxy, origin), victim(proxy, origin);
    attacker.receive_buffer(4096);
    auto unread = attacker.get("/page");
    held.arrived();
    auto page = victim.get("/page");
    ASSERT_TRUE(follows(proxy, 1));
    constexpr std::size_t hints = 15;   // an origin may send 16
    auto const hint = "HTTP/1.1 103 Early Hints\r\nX-Long: " + std::string(60'000, 'x') + "\r\n\r\n";
    for (std::size_t i = 0; i < hints; ++i) held.nth(0).raw(hint);
    held.release("page");
    EXPECT_EQ(page.body(), "page");
    EXPECT_EQ(unread.body(), "page") << "the response to the slow leader is completed";
    EXPECT_EQ(origin.requests("/page"), 1u);
}

TEST(SlowLeader, a_follower_of_a_slow_leader_fetches_for_itself) {
    Origin origin;
    Proxy proxy(R"({"caching": {"follow_timeout": "100ms"}})");
    auto held = origin.hold("/page");
    Client attacker(proxy, origin), victim(proxy, origin);
    auto slow = attacker.get("/page", {{"X-Evil", "sleep"}});
    held.arrived();
    auto page = victim.get("/page");
    held.nth(1).release(fresh("page"));
    EXPECT_EQ(page.body(), "page");
    EXPECT_TRUE(get(proxy, origin, "/page").hit());
    held.release("late");
    EXPECT_EQ(slow.body(), "late");
    EXPECT_EQ(origin.requests("/page"), 2u);
}

TEST(SlowLeader, few_fetch_beside_it_and_the_others_have_what_these_bring) {
    Origin origin;
    Proxy proxy(R"({"caching": {"follow_timeout": "100ms"}})");
    auto held = origin.hold("/page");
    Client attacker(proxy, origin);
    auto slow = attacker.get("/page");
    held.arrived();
    std::vector<Client> victims(6, Client(proxy, origin));
    std::vector<Reply> pages;
    for (auto& victim : victims) pages.push_back(victim.get("/page"));
    held.arrived(2);
    ASSERT_TRUE(follows(proxy, 5)) << "one request of each client address fetches";
    pause_for(300ms);
    EXPECT_EQ(held.count(), 2u);
    held.nth(1).release(fresh("page"));
    for (auto& page : pages) EXPECT_EQ(page.body(), "page");
    EXPECT_EQ(origin.requests("/page"), 2u);
    held.release("late");
    EXPECT_EQ(slow.body(), "late");
}

TEST(SlowLeader, when_one_beside_it_brings_nothing_to_share_the_next_one_fetches) {
    Origin origin;
    Proxy proxy(R"({"caching": {"follow_timeout": "100ms"}})");
    auto held = origin.hold("/page");
    Client attacker(proxy, origin), first(proxy, origin), second(proxy, origin);
    auto slow = attacker.get("/page");
    held.arrived();
    auto a = first.get("/page");
    held.arrived(2);   // it followed for 100 ms
    auto b = second.get("/page");
    held.nth(1).release(no_store("one"));
    held.nth(2).release(no_store("two"));
    EXPECT_THAT((std::vector<std::string>{a.body(), b.body()}), ::testing::UnorderedElementsAre("one", "two"));
    held.release("late");
    EXPECT_EQ(slow.body(), "late");
}

}   // namespace garner::test
