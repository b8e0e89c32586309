#include "http/cache_control.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/heads.hpp"

namespace garner::http {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Seconds = std::optional<DeltaSeconds>;
constexpr Seconds none;

ResponseCacheControl of_response(std::string_view value) {
    return parse_response_cache_control(fields({{"Cache-Control", value}}));
}

RequestCacheControl of_request(std::string_view value) { return parse_request_cache_control(fields({{"Cache-Control", value}})); }

TEST(CacheControl, a_number_of_seconds_is_digits_and_clamps_at_2_to_the_31) {
    struct Case {
        std::string_view text;
        Seconds value;
    };
    Case const cases[] = {
        {"0", 0},
        {"10", 10},
        {"003600", 3600},
        {"2147483647", 2147483647},
        {"2147483648", 2147483648},
        {"2147483649", 2147483648},
        {"4294967296", 2147483648},
        {"4294967297", 2147483648},
        {"99999999999", 2147483648},
        {"99999999999999999999999999999", 2147483648},
        {"", none},
        {"-1", none},
        {"+1", none},
        {"1.0", none},
        {"1a", none},
        {" 1", none},
        {"0x10", none},
        {"\"1\"", none},
    };
    for (auto const& c : cases) EXPECT_EQ(parse_delta_seconds(c.text), c.value) << c.text;
}

TEST(CacheControl, max_age_of_a_response) {
    struct Case {
        std::string_view text;
        Seconds max_age;
    };
    Case const cases[] = {
        {"max-age=3600", 3600},
        {"MaX-aGe=3600", 3600},
        {"max-age=\"3600\"", 3600},
        {"foobar, max-age=3600", 3600},
        {"foobar=\"x, y\", max-age=3600", 3600},
        {",, max-age=3600 ,", 3600},
        {"extension=\"max-age=3600\", max-age=1", 1},
        {"max-age=1, extension=\"max-age=3600\"", 1},
        {"extension=\"\\\", max-age=3600\"", none},
        {"max-age=1800, max-age=1", 1},
        {"max-age=1, max-age=1800", 1},
        {"max-age=99999999999", delta_seconds_max},
        {"max-age=-3600", 0},
        {"max-age=3600.0", 0},
        {"max-age=a3600", 0},
        {"max-age=3600a", 0},
        {"max-age='3600'", 0},
        {"max-age =3600", 0},
        {"max-age= 3600", 0},
        {"max-age", 0},
        {"max-age=", 0},
        {"max-age=\"3600", 0},
        {"max-age=3600, max-age=x", 0},
        {"xmax-age=3600", none},
        {"", none},
    };
    for (auto const& c : cases) EXPECT_EQ(of_response(c.text).max_age, c.max_age) << c.text;
    EXPECT_EQ(parse_response_cache_control(fields({{"Cache-Control", "max-age=9"}, {"cache-control", "max-age=5"}})).max_age, 5u);
}

TEST(CacheControl, every_directive_of_a_response_is_read) {
    auto const control =
        of_response("No-Store, PUBLIC, must-revalidate, proxy-revalidate, must-understand, immutable, no-transform, s-maxage=7, "
                    "stale-while-revalidate=8, stale-if-error=\"9\", private, no-cache");
    EXPECT_TRUE(control.no_store && control.public_ && control.must_revalidate && control.proxy_revalidate);
    EXPECT_TRUE(control.must_understand && control.immutable && control.no_transform);
    EXPECT_TRUE(control.private_ && control.no_cache);
    EXPECT_FALSE(control.targeted);
    EXPECT_EQ(control.s_maxage, 7u);
    EXPECT_EQ(control.stale_while_revalidate, 8u);
    EXPECT_EQ(control.stale_if_error, 9u);
    EXPECT_EQ(of_response("stale-while-revalidate=x, stale-if-error").stale_while_revalidate, none);
    EXPECT_EQ(of_response("s-maxage=x").s_maxage, 0u);
}

TEST(CacheControl, prohibitions_hold_in_spite_of_sloppy_arguments) {
    EXPECT_TRUE(of_response("no-store=1").no_store);
    EXPECT_TRUE(of_response("no-store =").no_store);
    EXPECT_TRUE(of_response("must-revalidate=\"x\"").must_revalidate);
    EXPECT_FALSE(of_response("no-stores").no_store);
    EXPECT_FALSE(of_response("x=\"no-store\"").no_store);
}

TEST(CacheControl, qualified_no_cache_and_private_name_fields) {
    auto control = of_response("no-cache=\"Set-Cookie, X-A\", private=\"x-b\", no-cache=\"x-c\"");
    EXPECT_FALSE(control.no_cache);
    EXPECT_FALSE(control.private_);
    EXPECT_THAT(control.no_cache_fields, ElementsAre("Set-Cookie", "X-A", "x-c"));
    EXPECT_THAT(control.private_fields, ElementsAre("x-b"));
    EXPECT_FALSE(control.keeps_field("set-cookie"));
    EXPECT_FALSE(control.keeps_field("X-B"));
    EXPECT_TRUE(control.keeps_field("x-d"));
    EXPECT_THAT(of_response("private=x-a").private_fields, ElementsAre("x-a"));

    // A malformed list of names applies to the whole response.
    for (auto text : {"no-cache=\"\"", "no-cache=", "no-cache=\"a b\"", "no-cache=\"a", "no-cache, no-cache=\"a\"",
                      "no-cache=\"a, :\"", "no-cache =\"a\""})
        EXPECT_TRUE(of_response(text).no_cache) << text;

    std::string many = "private=\"a";
    for (int i = 0; i < 100; ++i) many += ",a" + std::to_string(i);
    control = of_response(many + "\"");
    EXPECT_TRUE(control.private_);
    EXPECT_THAT(control.private_fields, IsEmpty());
}

TEST(CacheControl, directives_of_a_request) {
    auto const control =
        of_request("no-store, only-if-cached, no-transform, max-age=\"5\", min-fresh=6, max-stale=7, stale-if-error=8");
    EXPECT_TRUE(control.no_store && control.only_if_cached && control.no_transform);
    EXPECT_FALSE(control.no_cache || control.any_stale);
    EXPECT_EQ(control.max_age, 5u);
    EXPECT_EQ(control.min_fresh, 6u);
    EXPECT_EQ(control.max_stale, 7u);
    EXPECT_EQ(control.stale_if_error, 8u);

    EXPECT_TRUE(of_request("max-stale").any_stale);
    EXPECT_FALSE(of_request("max-stale=x").any_stale);
    EXPECT_EQ(of_request("max-stale=x").max_stale, none);
    EXPECT_EQ(of_request("max-stale=9, max-stale=3").max_stale, 3u);
    EXPECT_EQ(of_request("min-fresh=9, min-fresh=3").min_fresh, 9u);
    EXPECT_TRUE(of_request("max-age=x").no_cache);
    EXPECT_TRUE(of_request("min-fresh=-1").no_cache);
    EXPECT_TRUE(of_request("NO-CACHE").no_cache);
}

TEST(CacheControl, pragma_counts_only_without_cache_control) {
    EXPECT_TRUE(parse_request_cache_control(fields({{"Pragma", "no-cache"}})).no_cache);
    EXPECT_TRUE(parse_request_cache_control(fields({{"Pragma", "x, No-Cache"}})).no_cache);
    EXPECT_FALSE(parse_request_cache_control(fields({{"Pragma", "x"}})).no_cache);
    EXPECT_FALSE(parse_request_cache_control(fields({{"Pragma", "no-cache"}, {"Cache-Control", "max-stale"}})).no_cache);
    EXPECT_FALSE(parse_request_cache_control(fields({{"Pragma", "no-cache"}, {"Cache-Control", ""}})).no_cache);
    EXPECT_FALSE(parse_response_cache_control(fields({{"Pragma", "no-cache"}})).no_cache);
}

TEST(CacheControl, a_targeted_field_is_read_strictly) {
    struct Case {
        std::string_view text;
        bool valid;
        Seconds max_age;
    };
    Case const cases[] = {
        {"max-age=3600", true, 3600},
        {"max-age=2147483648", true, delta_seconds_max},
        {"max-age=99999999999", true, delta_seconds_max},
        {"max-age=-5", true, 0},
        {"foobar, max-age=3600", true, 3600},
        {"foobar=(1 2), max-age=3600;x=1", true, 3600},
        {"max-age=1, max-age=2", true, 2},
        {"no-store", true, none},
        {"max-age=\"10000\"", false, none},
        {"max-age=1.5", false, none},
        {"max-age", false, none},
        {"no-store=1", false, none},
        {"no-cache=token", false, none},
        {"MaX-aGe=3600", false, none},
        {"max-age =100", false, none},
        {"max-age= 100", false, none},
        {"max-age=10000, &&&&&", false, none},
        {"", false, none},
    };
    for (auto const& c : cases) {
        auto const lines = fields({{"CDN-Cache-Control", c.text}});
        auto const control = parse_targeted_cache_control(lines, "cdn-cache-control");
        ASSERT_EQ(control.has_value(), c.valid) << c.text;
        if (!control) continue;
        EXPECT_EQ(control->max_age, c.max_age) << c.text;
        EXPECT_TRUE(control->targeted);
    }
    EXPECT_FALSE(parse_targeted_cache_control(fields({}), "cdn-cache-control"));

    auto const lines = fields({{"X", "no-store=?0, public, no-cache=\"a, b\", private, s-maxage=1, stale-if-error=2"}});
    auto const control = parse_targeted_cache_control(lines, "x");
    ASSERT_TRUE(control);
    EXPECT_FALSE(control->no_store || control->no_cache);
    EXPECT_TRUE(control->public_ && control->private_);
    EXPECT_THAT(control->no_cache_fields, ElementsAre("a", "b"));
    EXPECT_EQ(control->s_maxage, 1u);
    EXPECT_EQ(control->stale_if_error, 2u);
}

TEST(CacheControl, the_first_usable_targeted_field_hides_cache_control) {
    std::string_view const targets[] = {"Garner-Cache-Control", "CDN-Cache-Control"};
    auto const max_age = [&](Lines lines) {
        auto const head = fields(lines);
        return parse_response_cache_control(head, targets).max_age;
    };
    EXPECT_EQ(max_age({{"Cache-Control", "max-age=1"}}), 1u);
    EXPECT_EQ(max_age({{"Cache-Control", "max-age=1"}, {"CDN-Cache-Control", "max-age=2"}}), 2u);
    EXPECT_EQ(max_age({{"CDN-Cache-Control", "max-age=2"}, {"Garner-Cache-Control", "max-age=3"}}), 3u);
    EXPECT_EQ(max_age({{"CDN-Cache-Control", "max-age=2"}, {"Garner-Cache-Control", "max-age=a3"}}), 2u);
    EXPECT_EQ(max_age({{"Cache-Control", "max-age=1"}, {"CDN-Cache-Control", "max-age=\"2\""}}), 1u);
    EXPECT_EQ(max_age({{"Cache-Control", "max-age=1"}, {"CDN-Cache-Control", "no-store"}}), none);
    auto const head = fields({{"Cache-Control", "no-store"}, {"CDN-Cache-Control", "max-age=2"}});
    EXPECT_FALSE(parse_response_cache_control(head, targets).no_store);
    EXPECT_TRUE(parse_response_cache_control(head, {}).no_store);
}

TEST(CacheControl, a_reload_can_be_forgotten) {
    struct Case {
        std::string_view asked;
        bool reload;
    };
    Case const cases[] = {{"no-cache", true},   {"max-age=0", true}, {"max-age=0, no-cache", true}, {"max-age=x", true},
                          {"max-age=1", false}, {"no-store", false}, {"min-fresh=9", false},        {"", false}};
    for (auto const& c : cases) {
        auto control = parse_request_cache_control(fields({{"Cache-Control", c.asked}}));
        EXPECT_EQ(control.is_reload(), c.reload) << c.asked;
        control.forget_reload();
        EXPECT_FALSE(control.is_reload()) << c.asked;
    }
    auto by_pragma = parse_request_cache_control(fields({{"Pragma", "no-cache"}}));
    EXPECT_TRUE(by_pragma.is_reload());
    auto aged = parse_request_cache_control(fields({{"Cache-Control", "no-cache, max-age=5"}}));
    aged.forget_reload();
    EXPECT_EQ(aged.max_age, 5u);
}

}   // namespace
}   // namespace garner::http
