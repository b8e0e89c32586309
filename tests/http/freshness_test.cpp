#include "http/freshness.hpp"

#include <gtest/gtest.h>

#include "http/heads.hpp"

namespace garner::http {
namespace {

Terms terms(ResponseHead const& head, FreshnessOptions const& options = {}) { return terms_of(head, test_now, test_now, options); }

Terms terms(std::string_view cache_control) { return terms(response(200, {{"Cache-Control", cache_control}})); }

RequestCacheControl asks(std::string_view cache_control) {
    return parse_request_cache_control(fields({{"Cache-Control", cache_control}}));
}

TEST(Freshness, age_takes_the_first_value_and_ignores_what_is_no_number) {
    struct Case {
        std::string_view age;
        DeltaSeconds initial_age;
    };
    Case const cases[] = {
        {"0", 0},
        {"7200", 7200},
        {"7200, 0", 7200},
        {"0, 7200", 0},
        {"2147483647", 2147483647},
        {"2147483648", 2147483648},
        {"99999999999", 2147483648},
        {"abc", 0},
        {"-7200", 0},
        {"7200.0", 0},
        {"7200;foo=bar", 0},
        {"", 0},
    };
    for (auto const& c : cases)
        EXPECT_EQ(terms(response(200, {{"Date", date(0)}, {"Age", c.age}})).initial_age, c.initial_age) << c.age;
    EXPECT_EQ(terms(response(200, {{"Age", "7200"}, {"Age", "0"}})).initial_age, 7200u);
    EXPECT_EQ(terms(response(200, {{"Age", "0"}, {"Age", "7200"}})).initial_age, 0u);
}

TEST(Freshness, initial_age_is_the_larger_of_what_age_and_date_say) {
    auto const by_age = response(200, {{"Date", date(-10)}, {"Age", "25"}});
    EXPECT_EQ(terms(by_age).initial_age, 25u);
    auto const by_date = response(200, {{"Date", date(-100)}, {"Age", "25"}});
    EXPECT_EQ(terms(by_date).initial_age, 100u);
    auto const fast = response(200, {{"Date", date(100)}});
    EXPECT_EQ(terms(fast).initial_age, 0u);
    // The response may have aged during the whole transfer (RFC 9111 4.2.3).
    EXPECT_EQ(terms_of(by_age, later(-5), test_now, {}).initial_age, 30u);
    EXPECT_EQ(terms_of(by_age, test_now - milliseconds(900), test_now, {}).initial_age, 25u);
    EXPECT_EQ(terms_of(by_age, later(5), test_now, {}).initial_age, 25u);
}

TEST(Freshness, lifetime_of_explicit_responses) {
    struct Case {
        char const* name;
        ResponseHead head;
        DeltaSeconds lifetime;
    };
    auto const D = Field{"Date", date(0)};
    Case const cases[] = {
        {"max-age", response(200, {{"Cache-Control", "max-age=10"}}), 10},
        {"s-maxage over max-age", response(200, {{"Cache-Control", "max-age=10, s-maxage=5"}}), 5},
        {"longer s-maxage", response(200, {{"Cache-Control", "s-maxage=50"}, {"Cache-Control", "max-age=1"}}), 50},
        {"s-maxage over all", response(200, {{"Expires", date(-10)}, {"Cache-Control", "max-age=0, s-maxage=9"}}), 9},
        {"max-age over past Expires", response(200, {{"Cache-Control", "max-age=10"}, {"Expires", date(-99)}, D}), 10},
        {"max-age over bad Expires", response(200, {{"Cache-Control", "max-age=10"}, {"Expires", "0"}, D}), 10},
        {"max-age=0", response(200, {{"Cache-Control", "max-age=0"}, {"Expires", date(99)}, D}), 0},
        {"Expires", response(200, {{"Expires", date(30)}, D}), 30},
        {"Expires minus Date", response(200, {{"Expires", date(30)}, {"Date", date(-100)}}), 130},
        {"Expires before Date", response(200, {{"Expires", date(300)}, {"Date", date(400)}}), 0},
        {"Expires without Date", response(200, {{"Expires", date(30)}}), 30},
        {"Expires with bad Date", response(200, {{"Expires", date(30)}, {"Date", "foo"}}), 30},
        {"Expires with two Dates", response(200, {{"Expires", date(30)}, D, D}), 30},
        {"present Expires", response(200, {{"Expires", date(0)}, D}), 0},
        {"bad Expires", response(200, {{"Expires", "0"}, D, {"Last-Modified", date(-1000)}}), 0},
        {"empty Expires", response(200, {{"Expires", ""}, D}), 0},
        {"two Expires", response(200, {{"Expires", date(30)}, {"Expires", date(30)}, D}), 0},
        {"far Expires", response(200, {{"Expires", "Fri, 31 Dec 9999 23:59:59 GMT"}, D}), delta_seconds_max},
        {"bad max-age", response(200, {{"Cache-Control", "max-age=x"}, {"Expires", date(30)}, D}), 0},
        {"status 599", response(599, {{"Cache-Control", "max-age=10"}}), 10},
    };
    for (auto const& c : cases) {
        auto const t = terms(c.head);
        EXPECT_EQ(t.lifetime, c.lifetime) << c.name;
        EXPECT_TRUE(t.explicit_lifetime) << c.name;
        EXPECT_FALSE(t.heuristic) << c.name;
    }
}

TEST(Freshness, a_lifetime_tells_where_it_comes_from) {
    auto const D = Field{"Date", date(0)};
    auto const source = [](ResponseHead const& head, FreshnessOptions const& options = {}) {
        return std::string(text(terms(head, options).source));
    };
    EXPECT_EQ(source(response(200, {{"Cache-Control", "max-age=10, s-maxage=5"}})), "s-maxage");
    EXPECT_EQ(source(response(200, {{"Cache-Control", "max-age=10"}, {"Expires", date(30)}, D})), "max-age");
    EXPECT_EQ(source(response(200, {{"Expires", date(30)}, D})), "Expires minus Date");
    EXPECT_EQ(source(response(200, {{"Last-Modified", date(-1000)}, D})), "a share of the time since Last-Modified");
    EXPECT_EQ(source(response(200, {D})), "nothing");
    EXPECT_EQ(source(response(200, {D}), {.default_ttl = 5}), "rule: default_ttl");
    EXPECT_EQ(source(response(404, {D}), {.negative_ttl = 5}), "rule: negative_ttl");
    EXPECT_EQ(source(response(200, {{"Cache-Control", "max-age=10"}}), {.ttl_min = 20}), "rule: ttl_min");
    EXPECT_EQ(source(response(200, {{"Cache-Control", "max-age=10"}}), {.ttl_min = 10}), "max-age");
    EXPECT_EQ(source(response(200, {{"Cache-Control", "max-age=10"}}), {.ttl_max = 5}), "rule: ttl_max");
    auto const both = [&](char const* control) {
        auto const got = terms(response(200, {{"Cache-Control", control}}), {.ttl_min = 20, .ttl_max = 5});
        EXPECT_EQ(got.lifetime, 5u) << control;
        return std::string_view(text(got.source));
    };
    EXPECT_EQ(both("max-age=10"), "rule: ttl_max");
    EXPECT_EQ(both("max-age=1"), "rule: ttl_min") << "ttl_min applies although the origin's lifetime is shorter";
    EXPECT_EQ(terms(response(200, {{"Cache-Control", "max-age=10"}, {"Age", "3, 7"}, D})).age_value, 3u);
}

TEST(Freshness, heuristics_take_a_tenth_where_the_status_allows) {
    struct Case {
        std::uint16_t status;
        std::string_view control;
        std::int64_t modified;
        DeltaSeconds lifetime;
    };
    // clang-format off
    Case const cases[] = {
        {200, "", -1000, 100},   {203, "", -1000, 100},       {204, "", -1000, 100},
        {206, "", -1000, 100},   {300, "", -1000, 60},        {301, "", -1000, 60},
        {308, "", -1000, 60},    {404, "", -1000, 5},         {405, "", -1000, 5},
        {410, "", -1000, 5},     {414, "", -1000, 5},         {501, "", -1000, 5},
        {201, "", -1000, 0},     {202, "", -1000, 0},         {302, "", -1000, 0},
        {403, "", -1000, 0},     {502, "", -1000, 0},         {503, "", -1000, 0},
        {504, "", -1000, 0},     {599, "", -1000, 0},         {599, "public", -1000, 5},
        {200, "", -5, 0},        {200, "", 0, 0},             {200, "", 1000, 0},
        {200, "", -1 << 30, 86400}, {200, "must-revalidate", -1000, 100},
    };
    // clang-format on
    for (auto const& c : cases) {
        auto const head =
            response(c.status, {{"Date", date(0)}, {"Last-Modified", date(c.modified)}, {"Cache-Control", c.control}});
        EXPECT_EQ(terms(head).lifetime, c.lifetime) << c.status << ' ' << c.control << ' ' << c.modified;
        EXPECT_FALSE(terms(head).explicit_lifetime);
    }
    auto const head = response(200, {{"Date", date(0)}, {"Last-Modified", date(-1000)}});
    EXPECT_TRUE(terms(head).heuristic);
    EXPECT_EQ(terms(head, {.heuristic_factor = 0.5}).lifetime, 500u);
    EXPECT_EQ(terms(head, {.heuristic_factor = 0}).lifetime, 0u);
    EXPECT_EQ(terms(head, {.heuristic_max = 50}).lifetime, 50u);
}

TEST(Freshness, errors_that_say_nothing_get_the_operators_negative_ttl) {
    struct Case {
        char const* name;
        ResponseHead head;
        DeltaSeconds lifetime;
        bool negative;
        RuleOverride rule_override = RuleOverride::none;
    };
    auto const modified = date(-1000);
    auto const departs = RuleOverride::negative_ttl;
    Case const cases[] = {
        {"404", response(404, {}), 7, true},
        {"403", response(403, {}), 7, true, departs},
        {"503", response(503, {}), 7, true, departs},
        {"503 public", response(503, {{"Cache-Control", "public"}}), 7, true},
        {"404 that heuristics would keep longer", response(404, {{"Date", date(0)}, {"Last-Modified", modified}}), 7, true},
        {"404 public", response(404, {{"Cache-Control", "public"}}), 7, true},
        {"404 max-age", response(404, {{"Cache-Control", "max-age=60"}}), 60, false},
        {"503 max-age=0", response(503, {{"Cache-Control", "max-age=0"}}), 0, false},
        {"503 Expires", response(503, {{"Date", date(0)}, {"Expires", date(30)}}), 30, false},
        {"401 is a challenge", response(401, {}), 0, false},
        {"412 is about a precondition", response(412, {}), 0, false},
        {"200", response(200, {{"Date", date(0)}, {"Last-Modified", modified}}), 100, false},
        {"302", response(302, {}), 0, false},
    };
    for (auto const& c : cases) {
        auto const t = terms(c.head, {.negative_ttl = 7});
        EXPECT_EQ(t.lifetime, c.lifetime) << c.name;
        EXPECT_EQ(t.negative, c.negative) << c.name;
        EXPECT_EQ(t.rule_override, c.rule_override) << c.name;
    }
    EXPECT_FALSE(terms(response(404, {})).negative);
    EXPECT_EQ(terms(response(404, {{"Date", date(0)}, {"Last-Modified", modified}}), {.negative_ttl = 0}).lifetime, 0u);
    EXPECT_EQ(terms(response(404, {}), {.negative_ttl = 7}).stale_limit, 0u) << "an old error hides no new one";
}

TEST(Freshness, the_operator_may_give_and_bound_lifetimes) {
    auto const silent = response(200, {});
    EXPECT_EQ(terms(silent).lifetime, 0u);
    EXPECT_EQ(terms(silent, {.default_ttl = 60}).lifetime, 60u);
    EXPECT_FALSE(terms(silent, {.default_ttl = 60}).heuristic);
    EXPECT_EQ(terms(response(302, {}), {.default_ttl = 60}).lifetime, 0u);
    auto const said = response(200, {{"Cache-Control", "max-age=10"}});
    EXPECT_EQ(terms(said, {.default_ttl = 60}).lifetime, 10u);
    EXPECT_EQ(terms(said, {.ttl_min = 20}).lifetime, 20u);
    EXPECT_EQ(terms(said, {.ttl_max = 5}).lifetime, 5u);
}

TEST(Freshness, a_departure_from_what_the_origin_allows_is_noted) {
    struct Case {
        char const* name;
        ResponseHead answer;
        FreshnessOptions options;
        std::string_view said;
    };
    auto const silent = response(200, {});
    auto const tagged = response(200, {{"ETag", "\"a\""}});
    auto const explicit_one = response(200, {{"Cache-Control", "max-age=10"}});
    auto const guessed = response(200, {{"Last-Modified", date(-1000)}, {"Date", date(0)}});
    Case const cases[] = {
        {"nothing", silent, {}, ""},
        {"default_ttl", silent, {.default_ttl = 60}, "rule: default_ttl"},
        {"default_ttl is a guess like others", tagged, {.default_ttl = 60}, ""},
        {"default_ttl not needed", explicit_one, {.default_ttl = 60}, ""},
        {"ttl_min", explicit_one, {.ttl_min = 20}, "rule: ttl_min"},
        {"ttl_min not needed", explicit_one, {.ttl_min = 10}, ""},
        {"ttl_min over a guess", guessed, {.ttl_min = 200}, ""},
        {"ttl_min over nothing", silent, {.ttl_min = 20}, "rule: ttl_min"},
        {"ttl_min over default_ttl", silent, {.default_ttl = 10, .ttl_min = 20}, "rule: ttl_min"},
        {"default_ttl over ttl_min", silent, {.default_ttl = 20, .ttl_min = 10}, "rule: default_ttl"},
        {"ttl_max below the origin's word takes ttl_min back", explicit_one, {.ttl_min = 20, .ttl_max = 5}, ""},
        {"ttl_max below ttl_min", explicit_one, {.ttl_min = 20, .ttl_max = 15}, "rule: ttl_min"},
        {"ttl_max below all others", silent, {.default_ttl = 10, .ttl_min = 20, .ttl_max = 5}, "rule: default_ttl"},
        {"ttl_max is always allowed", explicit_one, {.ttl_max = 5}, ""},
    };
    for (auto const& c : cases) EXPECT_EQ(text(terms(c.answer, c.options).rule_override), c.said) << c.name;
}

TEST(Freshness, a_targeted_field_hides_cache_control_and_expires) {
    std::string_view const targets[] = {"CDN-Cache-Control"};
    FreshnessOptions const options{.targeted = targets};
    auto const lifetime = [&](Lines lines) { return terms(response(200, lines), options).lifetime; };
    auto const future = Field{"Expires", date(1000)};
    EXPECT_EQ(lifetime({{"CDN-Cache-Control", "max-age=3600"}, {"Expires", date(-9)}, {"Date", date(0)}}), 3600u);
    EXPECT_EQ(lifetime({{"CDN-Cache-Control", "max-age=0"}, future, {"Date", date(0)}}), 0u);
    EXPECT_EQ(lifetime({{"CDN-Cache-Control", "max-age=1"}, {"Cache-Control", "max-age=99"}}), 1u);
    EXPECT_EQ(lifetime({{"CDN-Cache-Control", "foo"}, {"Cache-Control", "max-age=99"}, future}), 0u);
    EXPECT_EQ(lifetime({{"CDN-Cache-Control", "MAX-age=1"}, {"Cache-Control", "max-age=99"}}), 99u);
}

TEST(Freshness, directives_become_terms) {
    auto t = terms("max-age=9");
    EXPECT_FALSE(t.must_revalidate || t.no_cache || t.allows_authorization || t.has_validator);
    EXPECT_TRUE(terms("must-revalidate").must_revalidate);
    EXPECT_TRUE(terms("must-revalidate").allows_authorization);
    EXPECT_TRUE(terms("proxy-revalidate").must_revalidate);
    EXPECT_FALSE(terms("proxy-revalidate").allows_authorization);
    EXPECT_TRUE(terms("s-maxage=1").must_revalidate);
    EXPECT_TRUE(terms("s-maxage=1").allows_authorization);
    EXPECT_TRUE(terms("public").allows_authorization);
    EXPECT_TRUE(terms("no-cache").no_cache);
    EXPECT_FALSE(terms("no-cache=\"a\"").no_cache);
    EXPECT_EQ(terms("stale-while-revalidate=4, stale-if-error=5").stale_while_revalidate, 4u);
    EXPECT_EQ(terms("stale-while-revalidate=4, stale-if-error=5").stale_if_error, 5u);
    EXPECT_TRUE(terms(response(200, {{"ETag", "\"a\""}})).has_validator);
    EXPECT_TRUE(terms(response(200, {{"Last-Modified", date(-1)}})).has_validator);
    EXPECT_FALSE(terms(response(200, {{"Last-Modified", "yesterday"}, {"ETag", "a"}})).has_validator);
}

TEST(Freshness, age_grows_with_our_clock_and_never_shrinks_below_its_start) {
    auto const t = terms(response(200, {{"Date", date(0)}, {"Age", "30"}}));
    EXPECT_EQ(current_age(t, test_now), 30u);
    EXPECT_EQ(current_age(t, test_now + milliseconds(999)), 30u);
    EXPECT_EQ(current_age(t, later(3)), 33u);
    EXPECT_EQ(current_age(t, later(-86400)), 30u);
    EXPECT_EQ(current_age(t, later(std::int64_t{1} << 33)), delta_seconds_max);
    auto const old = terms(response(200, {{"Age", "2147483648"}}));
    EXPECT_EQ(current_age(old, later(10)), delta_seconds_max);
}

TEST(Freshness, reuse_is_decided_by_terms_and_request) {
    struct Case {
        std::string_view response;
        std::string_view request;
        std::int64_t seconds_later;
        Reuse reuse;
    };
    using enum Reuse;
    Case const cases[] = {
        {"max-age=10", "", 0, fresh},
        {"max-age=10", "", 9, fresh},
        {"max-age=10", "", 10, revalidate},
        {"max-age=0", "", 0, revalidate},
        {"max-age=10, no-cache", "", 0, revalidate},
        {"max-age=10, no-cache=\"a\"", "", 0, fresh},
        {"max-age=10", "no-cache", 0, revalidate},
        {"max-age=10", "max-age=0", 0, revalidate},
        {"max-age=10", "max-age=3", 3, fresh},
        {"max-age=10", "max-age=3", 4, revalidate},
        {"max-age=10", "max-age=3, max-stale", 4, revalidate},
        {"max-age=10", "min-fresh=5", 5, fresh},
        {"max-age=10", "min-fresh=5", 6, revalidate},
        {"max-age=10", "min-fresh=2000", 0, revalidate},
        {"max-age=10", "max-stale=5", 15, stale_allowed},
        {"max-age=10", "max-stale=5", 16, revalidate},
        {"max-age=10", "max-stale", 100000, stale_allowed},
        {"max-age=10", "max-stale, max-stale=5", 16, revalidate},
        {"max-age=10", "max-stale=x", 11, revalidate},
        {"max-age=10, must-revalidate", "max-stale", 11, revalidate},
        {"max-age=10, proxy-revalidate", "max-stale", 11, revalidate},
        {"s-maxage=10", "max-stale", 11, revalidate},
        {"max-age=1, stale-while-revalidate=4", "", 0, fresh},
        {"max-age=1, stale-while-revalidate=4", "", 1, stale_while_revalidate},
        {"max-age=1, stale-while-revalidate=4", "", 4, stale_while_revalidate},
        {"max-age=1, stale-while-revalidate=4", "", 5, revalidate},
        {"max-age=1, stale-while-revalidate=4", "max-age=100", 2, revalidate},
        {"max-age=1, stale-while-revalidate=4", "max-age=100, max-stale", 2, stale_while_revalidate},
        {"max-age=1, stale-while-revalidate=4", "max-stale=60", 2, stale_while_revalidate},
        {"max-age=1, stale-while-revalidate=4", "max-stale=60", 20, stale_allowed},
        {"max-age=1, stale-while-revalidate=4, must-revalidate", "", 2, revalidate},
        {"max-age=1, stale-while-revalidate=0", "", 1, revalidate},
        {"max-age=10", "only-if-cached", 0, fresh},
        {"max-age=10", "no-transform, foo=bar", 0, fresh},
    };
    for (auto const& c : cases) {
        auto const answer = may_reuse(terms(c.response), asks(c.request), later(c.seconds_later));
        EXPECT_EQ(answer.reuse, c.reuse) << c.response << " | " << c.request << " | " << c.seconds_later << ": " << answer.why();
    }
    auto const answer = may_reuse(terms("max-age=10"), {}, later(12));
    EXPECT_EQ(answer.age, 12u);
    EXPECT_EQ(answer.ttl, -2);
    EXPECT_STREQ(answer.why(), "stale");
}

TEST(Freshness, stale_instead_of_an_error) {
    struct Case {
        std::string_view response;
        std::string_view request;
        std::int64_t seconds_later;
        bool when_unreachable;
        bool when_error_status;
    };
    Case const cases[] = {
        {"max-age=2", "", 5, true, false},
        {"max-age=2", "", 2 + 7 * 86400, false, false},
        {"max-age=2, stale-if-error=60", "", 5, true, true},
        {"max-age=2, stale-if-error=60", "", 61, true, true},
        {"max-age=2, stale-if-error=60", "", 62, false, false},
        {"max-age=2, stale-if-error=0", "", 2, false, false},
        {"max-age=2, must-revalidate, stale-if-error=60", "", 5, false, false},
        {"max-age=2, proxy-revalidate, stale-if-error=60", "", 5, false, false},
        {"s-maxage=2, stale-if-error=60", "", 5, false, false},
        {"max-age=2, no-cache, stale-if-error=60", "", 5, false, false},
        {"max-age=2", "stale-if-error=60", 5, true, true},
        {"max-age=2", "stale-if-error=60", 62, true, false},
        {"max-age=2, stale-if-error=60", "no-cache", 5, false, false},
        {"max-age=2, stale-if-error=60", "stale-if-error=60, no-cache", 5, false, false},
        {"max-age=2, stale-if-error=60", "max-stale, no-cache", 5, false, false},
        {"max-age=2, stale-if-error=60", "max-age=0", 5, false, false},
        {"max-age=2, stale-if-error=60", "min-fresh=1", 5, false, false},
        {"max-age=2, stale-if-error=60", "max-age=0, max-stale", 5, true, true},
    };
    for (auto const& c : cases) {
        auto const t = terms(c.response);
        auto const now = later(c.seconds_later);
        EXPECT_EQ(may_serve_stale_on_error(t, asks(c.request), now, StaleOnErrorKind::unreachable), c.when_unreachable)
            << c.response << " | " << c.request;
        EXPECT_EQ(may_serve_stale_on_error(t, asks(c.request), now, StaleOnErrorKind::error_status), c.when_error_status)
            << c.response << " | " << c.request;
    }
    for (std::uint16_t status : {500, 502, 503, 504}) EXPECT_TRUE(is_stale_if_error_status(status));
    for (std::uint16_t status : {200, 404, 501, 505}) EXPECT_FALSE(is_stale_if_error_status(status));
}

TEST(Freshness, errors_are_guessed_to_be_fresh_for_no_longer_than_a_failure_is_remembered) {
    auto lifetime = [](std::uint16_t status, FreshnessOptions const& options) {
        auto const head = response(status, {{"Date", date(0)}, {"Last-Modified", date(-1'000'000)}});
        return terms(head, options).lifetime;
    };
    for (std::uint16_t const status : {404, 405, 410, 414, 501}) {
        EXPECT_EQ(lifetime(status, {}), 5u) << status;
        EXPECT_EQ(lifetime(status, {.heuristic_error_max = 0}), 0u) << status;
        EXPECT_EQ(lifetime(status, {.negative_ttl = 70}), 70u) << status;
    }
    EXPECT_EQ(lifetime(200, {}), 24u * 60 * 60);
}

}   // namespace
}   // namespace garner::http
