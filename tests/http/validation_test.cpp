#include "http/validation.hpp"

#include <gtest/gtest.h>

#include "http/heads.hpp"

namespace garner::http {
namespace {

TEST(Validation, entity_tags_are_compared_strongly_and_weakly) {
    struct Case {
        std::string_view a;
        std::string_view b;
        bool strong;
        bool weak;
    };
    Case const cases[] = {
        {"\"1\"", "\"1\"", true, true},
        {"\"1\"", "\"2\"", false, false},
        {"W/\"1\"", "W/\"1\"", false, true},
        {"W/\"1\"", "W/\"2\"", false, false},
        {"W/\"1\"", "\"1\"", false, true},
        {"\"1\"", "W/\"1\"", false, true},
        {"\"a\"", "\"A\"", false, false},
        {"\"\"", "\"\"", true, true},
        {"\"a\xc3\xbc\\\"", "\"a\xc3\xbc\\\"", true, true},
        {"1", "1", false, false},
        {"w/\"1\"", "w/\"1\"", false, false},
        {"W\"1\"", "W\"1\"", false, false},
        {"\"a b\"", "\"a b\"", false, false},
        {"\"", "\"", false, false},
        {"", "", false, false},
        {"\"1", "\"1", false, false},
        {"\"1\"2\"", "\"1\"2\"", false, false},
    };
    for (auto const& c : cases) {
        EXPECT_EQ(strong_match(c.a, c.b), c.strong) << c.a << ' ' << c.b;
        EXPECT_EQ(weak_match(c.a, c.b), c.weak) << c.a << ' ' << c.b;
    }
}

Conditional answer(RequestHead const& asked, ResponseHead const& stored) {
    return answer_conditional(asked, stored, terms_of(stored, test_now, test_now, {}), later(5));
}

TEST(Validation, if_none_match_is_answered_from_the_store) {
    struct Case {
        std::string_view stored;
        std::string_view asked;
        bool not_modified;
    };
    Case const cases[] = {
        {"\"a\"", "\"a\"", true},
        {"\"a\"", "\"b\"", false},
        {"\"a\"", "*", true},
        {"", "*", true},
        {"\"a\"", "W/\"a\"", true},
        {"W/\"a\"", "\"a\"", true},
        {"W/\"a\"", "W/\"a\"", true},
        {"\"a\"", "\"a\", \"b\", \"c\"", true},
        {"\"a\"", "\"b\",\"a\", \"c\"", true},
        {"\"a\"", "\"b\" , ,\"c\",\t\"a\"", true},
        {"\"a\"", "\"b\\\", \"a\"", true},
        {"\"a,b\"", "\"c\", \"a,b\"", true},
        {"\"b\"", "\"a, b\"", false},
        {"\"a\"", "a", false},
        {"a", "a", false},
        {"a", "\"a\"", false},
        {"\"a\"", "b, \"a\"", false},
        {"\"a\"", "\"b\" \"a\"", false},
        {"\"a\"", "\"a", false},
        {"\"a\"", "", false},
        {"", "\"a\"", false},
    };
    for (auto const& c : cases) {
        auto const stored = response(200, {{"ETag", c.stored}});
        auto const expected = c.not_modified ? Conditional::not_modified : Conditional::none;
        EXPECT_EQ(answer(get({{"If-None-Match", c.asked}}), stored), expected) << c.stored << " | " << c.asked;
        EXPECT_EQ(answer(request(Method::head, {{"If-None-Match", c.asked}}), stored), expected);
    }
}

TEST(Validation, if_modified_since_is_answered_from_the_store) {
    struct Case {
        char const* name;
        ResponseHead stored;
        std::string_view since;
        bool not_modified;
    };
    auto const modified = response(200, {{"Last-Modified", date(-3000)}, {"Date", date(0)}});
    auto const without = response(200, {{"Date", date(-10)}});
    Case const cases[] = {
        {"equal", modified, date(-3000), true},
        {"later", modified, date(-2000), true},
        {"earlier", modified, date(-3001), false},
        {"RFC 850", modified, "Sunday, 06-Nov-94 08:49:37 GMT", true},
        {"asctime", modified, "Sun Nov  6 08:49:37 1994", true},
        {"no date", modified, "yesterday", false},
        {"UTC", modified, "Sun, 06 Nov 1994 08:49:37 UTC", false},
        {"Date instead", without, date(-10), true},
        {"Date instead, earlier", without, date(-3000), false},
        {"arrival instead", response(200, {}), date(0), true},
        {"arrival instead, earlier", response(200, {}), date(-1), false},
    };
    for (auto const& c : cases)
        EXPECT_EQ(answer(get({{"If-Modified-Since", c.since}}), c.stored),
                  c.not_modified ? Conditional::not_modified : Conditional::none)
            << c.name;
    EXPECT_EQ(answer(get({{"If-Modified-Since", date(0)}, {"If-Modified-Since", date(0)}}), modified), Conditional::none);
}

TEST(Validation, precedence_and_where_conditions_do_not_count) {
    auto const stored = response(200, {{"ETag", "\"a\""}, {"Last-Modified", date(-3000)}});
    auto const both = [](std::string_view etag, std::int64_t since) {
        return get({{"If-None-Match", etag}, {"If-Modified-Since", date(since)}});
    };
    EXPECT_EQ(answer(both("\"a\"", -9000), stored), Conditional::not_modified);
    EXPECT_EQ(answer(both("\"b\"", 0), stored), Conditional::none);
    EXPECT_EQ(answer(get(), stored), Conditional::none);
    EXPECT_EQ(answer(request(Method::post, {{"If-None-Match", "\"a\""}}), stored), Conditional::none);
    EXPECT_EQ(answer(get({{"If-None-Match", "\"a\""}}), response(404, {{"ETag", "\"a\""}})), Conditional::none);
}

TEST(Validation, what_a_304_carries) {
    for (auto name : {"Cache-Control", "Content-Location", "Date", "ETag", "Expires", "Vary", "Set-Cookie", "X-Any",
                      "Last-Modified", "Content-Security-Policy"})
        EXPECT_TRUE(field_stays_in_304({name, "", name_of(name)})) << name;
    for (auto name : {"Content-Length", "Content-Type", "Content-Encoding", "Content-Range", "content-language",
                      "Transfer-Encoding", "Trailer"})
        EXPECT_FALSE(field_stays_in_304({name, "", name_of(name)})) << name;
}

TEST(Validation, conditional_fields_repeat_usable_validators) {
    struct Case {
        ResponseHead stored;
        std::string expected;
    };
    std::string const modified(date(-10));
    Case const cases[] = {
        {response(200, {{"ETag", "\"a\""}}), "If-None-Match: \"a\"\r\n"},
        {response(200, {{"ETag", "W/\"a\""}}), "If-None-Match: W/\"a\"\r\n"},
        {response(200, {{"Last-Modified", modified}}), "If-Modified-Since: " + modified + "\r\n"},
        {response(200, {{"Last-Modified", modified}, {"ETag", "\"a\""}}),
         "If-None-Match: \"a\"\r\nIf-Modified-Since: " + modified + "\r\n"},
        {response(200, {{"ETag", "a"}, {"Last-Modified", "never"}}), ""},
        {response(200, {{"ETag", "\"a\""}, {"ETag", "\"b\""}}), ""},
        {response(200, {}), ""},
    };
    for (auto const& c : cases) {
        std::string lines;
        append_conditional_fields(validators_of(c.stored), lines);
        EXPECT_EQ(lines, c.expected);
        EXPECT_EQ(validators_of(c.stored).empty(), c.expected.empty());
    }
}

TEST(Validation, a_304_is_about_the_response_whose_validators_it_does_not_contradict) {
    struct Case {
        ResponseHead stored;
        ResponseHead answer;
        bool about;
    };
    auto const etag = [](std::uint16_t status, std::string_view tag) { return response(status, {{"ETag", tag}}); };
    auto const modified = [](std::uint16_t status, std::int64_t at) { return response(status, {{"Last-Modified", date(at)}}); };
    Case const cases[] = {
        {etag(200, "\"a\""), etag(304, "\"a\""), true},    {etag(200, "\"a\""), etag(304, "\"b\""), false},
        {etag(200, "\"a\""), etag(304, "W/\"a\""), true},  {etag(200, "W/\"a\""), etag(304, "W/\"a\""), true},
        {etag(200, "W/\"a\""), etag(304, "\"a\""), false}, {etag(200, "\"a\""), response(304, {}), true},
        {etag(200, "\"a\""), modified(304, 0), true},      {modified(200, 0), modified(304, 0), true},
        {modified(200, 0), modified(304, 1), false},       {modified(200, 0), etag(304, "\"a\""), false},
    };
    int row = 0;
    for (auto const& c : cases) EXPECT_EQ(is_about(c.answer, c.stored), c.about) << "row " << row++;
}

TEST(Validation, a_304_updates_all_but_what_describes_the_body) {
    auto const stored = response(200, {{"Date", date(-100)},
                                       {"Age", "7"},
                                       {"Cache-Control", "max-age=2"},
                                       {"Content-Length", "5"},
                                       {"Content-Type", "text/plain"},
                                       {"Content-Encoding", "gzip"},
                                       {"ETag", "\"a\""},
                                       {"Test", "A"},
                                       {"Kept", "A"},
                                       {"Warning", "110 x \"old\""},
                                       {"Set-Cookie", "a=1"},
                                       {"Set-Cookie", "b=1"}});
    auto const update = response(304, {{"Date", "D"},
                                       {"cache-control", "max-age=3"},
                                       {"Content-Length", "9"},
                                       {"Content-Type", "text/html"},
                                       {"Content-Encoding", "br"},
                                       {"Content-Range", "bytes 0-1/2"},
                                       {"Content-Foo", "B"},
                                       {"ETag", "\"a\""},
                                       {"TEST", "B"},
                                       {"Connection", "hop, close, kept"},
                                       {"Hop", "1"},
                                       {"Kept", "B"},
                                       {"Keep-Alive", "1"},
                                       {"Transfer-Encoding", "chunked"},
                                       {"Proxy-Authenticate", "x"},
                                       {"Upgrade", "x"},
                                       {"Set-Cookie", "c=2"}});
    EXPECT_EQ(merged_head_fields(stored, update),
              "Content-Length: 5\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\nKept: A\r\nDate: D\r\n"
              "cache-control: max-age=3\r\nContent-Foo: B\r\nETag: \"a\"\r\nTEST: B\r\nSet-Cookie: c=2\r\n");
}

TEST(Validation, the_age_of_a_freshened_response_is_the_new_one) {
    auto const stored = response(200, {{"Age", "7200"}, {"Date", date(-9000)}, {"X", "1"}});
    EXPECT_EQ(merged_head_fields(stored, response(304, {})), "X: 1\r\n");
    EXPECT_EQ(merged_head_fields(stored, response(304, {{"Age", "3"}})), "X: 1\r\nAge: 3\r\n");
}

TEST(Validation, fields_that_may_not_be_stored_do_not_enter_with_an_update) {
    auto const stored = response(200, {{"A", "1"}, {"B", "1"}, {"Cache-Control", "max-age=1"}});
    auto const update = response(304, {{"Cache-Control", "private=\"a\""}, {"A", "2"}});
    EXPECT_EQ(merged_head_fields(stored, update), "B: 1\r\nCache-Control: private=\"a\"\r\n");
    std::string_view const targets[] = {"CDN-Cache-Control"};
    auto const targeted = response(304, {{"CDN-Cache-Control", "no-cache=\"b\""}});
    EXPECT_EQ(merged_head_fields(stored, targeted, targets),
              "A: 1\r\nCache-Control: max-age=1\r\nCDN-Cache-Control: no-cache=\"b\"\r\n");
}

TEST(Validation, which_answers_end_the_stored_response_though_they_are_not_stored) {
    auto const ends = [](RequestHead const& request, std::uint16_t status, std::string_view control = "no-store") {
        auto const answer = response(status, {{"Cache-Control", control}});
        return supersedes(request, answer, parse_response_cache_control(answer.fields));
    };
    for (std::uint16_t status : {200, 203, 204, 300, 301, 308, 404, 410}) {
        EXPECT_TRUE(ends(get(), status)) << status;
        EXPECT_FALSE(ends(get(), status, "private")) << status;
        EXPECT_FALSE(ends(get({{"Authorization", "x"}}), status)) << status;
        EXPECT_FALSE(ends(get({{"Cookie", "x=y"}}), status)) << status;
        EXPECT_FALSE(ends(request(Method::head, {}), status)) << status;
    }
    for (std::uint16_t status : {206, 302, 303, 304, 307, 400, 401, 403, 405, 407, 408, 412, 416, 429, 500, 503, 599})
        EXPECT_FALSE(ends(get(), status)) << status;
}

TEST(Validation, which_requests_304_can_answer) {
    EXPECT_TRUE(is_conditional(get({{"If-None-Match", "*"}}).fields));
    EXPECT_TRUE(is_conditional(get({{"If-Modified-Since", date(0)}}).fields));
    EXPECT_FALSE(is_conditional(get({{"If-Match", "*"}, {"Range", "bytes=0-"}, {"If-Range", "\"a\""}}).fields));
}

TEST(Validation, a_head_response_freshens_only_what_it_agrees_with) {
    struct Case {
        char const* name;
        ResponseHead head;
        bool agrees;
    };
    auto const stored = response(200, {{"ETag", "\"a\""}, {"Last-Modified", date(-9)}});
    Case const cases[] = {
        {"nothing that both say", response(200, {}), false},
        {"all the same", response(200, {{"ETag", "\"a\""}, {"Last-Modified", date(-9)}, {"Content-Length", "5"}}), true},
        {"other ETag", response(200, {{"ETag", "\"b\""}}), false},
        {"weak ETag", response(200, {{"ETag", "W/\"a\""}}), false},
        {"other Last-Modified", response(200, {{"Last-Modified", date(-8)}}), false},
        {"other length", response(200, {{"Content-Length", "6"}}), false},
        {"other length, same ETag", response(200, {{"ETag", "\"a\""}, {"Content-Length", "6"}}), false},
    };
    for (auto const& c : cases) EXPECT_EQ(head_agrees(c.head, stored, 5), c.agrees) << c.name;
    EXPECT_FALSE(head_agrees(response(200, {{"Content-Length", "6"}}), response(200, {}), std::nullopt)) << "no length is known";
    EXPECT_FALSE(head_agrees(response(200, {{"ETag", "\"a\""}}), response(200, {}), 5));
    EXPECT_FALSE(head_agrees(response(200, {}), response(404, {}), 5));
}

}   // namespace
}   // namespace garner::http
