#include "http/unsafe_method.hpp"

#include <gtest/gtest.h>

#include "http/heads.hpp"

namespace garner::http {
namespace {

TEST(Invalidation, answers_without_error_to_unsafe_and_unknown_methods_invalidate) {
    struct Case {
        std::string_view method;
        bool unsafe;
    };
    Case const cases[] = {
        {"GET", false},   {"HEAD", false}, {"OPTIONS", false}, {"TRACE", false},   {"POST", true}, {"PUT", true},
        {"DELETE", true}, {"PATCH", true}, {"BREW", true},     {"M-SEARCH", true}, {"get", true},
    };
    for (auto const& c : cases) {
        auto const method = method_of(c.method);
        for (std::uint16_t status : {200, 201, 204, 299, 301, 303, 304, 399})
            EXPECT_EQ(invalidates(method, status), c.unsafe) << c.method << ' ' << status;
        for (std::uint16_t status : {100, 101, 400, 404, 412, 499, 500, 503, 599, 600})
            EXPECT_FALSE(invalidates(method, status)) << c.method << ' ' << status;
        EXPECT_EQ(invalidates(method, std::nullopt), c.unsafe) << c.method << ", lost";
    }
}

TEST(Invalidation, Location_and_Content_Location_of_the_same_origin_go_too) {
    using Also = std::vector<std::string>;
    struct Case {
        ResponseHead answer;
        Also also;
    };
    auto const at = [](std::string_view where) { return response(201, {{"Location", where}}); };
    Case const cases[] = {
        {response(201, {}), {}},
        {at("/a"), {"http://example.com/a"}},
        {at("b?c"), {"http://example.com/d/b?c"}},
        {at("HTTP://EXAMPLE.com:80/a#part"), {"http://example.com/a"}},
        {at("http://example.com"), {"http://example.com/"}},
        {at("//example.org/a"), {}},
        {at("http://example.com:81/a"), {}},
        {at("https://example.com/a"), {}},
        {at("http://user@example.com/a"), {}},
        {at("mailto:a@example.com"), {}},
        {response(200, {{"Content-Location", "/b"}, {"Location", "/a"}}), {"http://example.com/b", "http://example.com/a"}},
        {response(200, {{"Location", "/a"}, {"Location", "//x/b"}, {"Location", "/c"}}),
         {"http://example.com/a", "http://example.com/c"}},
    };
    UriError error;
    auto const target = parse_absolute("http://example.com/d/e", error);
    int row = 0;
    for (auto const& c : cases) EXPECT_EQ(also_invalidated(c.answer, *target), c.also) << "row " << row++;
}

}   // namespace
}   // namespace garner::http
