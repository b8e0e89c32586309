// Collapsed requests: several clients share one fetch and read it while it is received, and each client gets its own response.
#include <set>
#include <thread>

#include "story/scene.hpp"

namespace garner::test {

namespace {

/// Waits until so many requests have joined the fetch of a URL.
void is_joined_by(std::size_t count, Proxy const& proxy, std::string const& url) {
    auto const target = "/explain?url=" + url;
    EXPECT_TRUE(eventually([&] {
        auto told = nlohmann::json::parse(Client("127.0.0.1", proxy.admin()).get(target).body());
        return told["fetches"][0]["followers"] == count;
    }));
}

/// Waits for a short time in which the origin must get at most `count` requests.
void stays_at(Held& held, std::size_t count) {
    pause_for(300ms);
    EXPECT_EQ(held.count(), count);
}

}   // namespace

TEST(Fills, a_second_client_joins_a_fetch_in_progress) {
    Origin origin;
    Proxy proxy;
    Client first(proxy, origin), second(proxy, origin);
    auto slow = origin.hold("/film");
    auto a = first.get("/film");
    slow.arrived();
    auto b = second.get("/film");
    stays_at(slow, 1);
    slow.release("reel");
    EXPECT_EQ(a.body(), "reel");
    EXPECT_EQ(b.body(), "reel");
    EXPECT_EQ(a.outcome(), "uri-miss");
    EXPECT_EQ(b.outcome(), "collapsed");
    EXPECT_EQ(origin.requests("/film"), 1u);
    EXPECT_TRUE(get(proxy, origin, "/film").hit());
}

TEST(Fills, followers_get_early_bytes_before_the_origin_has_finished) {
    Origin origin;
    Proxy proxy;
    Client first(proxy, origin), second(proxy, origin), third(proxy, origin);
    auto slow = origin.hold("/film");
    auto const early = pattern(200'000, 1), late = pattern(100'000, 2);
    auto a = first.get("/film");
    slow.head(fresh(""), early.size() + late.size());
    slow.piece(early);
    EXPECT_EQ(a.early(early.size()), early);
    auto b = second.get("/film");
    EXPECT_EQ(b.early(early.size()), early);
    EXPECT_EQ(b.outcome(), "collapsed");
    auto c = third.get("/film");
    EXPECT_EQ(c.early(early.size()), early);
    EXPECT_FALSE(b.ends_within(100ms));
    slow.piece(late);
    slow.finish();
    for (auto* reply : {&a, &b, &c}) {
        EXPECT_EQ(reply->body(), early + late);
        EXPECT_TRUE(reply->complete());
    }
    EXPECT_EQ(origin.requests("/film"), 1u);
}

TEST(Fills, a_chunked_fill_is_followed_too) {
    Origin origin;
    Proxy proxy;
    Client first(proxy, origin), second(proxy, origin);
    auto slow = origin.hold("/film");
    auto a = first.get("/film");
    slow.head({.fields = {{"Cache-Control", "max-age=60"}}, .delimited = Delimited::by_chunks});
    slow.piece("one ");
    EXPECT_EQ(a.early(4), "one ");
    auto b = second.get("/film");
    EXPECT_EQ(b.early(4), "one ");
    slow.piece("two");
    slow.finish();
    EXPECT_EQ(a.body(), "one two");
    EXPECT_EQ(b.body(), "one two");
    EXPECT_TRUE(b.complete());
    EXPECT_EQ(origin.requests("/film"), 1u);
}

TEST(Fills, followers_on_every_worker_get_the_whole_body) {
    Origin origin;
    Proxy proxy(R"({"workers": 4})");
    auto slow = origin.hold("/film");
    auto const film = pattern(500'000);
    Client leader(proxy, origin);
    auto first = leader.get("/film");
    slow.arrived();
    std::vector<Client> clients(30, Client(proxy, origin));
    std::vector<Reply> replies;
    for (auto& client : clients) replies.push_back(client.get("/film"));
    stays_at(slow, 1);
    slow.release(film);
    EXPECT_EQ(first.body(), film);
    for (auto& reply : replies) {
        EXPECT_EQ(reply.body(), film);
        EXPECT_THAT(reply.outcome(), AnyOf("collapsed", "hit"));
    }
    EXPECT_EQ(origin.requests("/film"), 1u);
}

TEST(Fills, when_the_leader_leaves_before_the_head_its_fetch_goes_on_for_those_who_wait) {
    Origin origin;
    Proxy proxy;
    auto slow = origin.hold("/film");
    Client leader(proxy, origin), second(proxy, origin), third(proxy, origin);
    auto first = leader.get("/film");
    slow.arrived();
    auto b = second.get("/film");
    auto c = third.get("/film");
    is_joined_by(2, proxy, origin.url("/film"));
    leader.close();
    pause_for(300ms);
    slow.release("reel");
    EXPECT_EQ(b.body(), "reel");
    EXPECT_EQ(c.body(), "reel");
    EXPECT_EQ(origin.requests("/film"), 1u);
}

TEST(Fills, when_the_leader_leaves_and_the_fetch_fails_those_who_wait_hear_why) {
    Origin origin;
    Proxy proxy;
    auto slow = origin.hold("/film");
    Client leader(proxy, origin), second(proxy, origin);
    auto first = leader.get("/film");
    slow.arrived();
    auto b = second.get("/film");
    is_joined_by(1, proxy, origin.url("/film"));
    leader.close();
    pause_for(300ms);
    slow.close();
    EXPECT_EQ(b.status(), 502);
    EXPECT_EQ(origin.requests("/film"), 1u);
}

TEST(Fills, when_all_leave_before_the_head_the_origin_hears_it) {
    Origin origin;
    Proxy proxy;
    auto slow = origin.hold("/film");
    Client leader(proxy, origin);
    auto first = leader.get("/film");
    slow.arrived();
    leader.close();
    EXPECT_TRUE(slow.nth(0).abandoned());
}

TEST(Fills, when_the_leader_leaves_within_the_body_its_followers_get_all_of_it) {
    Origin origin;
    Proxy proxy;
    auto slow = origin.hold("/film");
    auto const early = pattern(100'000, 1), late = pattern(100'000, 2);
    Client leader(proxy, origin), second(proxy, origin);
    auto a = leader.get("/film");
    slow.head(fresh(""), early.size() + late.size());
    slow.piece(early);
    a.early(1000);
    auto b = second.get("/film");
    EXPECT_EQ(b.early(early.size()), early);
    leader.reset();
    pause_for(200ms);
    slow.piece(late);
    slow.finish();
    EXPECT_EQ(b.body(), early + late);
    EXPECT_TRUE(b.complete());
    // A request between the last byte and the storing still joins the fill.
    EXPECT_TRUE(eventually([&] { return get(proxy, origin, "/film").hit(); }));
    EXPECT_EQ(origin.requests("/film"), 1u);
}

TEST(Fills, a_fetch_that_nobody_wants_any_more_ends) {
    Origin origin;
    Proxy proxy;
    auto slow = origin.hold("/film");
    Client leader(proxy, origin);
    auto a = leader.get("/film");
    slow.head(fresh(""), 3'000'000);
    slow.piece(pattern(100'000));
    a.early(1000);
    leader.close();
    EXPECT_TRUE(slow.nth(0).abandoned());
    EXPECT_FALSE(get(proxy, origin, "/other").hit());
}

TEST(Fills, an_origin_that_fails_within_the_body_fails_every_follower_and_nothing_is_kept) {
    Origin origin;
    Proxy proxy;
    auto slow = origin.hold("/film");
    Client first(proxy, origin), second(proxy, origin);
    auto a = first.get("/film");
    slow.head(fresh(""), 1000);
    slow.piece(pattern(500));
    a.early(500);
    auto b = second.get("/film");
    b.early(500);
    slow.reset();
    EXPECT_FALSE(a.complete());
    EXPECT_FALSE(b.complete());
    origin.answer("/film", fresh("whole"));
    auto again = get(proxy, origin, "/film");
    EXPECT_EQ(again.body(), "whole");
    EXPECT_EQ(again.outcome(), "uri-miss");
}

TEST(Fills, an_origin_that_fails_before_the_head_is_not_asked_once_a_follower) {
    Origin origin;
    Proxy proxy(R"({"caching": {"negative_ttl": "0s"}})");
    auto slow = origin.hold("/film");
    std::vector<Client> clients(5, Client(proxy, origin));
    std::vector<Reply> replies;
    for (auto& client : clients) {
        replies.push_back(client.get("/film"));
        if (replies.size() == 1) slow.arrived();
    }
    is_joined_by(clients.size() - 1, proxy, origin.url("/film"));
    origin.answer("/film", fresh("reel"));
    slow.nth(0).close();
    for (auto& reply : replies) EXPECT_THAT(reply.status(), AnyOf(200, 502));
    EXPECT_LE(origin.requests("/film"), 2u);
    EXPECT_EQ(get(proxy, origin, "/film").body(), "reel");
}

TEST(Fills, clients_of_a_private_answer_are_served_at_the_same_time_and_bodies_never_cross) {
    Origin origin;
    Proxy proxy;
    auto slow = origin.hold("/mine");
    constexpr std::size_t clients_count = 20;
    std::vector<Client> clients(clients_count, Client(proxy, origin));
    std::vector<Reply> replies;
    for (std::size_t i = 0; i < clients_count; ++i)
        replies.push_back(clients[i].get("/mine", {{"Cookie", "user=" + std::to_string(i)}}));
    auto answer_for = [](HeldExchange const& exchange) {
        return Answer{.fields = {{"Cache-Control", "private, max-age=60"}},
                      .body = exchange.request().head.field("Cookie") + pattern(5000)};
    };
    slow.nth(0).release(answer_for(slow.nth(0)));
    // The others are all at the origin at once: none waits for another.
    slow.arrived(clients_count);
    for (std::size_t i = 1; i < clients_count; ++i) slow.nth(i).release(answer_for(slow.nth(i)));
    for (std::size_t i = 0; i < clients_count; ++i) EXPECT_EQ(replies[i].body(), "user=" + std::to_string(i) + pattern(5000));
    EXPECT_EQ(origin.requests("/mine"), clients_count);
}

TEST(Fills, a_URL_that_was_private_does_not_make_later_clients_wait_for_one_another) {
    Origin origin;
    Proxy proxy;
    origin.answer("/mine", {.fields = {{"Cache-Control", "no-store"}}, .body = "x"});
    get(proxy, origin, "/mine").body();
    auto slow = origin.hold("/mine");
    Client first(proxy, origin), second(proxy, origin);
    auto a = first.get("/mine");
    auto b = second.get("/mine");
    slow.arrived(2);
    slow.nth(0).release(no_store("x"));
    slow.nth(1).release(no_store("y"));
    std::set<std::string> const bodies{a.body(), b.body()};
    EXPECT_EQ(bodies, (std::set<std::string>{"x", "y"}));
}

TEST(Fills, a_follower_whose_variant_differs_fetches_its_own) {
    Origin origin;
    Proxy proxy;
    auto slow = origin.hold("/page");
    Client german(proxy, origin), english(proxy, origin);
    auto de = german.get("/page", {{"Accept-Language", "de"}});
    slow.arrived();
    auto en = english.get("/page", {{"Accept-Language", "en"}});
    pause_for(200ms);
    auto in = [](std::string body) { return fresh(std::move(body), 60, {{"Vary", "Accept-Language"}}); };
    slow.nth(0).release(in("guten Tag"));
    slow.nth(1).release(in("good day"));
    EXPECT_EQ(de.body(), "guten Tag");
    EXPECT_EQ(en.body(), "good day");
}

TEST(Fills, a_request_with_Authorization_never_leads_for_others) {
    Origin origin;
    Proxy proxy;
    auto slow = origin.hold("/page");
    Client user(proxy, origin), stranger(proxy, origin);
    auto a = user.get("/page", {{"Authorization", "Basic dTpw"}});
    slow.arrived();
    auto b = stranger.get("/page");
    slow.arrived(2);
    slow.nth(0).release(fresh("for the user"));
    slow.nth(1).release(fresh("for all"));
    EXPECT_EQ(a.body(), "for the user");
    EXPECT_EQ(b.body(), "for all");
    EXPECT_EQ(get(proxy, origin, "/page").body(), "for all");
}

TEST(Fills, stale_objects_are_revalidated_once_for_all_who_wait) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", {.fields = {{"Cache-Control", "max-age=0, must-revalidate"}, {"ETag", R"("v1")"}}, .body = "old"});
    get(proxy, origin, "/page").body();
    auto slow = origin.hold("/page");
    Client first(proxy, origin), second(proxy, origin);
    auto a = first.get("/page");
    slow.arrived();
    auto b = second.get("/page");
    stays_at(slow, 1);
    slow.release(fresh("new", 600));
    EXPECT_EQ(a.body(), "new");
    EXPECT_EQ(b.body(), "new");
    EXPECT_EQ(origin.requests("/page"), 2u);
}

TEST(Fills, a_purge_during_a_fill_lets_readers_finish_and_keeps_nothing) {
    Origin origin;
    Proxy proxy;
    auto slow = origin.hold("/film");
    Client first(proxy, origin), operator_(proxy, origin);
    auto a = first.get("/film");
    slow.head(fresh(""), 8);
    slow.piece("reel");
    EXPECT_EQ(a.early(4), "reel");
    EXPECT_THAT(operator_.send("PURGE", "/film").status(), AnyOf(200, 204, 404));
    slow.piece("ends");
    slow.finish();
    EXPECT_EQ(a.body(), "reelends");
    origin.answer("/film", fresh("new cut"));
    auto again = get(proxy, origin, "/film");
    EXPECT_EQ(again.body(), "new cut");
    EXPECT_FALSE(again.hit());
}

TEST(Fills, a_follower_that_reads_slowly_does_not_slow_the_others) {
    Origin origin;
    Proxy proxy;
    auto const film = pattern(3'000'000);
    origin.answer("/film", fresh(film));
    Client sleeper(proxy, origin);
    sleeper.receive_buffer(4096);
    auto asleep = sleeper.get("/film");
    EXPECT_EQ(get(proxy, origin, "/film").body(), film);
    EXPECT_EQ(get(proxy, origin, "/film").body(), film);
    EXPECT_EQ(asleep.body(), film);
    EXPECT_EQ(origin.requests("/film"), 1u);
}

TEST(Fills, an_error_of_the_origin_is_told_to_all_who_wait_for_a_cold_url) {
    Origin origin;
    Proxy proxy;
    Client first(proxy, origin), second(proxy, origin);
    auto slow = origin.hold("/page");
    auto a = first.get("/page");
    slow.arrived();
    auto b = second.get("/page");
    stays_at(slow, 1);
    slow.release({.status = 503, .body = "busy"});
    EXPECT_EQ(a.body(), "busy") << "the leader gets the origin's response";
    EXPECT_EQ(b.status(), 503);
    EXPECT_THAT(b.body(), HasSubstr("503"));
    EXPECT_EQ(proxy.stats()["cache"]["failures"], 1) << "requests right after the failure do not repeat the fetch";
    EXPECT_EQ(slow.count(), 1u);

    pause_for(1100ms);
    auto c = first.get("/page");
    slow.nth(1).release(fresh("well"));
    EXPECT_EQ(c.body(), "well");
    EXPECT_TRUE(get(proxy, origin, "/page").hit()) << "the URL is not marked as one that is never shared";
}

TEST(Fills, a_follower_of_a_validation_refuses_an_answer_that_is_older_than_it_takes) {
    Origin origin;
    Proxy proxy(R"({"caching": {"follow_timeout": "1m"}})");
    Client first(proxy, origin), second(proxy, origin), third(proxy, origin);
    origin.answer("/page", {.fields = {{"Cache-Control", "max-age=0"}, {"ETag", R"("v1")"}}, .body = "old"});
    EXPECT_EQ(get(proxy, origin, "/page").body(), "old");
    auto slow = origin.hold("/page");
    auto a = first.get("/page");
    slow.arrived();
    auto b = second.get("/page", {{"Cache-Control", "max-age=1"}});
    auto c = third.get("/page", {{"Cache-Control", "max-age=600"}});
    pause_for(2100ms);
    slow.release({.status = 304, .fields = {{"Cache-Control", "max-age=0"}, {"ETag", R"("v1")"}}});
    EXPECT_EQ(a.body(), "old");
    EXPECT_EQ(c.body(), "old");
    slow.nth(1).release(fresh("new"));
    EXPECT_EQ(b.body(), "new");
}

}   // namespace garner::test
