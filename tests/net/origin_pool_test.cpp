// Idle connections: selection and expiry.
#include "net/origin_pool.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <set>
#include <thread>

#include "net/listener.hpp"
#include "net/loop.hpp"

namespace garner::net {
namespace {

struct PoolScene {
    Loop loop;
    PoolOptions options;
    std::deque<Pair> pairs;

    /// A connection and a number that identifies it.
    std::unique_ptr<Transport> connection() {
        auto& pair = pairs.emplace_back(loop.io, loop.wheel);
        return std::move(pair.ours);
    }
    static bool is_closed(Pair const& pair) {
        char byte;
        return ::recv(pair.theirs, &byte, 1, MSG_DONTWAIT) == 0;
    }
};

TEST(OriginPool, keeps_no_connection_of_one_client) {
    PoolScene scene;
    OriginPool pool(scene.options);
    pool.give("", scene.connection());
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_EQ(pool.take(""), nullptr);
    EXPECT_TRUE(PoolScene::is_closed(scene.pairs.back()));
}

TEST(OriginPool, what_was_given_last_is_taken_first) {
    PoolScene scene;
    OriginPool pool(scene.options);
    EXPECT_EQ(pool.take("a"), nullptr);
    auto first = scene.connection(), second = scene.connection();
    auto *first_is = first.get(), *second_is = second.get();
    pool.give("a", std::move(first));
    pool.give("a", std::move(second));
    EXPECT_EQ(pool.size(), 2u);
    EXPECT_EQ(pool.take("b"), nullptr);
    auto one = pool.take("a");
    EXPECT_EQ(one.get(), second_is);
    auto two = pool.take("a");
    EXPECT_EQ(two.get(), first_is);
    EXPECT_EQ(pool.take("a"), nullptr);
    EXPECT_EQ(pool.size(), 0u);
}

TEST(OriginPool, the_oldest_of_all_are_closed_where_descriptors_are_needed) {
    PoolScene scene;
    OriginPool pool(scene.options);
    for (char const* key : {"a", "b", "a"}) pool.give(key, scene.connection());
    EXPECT_EQ(pool.close_oldest(2), 2u);
    EXPECT_TRUE(scene.is_closed(scene.pairs[0]));
    EXPECT_TRUE(scene.is_closed(scene.pairs[1]));
    EXPECT_NE(pool.take("a"), nullptr);
    EXPECT_EQ(pool.close_oldest(2), 0u);
}

TEST(OriginPool, those_the_peer_has_closed_are_passed_over) {
    PoolScene scene;
    OriginPool pool(scene.options);
    auto alive = scene.connection();
    auto* alive_is = alive.get();
    pool.give("a", std::move(alive));
    pool.give("a", scene.connection());
    pool.give("a", scene.connection());
    ::shutdown(scene.pairs[1].theirs, SHUT_WR);
    EXPECT_EQ(::send(scene.pairs[2].theirs, "x", 1, 0), 1);
    auto taken = pool.take("a");
    EXPECT_EQ(taken.get(), alive_is);
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_TRUE(PoolScene::is_closed(scene.pairs[1]));
}

TEST(OriginPool, the_oldest_goes_when_an_origin_or_the_pool_is_full) {
    PoolScene scene;
    scene.options.idle_per_origin = 2;
    scene.options.idle_total = 3;
    OriginPool pool(scene.options);
    for (int i = 0; i < 3; ++i) pool.give("a", scene.connection());
    EXPECT_EQ(pool.size(), 2u);
    EXPECT_TRUE(PoolScene::is_closed(scene.pairs[0]));
    pool.give("b", scene.connection());
    pool.give("c", scene.connection());
    EXPECT_EQ(pool.size(), 3u);
    EXPECT_TRUE(PoolScene::is_closed(scene.pairs[1]));
    EXPECT_FALSE(PoolScene::is_closed(scene.pairs[2]));
    pool.give("c", scene.connection());
    EXPECT_EQ(pool.take("a"), nullptr);
}

TEST(OriginPool, a_pool_of_none_keeps_none) {
    PoolScene scene;
    scene.options.idle_per_origin = 0;
    OriginPool pool(scene.options);
    pool.give("a", scene.connection());
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_TRUE(PoolScene::is_closed(scene.pairs[0]));
}

TEST(OriginPool, what_idles_too_long_is_closed) {
    PoolScene scene;
    OriginPool pool(scene.options);
    pool.give("a", scene.connection());
    pool.give("b", scene.connection());
    pool.sweep();
    EXPECT_EQ(pool.size(), 2u);
    pool.sweep(steady_now() + scene.options.idle_timeout);
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_TRUE(PoolScene::is_closed(scene.pairs[0]));
    EXPECT_EQ(pool.take("a"), nullptr);
    pool.give("a", scene.connection());
    pool.clear();
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_TRUE(PoolScene::is_closed(scene.pairs[2]));
}

TEST(OriginPool, no_connection_is_taken_that_the_origin_may_close_at_any_moment) {
    PoolScene scene;
    OriginPool pool(scene.options);
    pool.give("a", scene.connection(), milliseconds{0});
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_TRUE(PoolScene::is_closed(scene.pairs[0]));
    pool.give("a", scene.connection(), seconds{60});
    pool.give("a", scene.connection(), milliseconds{5});
    std::this_thread::sleep_for(milliseconds{20});
    SteadyTime since{};
    auto const taken = pool.take("a", milliseconds::max(), &since);
    EXPECT_NE(taken, nullptr) << "the one of 60 s";
    EXPECT_GE(steady_now() - since, milliseconds{20});
    EXPECT_TRUE(PoolScene::is_closed(scene.pairs[2]));
    EXPECT_FALSE(PoolScene::is_closed(scene.pairs[1]));
}

TEST(OriginPool, a_connection_that_idles_too_long_for_one_request_stays_for_others) {
    PoolScene scene;
    OriginPool pool(scene.options);
    pool.give("a", scene.connection());
    std::this_thread::sleep_for(milliseconds{20});
    EXPECT_EQ(pool.take("a", milliseconds{5}), nullptr);
    EXPECT_EQ(pool.size(), 1u);
    EXPECT_NE(pool.take("a"), nullptr);
}

TEST(OriginPool, learns_after_which_time_an_origin_closes_idle_connections) {
    PoolScene scene;
    OriginPool pool(scene.options);
    auto const now = steady_now();
    auto const is_kept = [&](std::string_view key) {
        pool.give(key, scene.connection());
        return pool.take(key) != nullptr;
    };
    pool.note_closed("a", milliseconds{900}, now);
    pool.note_closed("a", milliseconds{300}, now + milliseconds{100});
    EXPECT_TRUE(is_kept("a")) << "one event, such as a restart";
    pool.note_closed("a", milliseconds{800}, now + seconds{2});
    EXPECT_FALSE(is_kept("a")) << "the second before the longer of both is over at once";
    EXPECT_TRUE(is_kept("b"));
    pool.note_closed("a", milliseconds{5'000}, now + seconds{4});
    EXPECT_TRUE(is_kept("a")) << "the origin's limit is longer now";
    pool.note_closed("c", milliseconds{500}, now - seconds{1'000});
    pool.note_closed("c", milliseconds{500}, now - seconds{900});
    EXPECT_TRUE(is_kept("c")) << "long ago";
}

TEST(OriginPool, many_origins_come_and_go) {
    PoolScene scene;
    scene.options.idle_total = 20;
    OriginPool pool(scene.options);
    for (int i = 0; i < 100; ++i) pool.give("origin " + std::to_string(i), scene.connection());
    EXPECT_EQ(pool.size(), 20u);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(pool.take("origin " + std::to_string(i)) != nullptr, i >= 80) << i;
}

TEST(PoolKey, every_part_tells_connections_apart) {
    std::string buffer, other;
    PoolKey const base{.tls = 0, .host = "Example.COM", .port = 80, .peer = "", .peer_tls = 0, .server_name = ""};
    auto text = std::string(pool_key(base, buffer));
    EXPECT_EQ(pool_key({.host = "example.com"}, other), text);
    PoolKey const different[] = {
        {.tls = 1, .host = "example.com", .port = 80},
        {.tls = 2, .host = "example.com", .port = 80},
        {.host = "example.org", .port = 80},
        {.host = "example.com", .port = 8080},
        {.host = "example.com", .port = 80, .peer = "campus"},
        {.host = "example.com", .port = 80, .peer = "campus", .peer_tls = 1},
        {.host = "example.com", .port = 80, .server_name = "campus"},
    };
    std::set<std::string> texts{text};
    for (auto const& key : different) texts.insert(std::string(pool_key(key, other)));
    EXPECT_EQ(texts.size(), 1 + std::size(different));
}

TEST(OriginPool, new_options_close_the_oldest_beyond_them) {
    PoolScene scene;
    OriginPool pool(scene.options);
    for (char const* key : {"a", "a", "a", "b", "b"}) pool.give(key, scene.connection());
    pool.reconfigure({.idle_per_origin = 2, .idle_total = 3});
    EXPECT_EQ(pool.size(), 3u);
    EXPECT_TRUE(scene.is_closed(scene.pairs[0])) << "too many of one origin";
    EXPECT_TRUE(scene.is_closed(scene.pairs[1])) << "too many in total";
    pool.reconfigure({.idle_per_origin = 0});
    EXPECT_EQ(pool.size(), 0u);
    pool.give("a", scene.connection());
    EXPECT_EQ(pool.size(), 0u);
    pool.reconfigure({});
    pool.give("a", scene.connection());
    EXPECT_EQ(pool.size(), 1u);
}

TEST(OriginPool, connections_of_one_TLS_context_are_closed) {
    PoolScene scene;
    OriginPool pool(scene.options);
    auto const key = [](std::uint64_t tls, std::string_view host) {
        std::string buffer;
        return std::string(pool_key({.tls = tls, .host = host}, buffer));
    };
    for (auto const& one : {key(1, "a"), key(1, "a"), key(1, "b"), key(0, "a"), key(11, "a")}) pool.give(one, scene.connection());
    pool.close_secure(1);
    EXPECT_EQ(pool.size(), 2u);
    EXPECT_EQ(pool.take(key(1, "a")), nullptr);
    EXPECT_NE(pool.take(key(0, "a")), nullptr);
    EXPECT_NE(pool.take(key(11, "a")), nullptr);
}

}   // namespace
}   // namespace garner::net
