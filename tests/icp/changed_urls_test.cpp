#include "icp/changed_urls.hpp"

#include <gtest/gtest.h>

#include <string>

namespace garner::icp {
namespace {

TEST(ChangedUrls, are_marked_until_that_mark_is_taken_back_or_over) {
    ChangedUrls changed;
    SteadyTime const now{std::chrono::hours{1}};
    EXPECT_FALSE(changed.has("http://a/", now));
    auto const first = changed.mark("http://a/", now);
    EXPECT_TRUE(changed.has("http://a/", now));
    EXPECT_FALSE(changed.has("http://b/", now));
    auto const second = changed.mark("http://a/", now);
    changed.unmark("http://a/", first);
    EXPECT_TRUE(changed.has("http://a/", now)) << "the second mark is still there";
    changed.unmark("http://a/", second);
    EXPECT_FALSE(changed.has("http://a/", now));
    changed.mark("http://a/", now);
    EXPECT_FALSE(changed.has("http://a/", now + ChangedUrls::lasts));
}

TEST(ChangedUrls, are_bounded_and_the_oldest_go_first) {
    ChangedUrls changed;
    SteadyTime const now{std::chrono::hours{1}};
    for (std::size_t i = 0; i < 2 * ChangedUrls::marks_max; ++i) changed.mark("http://a/" + std::to_string(i), now);
    std::size_t held = 0;
    for (std::size_t i = 0; i < 2 * ChangedUrls::marks_max; ++i) held += changed.has("http://a/" + std::to_string(i), now);
    EXPECT_LE(held, ChangedUrls::marks_max);
    EXPECT_GT(held, ChangedUrls::marks_max * 9 / 10);
    EXPECT_TRUE(changed.has("http://a/" + std::to_string(2 * ChangedUrls::marks_max - 1), now));
}

}   // namespace
}   // namespace garner::icp
