#include "http/cacheability.hpp"

#include <gtest/gtest.h>

#include "http/heads.hpp"

namespace garner::http {
namespace {

StoreRefusal refusal(RequestHead const& asked, ResponseHead const& answer, StoreOptions const& options = {}) {
    return why_not_store(asked, parse_request_cache_control(asked.fields), answer, parse_response_cache_control(answer.fields),
                         options);
}

TEST(Cacheability, any_final_status_with_explicit_freshness_is_stored) {
    for (std::uint16_t status :
         {200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 410, 414, 499, 500, 501, 502, 503, 504, 599}) {
        EXPECT_EQ(refusal(get(), response(status, {{"Cache-Control", "max-age=10"}})), StoreRefusal::none) << status;
        EXPECT_EQ(refusal(get(), response(status, {{"Expires", date(10)}})), StoreRefusal::none) << status;
    }
    for (std::uint16_t status : {100, 101, 103, 199, 304, 407, 412, 416, 417, 428, 429, 431, 511, 600, 999})
        EXPECT_EQ(refusal(get(), response(status, {{"Cache-Control", "max-age=10"}})), StoreRefusal::status) << status;
    EXPECT_EQ(refusal(get(), response(206, {{"Cache-Control", "max-age=10"}})), StoreRefusal::partial);
    StoreOptions part;
    part.combinable = true;
    EXPECT_EQ(refusal(get(), response(206, {{"Cache-Control", "max-age=10"}}), part), StoreRefusal::none);
    EXPECT_EQ(refusal(get(), response(206, {{"Cache-Control", "no-store"}}), part), StoreRefusal::no_store_response);
}

TEST(Cacheability, why_a_response_is_not_stored) {
    struct Case {
        char const* name;
        RequestHead asked;
        ResponseHead answer;
        StoreRefusal refusal;
    };
    auto const fresh = response(200, {{"Cache-Control", "max-age=10"}});
    auto const with = [](std::string_view control) { return response(200, {{"Cache-Control", control}}); };
    auto const authorized = get({{"Authorization", "Basic x"}});
    std::string many_names = "a0";
    for (int i = 1; i < 33; ++i) many_names += ", a" + std::to_string(i);
    using enum StoreRefusal;
    Case const cases[] = {
        {"GET", get(), fresh, none},
        {"HEAD", request(Method::head, {}), fresh, method},
        {"POST", request(Method::post, {}), fresh, method},
        {"OPTIONS", request(Method::options, {}), fresh, method},
        {"unknown method", request(Method::other, {}), fresh, method},
        {"body", get({{"Content-Length", "3"}}), fresh, request_body},
        {"chunked body", get({{"Transfer-Encoding", "chunked"}}), fresh, request_body},
        {"empty body", get({{"Content-Length", "0"}}), fresh, none},
        {"request no-store", get({{"Cache-Control", "no-store"}}), fresh, no_store_request},
        {"Cookie", get({{"Cookie", "a=b"}}), fresh, none},
        {"no-store", get(), with("no-store, max-age=10"), no_store_response},
        {"private", get(), with("private, max-age=10"), private_response},
        {"private field", get(), with("private=\"a\", max-age=10"), none},
        {"no-store, must-understand", get(), with("no-store, must-understand, max-age=10"), none},
        {"must-understand 599", get(), response(599, {{"Cache-Control", "max-age=10, no-store, must-understand"}}), status},
        {"must-understand alone", get(), response(599, {{"Cache-Control", "max-age=10, must-understand"}}), status},
        {"Authorization", authorized, fresh, authorization},
        {"Authorization, Expires", authorized, response(200, {{"Expires", date(10)}}), authorization},
        {"Authorization, public", authorized, with("public, max-age=10"), none},
        {"Authorization, must-revalidate", authorized, with("must-revalidate, max-age=10"), none},
        {"Authorization, s-maxage", authorized, with("s-maxage=10"), none},
        {"Authorization, proxy-revalidate", authorized, with("proxy-revalidate, max-age=10"), authorization},
        {"Vary", get(), response(200, {{"Cache-Control", "max-age=10"}, {"Vary", "Foo"}}), none},
        {"Vary: *", get(), response(200, {{"Cache-Control", "max-age=10"}, {"Vary", "*"}}), vary_star},
        {"Vary: a, *", get(), response(200, {{"Cache-Control", "max-age=10"}, {"Vary", "a"}, {"Vary", ", *"}}), vary_star},
        {"Vary: a b", get(), response(200, {{"Cache-Control", "max-age=10"}, {"Vary", "a b"}}), vary_malformed},
        {"Vary: a b, *", get(), response(200, {{"Cache-Control", "max-age=10"}, {"Vary", "a b, *"}}), vary_star},
        {"Vary with 33 names", get(), response(200, {{"Cache-Control", "max-age=10"}, {"Vary", many_names}}), vary_too_long},
        {"Set-Cookie", get(), response(200, {{"Cache-Control", "max-age=10"}, {"Set-Cookie", "a=b"}}), set_cookie},
        {"Set-Cookie, public", get(), response(200, {{"Cache-Control", "public, max-age=10"}, {"Set-Cookie", "a=b"}}), none},
        {"Set-Cookie, s-maxage", get(), response(200, {{"Cache-Control", "s-maxage=10"}, {"Set-Cookie", "a=b"}}), none},
        {"Set-Cookie, public alone", get(), response(200, {{"Cache-Control", "public"}, {"Set-Cookie", "a=b"}}), set_cookie},
        {"Vary: Proxy-Authorization", get(),
         response(200, {{"Cache-Control", "max-age=10"}, {"Vary", "Accept, proxy-authorization"}}), vary_hop_credentials},
        {"Set-Cookie, heuristic", get(), response(200, {{"Last-Modified", date(-99)}, {"Set-Cookie", "a=b"}}), set_cookie},
        {"Set-Cookie left out", get(),
         response(200, {{"Last-Modified", date(-99)}, {"Set-Cookie", "a=b"}, {"Cache-Control", "no-cache=\"set-cookie\""}}), none},
        {"nothing said", get(), response(200, {}), no_freshness_no_validator},
        {"only public", get(), with("public"), no_freshness_no_validator},
        {"Last-Modified", get(), response(200, {{"Last-Modified", date(-99)}}), none},
        {"bad Last-Modified", get(), response(200, {{"Last-Modified", "x"}}), no_freshness_no_validator},
        {"ETag", get(), response(200, {{"ETag", "\"a\""}}), none},
        {"302 with ETag", get(), response(302, {{"ETag", "\"a\""}}), not_heuristically_cacheable},
        {"302 public with ETag", get(), response(302, {{"ETag", "\"a\""}, {"Cache-Control", "public"}}), none},
        {"503", get(), response(503, {}), not_heuristically_cacheable},
        {"404", get(), response(404, {}), no_freshness_no_validator},
        {"max-age=0", get(), with("max-age=0"), no_freshness_no_validator},
        {"bad max-age", get(), with("max-age=x"), no_freshness_no_validator},
        {"max-age=0, s-maxage", get(), with("max-age=0, s-maxage=10"), none},
        {"max-age=0 with SWR", get(), with("max-age=0, stale-while-revalidate=10"), none},
        {"max-age=0 with ETag", get(), response(200, {{"Cache-Control", "max-age=0"}, {"ETag", "\"a\""}}), none},
        {"no-cache", get(), with("no-cache, max-age=10"), no_freshness_no_validator},
        {"no-cache with ETag", get(), response(200, {{"Cache-Control", "no-cache"}, {"ETag", "\"a\""}}), none},
        {"past Expires with validator", get(), response(200, {{"Expires", date(-99)}, {"Last-Modified", date(-999)}}), none},
    };
    for (auto const& c : cases) EXPECT_STREQ(text(refusal(c.asked, c.answer)), text(c.refusal)) << c.name;
}

TEST(Cacheability, the_operator_decides_about_cookies_and_lifetimes) {
    auto const cookie = response(200, {{"Cache-Control", "max-age=10"}, {"Set-Cookie", "a=b"}});
    EXPECT_EQ(refusal(get(), cookie, {.set_cookie = false}), StoreRefusal::set_cookie);
    EXPECT_EQ(refusal(get(), cookie, {.set_cookie = true}), StoreRefusal::none);
    auto const page = response(200, {{"Cache-Control", "max-age=10"}});
    EXPECT_EQ(refusal(get(), page, {.overrides_method = true}), StoreRefusal::method_override);
    EXPECT_EQ(refusal(get(), response(404, {}), {.has_own_ttl = true}), StoreRefusal::none);
    EXPECT_EQ(refusal(get(), response(503, {}), {.has_own_ttl = true}), StoreRefusal::not_heuristically_cacheable);
}

TEST(Cacheability, the_operator_may_keep_errors_that_say_nothing) {
    using enum StoreRefusal;
    auto const with = [](std::uint16_t status, std::string_view control) { return response(status, {{"Cache-Control", control}}); };
    struct Case {
        char const* name;
        ResponseHead answer;
        StoreRefusal refusal;
    };
    Case const cases[] = {
        {"404", response(404, {}), none},
        {"403", response(403, {}), none},
        {"503", response(503, {}), none},
        {"599", response(599, {}), none},
        {"200", response(200, {}), no_freshness_no_validator},
        {"302", response(302, {}), not_heuristically_cacheable},
        {"401 is a challenge", response(401, {}), not_heuristically_cacheable},
        {"408 is about the connection", response(408, {}), not_heuristically_cacheable},
        {"429 is about the client", response(429, {}), status},
        {"no-store", with(404, "no-store"), no_store_response},
        {"private", with(503, "private"), private_response},
        {"no-cache", with(503, "no-cache"), not_heuristically_cacheable},
        {"max-age=0", with(503, "max-age=0"), no_freshness_no_validator},
        {"cookie", response(503, {{"Set-Cookie", "a=b"}}), set_cookie},
    };
    for (auto const& c : cases) EXPECT_STREQ(text(refusal(get(), c.answer, {.keeps_errors = true})), text(c.refusal)) << c.name;
}

TEST(Cacheability, which_requests_go_past_the_cache) {
    struct Case {
        RequestHead asked;
        std::string_view why;   // empty: may use the cache
    };
    Case const cases[] = {
        {get(), ""},
        {request(Method::head, {}), ""},
        {request(Method::post, {}), "method"},
        {request(Method::options, {}), "method"},
        {request(Method::purge, {}), "method"},
        {request(Method::other, {}), "method"},
        {get({{"Content-Length", "1"}}), "request body"},
        {get({{"Content-Length", "0"}}), ""},
        {get({{"Transfer-Encoding", "chunked"}}), "request body"},
        {get({{"If-Match", "\"a\""}}), "If-Match"},
        {get({{"If-Unmodified-Since", date(0)}}), "If-Unmodified-Since"},
        {get({{"If-None-Match", "\"a\""}, {"If-Modified-Since", date(0)}, {"Range", "bytes=0-1"}}), ""},
        {get({{"Authorization", "x"}}), ""},
        {get({{"Cache-Control", "no-cache"}}), ""},
        {get({{"Cache-Control", "no-store"}}), "no-store in request"},
        {get({{"Cache-Control", "no-store, only-if-cached"}}), ""},
    };
    for (auto const& c : cases) {
        EXPECT_EQ(text(why_bypass(c.asked, parse_request_cache_control(c.asked.fields))), c.why);
    }
}

TEST(Cacheability, the_answer_to_a_POST_is_stored_where_it_is_what_a_GET_would_bring) {
    struct Case {
        char const* name;
        ResponseHead answer;
        bool represents_target;
        StoreRefusal refusal;
    };
    auto const with = [](std::uint16_t status, std::string_view control) {
        return response(status, {{"Cache-Control", control}, {"ETag", "\"a\""}, {"Last-Modified", date(-1000)}});
    };
    Case const cases[] = {
        {"max-age", with(200, "max-age=9"), true, StoreRefusal::none},
        {"Expires", response(200, {{"Expires", date(9)}}), true, StoreRefusal::none},
        {"of something else", with(200, "max-age=9"), false, StoreRefusal::method},
        {"guessed freshness", with(200, "public"), true, StoreRefusal::method},
        {"created", with(201, "max-age=9"), true, StoreRefusal::method},
        {"an error", with(404, "max-age=9"), true, StoreRefusal::method},
        {"private", with(200, "private, max-age=9"), true, StoreRefusal::private_response},
        {"no-store", with(200, "no-store, max-age=9"), true, StoreRefusal::no_store_response},
    };
    for (auto const& c : cases) {
        StoreOptions options;
        options.represents_target = c.represents_target;
        auto const asked = request(Method::post, {{"Content-Length", "3"}});
        EXPECT_EQ(refusal(asked, c.answer, options), c.refusal) << c.name;
        EXPECT_EQ(refusal(request(Method::put, {}), c.answer, options), StoreRefusal::method) << c.name;
    }
}

TEST(Cacheability, which_content_location_is_the_targets_own) {
    struct Case {
        std::string_view content_location;
        bool own;
    };
    // clang-format off
    Case const cases[] = {
        {"http://example.com/a?b", true}, {"HTTP://Example.COM:80/a?b", true}, {"/a?b", true}, {"a?b", true},
        {"?b", true},                     {"", true},                          {"/a", false},  {"/A?b", false},
        {"//example.org/a?b", false},     {"https://example.com/a?b", false},  {"/a?c", false},
    };
    // clang-format on
    UriError error;
    auto const target = parse_absolute("http://example.com/a?b", error);
    for (auto const& c : cases)
        EXPECT_EQ(represents_target(response(200, {{"Content-Location", c.content_location}}), *target), c.own)
            << c.content_location;
    EXPECT_FALSE(represents_target(response(200, {}), *target));
    EXPECT_FALSE(represents_target(response(200, {{"Content-Location", "/a?b"}, {"Content-Location", "/a?b"}}), *target));
}

TEST(Cacheability, what_a_HEAD_freshens_stays_stored_but_its_answer_alone_never_is) {
    auto const answer = response(200, {{"Cache-Control", "max-age=9"}});
    auto const asked = request(Method::head, {});
    EXPECT_EQ(refusal(asked, answer), StoreRefusal::method);
    StoreOptions freshened;
    freshened.what = StoredAs::freshened;
    EXPECT_EQ(refusal(asked, answer, freshened), StoreRefusal::none);
    EXPECT_EQ(refusal(asked, response(200, {{"Cache-Control", "private"}}), freshened), StoreRefusal::private_response);
}

}   // namespace
}   // namespace garner::http
