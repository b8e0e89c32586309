#include "cache/negative.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "cache/cache.hpp"

namespace garner::cache {
namespace {

constexpr NegativeTerms doubling{.first = seconds{5}, .most = seconds{60}};
constexpr milliseconds tick{1};
FetchFailure const refused{502, "refused"};

Key key(std::string_view text) { return {text, fingerprint(text, 7)}; }

TEST(NegativeCache, the_time_doubles_with_each_failure_in_a_row_up_to_the_most) {
    struct Case {
        char const* name;
        NegativeTerms terms;
        std::vector<int> seconds;
    };
    Case const cases[] = {
        {"doubling", doubling, {5, 10, 20, 40, 60, 60}},
        {"flat", {.first = seconds{60}, .most = seconds{60}}, {60, 60, 60}},
        {"the most is less than the first", {.first = seconds{5}, .most = seconds{2}}, {2, 2}},
        {"not at all", {.first = seconds{5}, .most = seconds{0}}, {0, 0}},
    };
    for (auto const& c : cases) {
        NegativeCache failures;
        auto now = steady_now();
        std::uint32_t in_a_row = 0;
        for (int kept : c.seconds) {
            EXPECT_EQ(remembered_for(c.terms, ++in_a_row), seconds{kept}) << c.name;
            failures.remember(key("/a"), refused, false, c.terms, now);
            if (kept > 0) {
                EXPECT_TRUE(failures.find(key("/a"), now + seconds{kept} - tick)) << c.name;
            }
            now += seconds{kept};
            EXPECT_FALSE(failures.find(key("/a"), now)) << c.name << ' ' << kept;
        }
    }
}

TEST(NegativeCache, what_is_known_is_the_failure_and_how_long_it_will_be_remembered) {
    NegativeCache failures;
    auto now = steady_now();
    failures.remember(key("/a"), {504, "The origin did not answer in time."}, false, doubling, now);
    auto known = failures.find(key("/a"), now + seconds{2});
    ASSERT_TRUE(known);
    EXPECT_EQ(known->failure.status, 504);
    EXPECT_EQ(known->failure.reason, "The origin did not answer in time.");
    EXPECT_EQ(known->left, seconds{3});
    EXPECT_FALSE(known->of_head_only);
    EXPECT_FALSE(failures.find(key("/b"), now));
}

TEST(NegativeCache, a_peek_tells_the_same_and_gives_no_place_back) {
    NegativeCache failures;
    auto now = steady_now();
    EXPECT_FALSE(failures.peek(key("/a"), now));
    failures.remember(key("/a"), refused, false, doubling, now);
    auto const known = failures.peek(key("/a"), now + seconds{2});
    ASSERT_TRUE(known);
    EXPECT_EQ(known->left, seconds{3});
    EXPECT_FALSE(failures.peek(key("/a"), now + seconds{3'600}));
    EXPECT_EQ(failures.size(), 1u);
    EXPECT_FALSE(failures.find(key("/a"), now + seconds{3'600}));
    EXPECT_EQ(failures.size(), 0u);
}

TEST(NegativeCache, a_long_reason_is_cut) {
    NegativeCache failures;
    auto now = steady_now();
    failures.remember(key("/a"), {502, std::string(10'000, 'x')}, false, doubling, now);
    EXPECT_EQ(failures.find(key("/a"), now)->failure.reason, std::string(256, 'x'));
}

TEST(NegativeCache, failures_that_were_on_their_way_already_are_none_more_in_a_row) {
    NegativeCache failures;
    auto now = steady_now();
    for (int i = 0; i < 100; ++i) failures.remember(key("/a"), refused, false, doubling, now);
    EXPECT_FALSE(failures.find(key("/a"), now + seconds{5}));
    EXPECT_EQ(failures.size(), 1u);
}

TEST(NegativeCache, a_thousand_failures_in_a_row_do_not_overflow) {
    NegativeCache failures;
    auto now = steady_now();
    for (int i = 0; i < 1'000; ++i) {
        failures.remember(key("/a"), refused, false, doubling, now);
        now += seconds{60};
    }
    failures.remember(key("/a"), refused, false, doubling, now);
    EXPECT_EQ(failures.find(key("/a"), now)->left, seconds{60});
}

TEST(NegativeCache, what_was_over_long_ago_counts_no_more_and_takes_no_place) {
    NegativeCache failures;
    auto now = steady_now();
    failures.remember(key("/a"), refused, false, doubling, now);
    EXPECT_FALSE(failures.find(key("/a"), now + seconds{5 + 60} - tick));
    EXPECT_FALSE(failures.empty());
    now += seconds{5 + 60};
    EXPECT_FALSE(failures.find(key("/a"), now));
    EXPECT_TRUE(failures.empty());
    failures.remember(key("/a"), refused, false, doubling, now);
    EXPECT_EQ(failures.find(key("/a"), now)->left, seconds{5});
}

TEST(NegativeCache, what_was_forgotten_begins_anew) {
    NegativeCache failures;
    auto now = steady_now();
    EXPECT_FALSE(failures.forget(key("/a"), now));
    failures.remember(key("/a"), refused, false, doubling, now);
    failures.remember(key("/b"), refused, false, doubling, now);
    EXPECT_TRUE(failures.forget(key("/a"), now));
    EXPECT_FALSE(failures.find(key("/a"), now));
    EXPECT_TRUE(failures.find(key("/b"), now));
    failures.remember(key("/a"), refused, false, doubling, now);
    EXPECT_EQ(failures.find(key("/a"), now)->left, seconds{5});
    EXPECT_FALSE(failures.forget(key("/b"), now + seconds{5})) << "the entry has expired";
    EXPECT_EQ(failures.size(), 1u);
}

TEST(NegativeCache, what_HEAD_saw_is_marked_until_GET_sees_it_too) {
    NegativeCache failures;
    auto now = steady_now();
    failures.remember(key("/a"), refused, true, doubling, now);
    EXPECT_TRUE(failures.find(key("/a"), now)->of_head_only);
    failures.remember(key("/a"), refused, false, doubling, now);
    EXPECT_FALSE(failures.find(key("/a"), now)->of_head_only);
    failures.remember(key("/a"), refused, true, doubling, now);
    EXPECT_FALSE(failures.find(key("/a"), now)->of_head_only);
    now += seconds{5};
    failures.remember(key("/a"), refused, true, doubling, now);
    EXPECT_TRUE(failures.find(key("/a"), now)->of_head_only);
}

Witness witness(int client, Fingerprint fields = 1) { return {IpAddress::v4(10, 0, 0, static_cast<std::uint8_t>(client)), fields}; }

TEST(NegativeCache, a_failure_of_one_clients_own_request_is_shared_after_a_second_client_has_met_it) {
    NegativeCache failures;
    auto now = steady_now();
    auto met_by = [&](std::optional<Witness> const& by) { return failures.remember(key("/a"), refused, false, doubling, now, by); };
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(met_by(witness(1))) << "repeated requests of one client";
    EXPECT_FALSE(met_by(witness(1, 2))) << "another request of the same client";
    EXPECT_FALSE(failures.find(key("/a"), now));
    now += seconds{5};
    EXPECT_FALSE(met_by(witness(2))) << "the failure of the first client has expired";
    EXPECT_TRUE(met_by(witness(1)));
    EXPECT_EQ(failures.find(key("/a"), now)->only_for, std::nullopt);
    auto const left = failures.find(key("/a"), now)->left;
    now += seconds{1};
    EXPECT_TRUE(met_by(witness(1)));
    EXPECT_EQ(failures.find(key("/a"), now)->left, left - seconds{1}) << "a single client does not prolong the entry";
    EXPECT_TRUE(failures.forget(key("/a"), now));
    EXPECT_FALSE(met_by(witness(1)));
    EXPECT_TRUE(met_by({})) << "a failure that no request could cause";
    EXPECT_TRUE(failures.find(key("/a"), now));
}

TEST(NegativeCache, a_client_that_sends_the_same_request_again_is_told_of_its_own_failure) {
    NegativeCache failures;
    auto const now = steady_now();
    failures.remember(key("/a"), refused, false, doubling, now, witness(1));
    auto const known = failures.find(key("/a"), now, witness(1));
    ASSERT_TRUE(known);
    EXPECT_EQ(known->only_for, witness(1));
    EXPECT_TRUE(failures.peek(key("/a"), now));
    EXPECT_FALSE(failures.find(key("/a"), now, witness(1, 2))) << "another request of the client";
    EXPECT_FALSE(failures.find(key("/a"), now, witness(2))) << "another client";
}

TEST(NegativeCache, the_failures_of_one_client_alone_do_not_lengthen_those_of_all) {
    NegativeCache failures;
    auto now = steady_now();
    auto const met_by = [&](int client) { return failures.remember(key("/a"), refused, false, doubling, now, witness(client)); };
    for (int i = 0; i < 5; ++i) {
        EXPECT_FALSE(met_by(1));
        EXPECT_EQ(failures.find(key("/a"), now, witness(1))->left, seconds{5});
        now += seconds{5};
    }
    // Two clients send request after request while the origin fails.
    for (auto const lasts : {seconds{5}, seconds{10}, seconds{20}}) {
        EXPECT_FALSE(met_by(1));
        EXPECT_TRUE(met_by(2));
        EXPECT_EQ(failures.find(key("/a"), now)->left, lasts);
        now += lasts;
    }
}

TEST(NegativeCache, a_failure_of_head_alone_says_nothing_of_another_clients_get) {
    NegativeCache failures;
    auto const now = steady_now();
    failures.remember(key("/a"), refused, true, doubling, now);
    EXPECT_FALSE(failures.remember(key("/a"), refused, false, doubling, now, witness(1)));
    EXPECT_TRUE(failures.find(key("/a"), now)->of_head_only);
}

TEST(NegativeCache, one_clients_own_failures_displace_none_that_counts_for_all) {
    NegativeCache failures(128);
    auto now = steady_now();
    failures.remember(key("/a"), refused, false, doubling, now);
    for (int i = 0; i < 5'000; ++i)
        failures.remember(key("/" + std::to_string(i)), refused, false, doubling, now + tick, witness(1));
    EXPECT_TRUE(failures.find(key("/a"), now + tick));
}

TEST(NegativeCache, it_never_holds_more_than_its_bound_and_keeps_the_newest) {
    constexpr std::size_t bound = 1'024;
    NegativeCache failures(bound);
    auto now = steady_now();
    for (int i = 0; i < 20'000; ++i) {
        auto text = "/" + std::to_string(i);
        failures.remember(key(text), refused, false, doubling, now);
        ASSERT_TRUE(failures.find(key(text), now)) << i;
        ASSERT_LE(failures.size(), bound);
        now += tick;
    }
    EXPECT_GT(failures.size(), bound / 2);
}

TEST(NegativeCache, keys_of_one_fingerprint_are_told_apart) {
    NegativeCache failures;
    auto now = steady_now();
    failures.remember(Key{"/a", 1}, refused, false, doubling, now);
    EXPECT_FALSE(failures.find(Key{"/b", 1}, now));
    EXPECT_TRUE(failures.find(Key{"/a", 1}, now));
}

TEST(NegativeCache, may_be_used_from_several_threads) {
    NegativeCache failures(256);
    auto now = steady_now();
    auto use = [&](int from) {
        for (int i = 0; i < 2'000; ++i) {
            auto text = "/" + std::to_string((from + i) % 300);
            failures.remember(key(text), refused, false, doubling, now);
            failures.find(key(text), now);
            if (i % 3 == 0) failures.forget(key(text), now);
        }
    };
    std::thread other(use, 150);
    use(0);
    other.join();
    for (int i = 0; i < 300; ++i) failures.forget(key("/" + std::to_string(i)), now);
    EXPECT_TRUE(failures.empty());
}

TEST(NegativeCache, a_purge_forgets_and_says_that_something_was_there) {
    Cache cache(Options{});
    auto const url = cache.key("/a");
    EXPECT_FALSE(cache.purge(url));
    cache.memory().failures().remember(url, refused, false, doubling, steady_now());
    EXPECT_EQ(cache.memory().stats().failures, 1u);
    EXPECT_TRUE(cache.purge(url));
    EXPECT_FALSE(cache.memory().failures().find(url, steady_now()));
    EXPECT_EQ(cache.memory().stats().failures, 0u);
}

}   // namespace
}   // namespace garner::cache
