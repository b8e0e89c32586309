// The parameters of POST /purge, and the lines of garner purge -.
#include "admin/purge_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace garner::admin {
namespace {

using ::testing::HasSubstr;

/// The reason of a refusal; empty: it is accepted.
std::string refusal_of(std::string_view form) {
    auto const order = purge_order_in({}, form);
    if (!order) return order.fault().text();
    if (order->is_for_one_url()) return {};
    auto const what = invalidation_of(*order);
    return what ? std::string() : what.fault().text();
}

}   // namespace

TEST(PurgeOrder, flags_are_0_or_1) {
    for (auto const* form : {"url=http://a.example/&soft=1", "all=1&soft=0", "tag=t&wait=1&group=0", "url=http://a.example/"})
        EXPECT_EQ(refusal_of(form), "") << form;
    EXPECT_THAT(refusal_of("tag=t&soft=2"), HasSubstr("\"soft=2\" is neither 0 nor 1"));
    EXPECT_THAT(refusal_of("all=yes"), HasSubstr("\"all=yes\" is neither 0 nor 1"));
}

TEST(PurgeOrder, one_thing_is_purged) {
    for (auto const* form : {"", "all=0", "soft=1", "wait=1"}) EXPECT_THAT(refusal_of(form), HasSubstr("nothing to purge")) << form;
    EXPECT_THAT(refusal_of("tag=t&all=1"), HasSubstr("more than one thing"));
    EXPECT_THAT(refusal_of("url=http://a.example/&origin=http://a.example/"), HasSubstr("origin is given without a tag"));
    EXPECT_THAT(refusal_of("prefix=http://a.example/x"), HasSubstr("does not end with /"));
}

TEST(PurgeOrder, a_url_alone_is_removed_at_once) {
    EXPECT_TRUE(purge_order_in("url=http://a.example/", {})->is_for_one_url());
    for (auto const* more : {"soft=1", "group=1", "wait=1"})
        EXPECT_FALSE(purge_order_in("url=http://a.example/", more)->is_for_one_url()) << more;
}

}   // namespace garner::admin
