#include "http/cache_status.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace garner::http {
namespace {

std::string written(CacheStatus const& status) {
    std::array<char, cache_status_bytes + 1> out;
    out.fill('#');
    auto const size = write_cache_status(out.data(), status);
    EXPECT_LE(size, cache_status_bytes);
    EXPECT_EQ(out[size], '#');
    return {out.data(), size};
}

TEST(CacheStatus, says_what_happened) {
    EXPECT_EQ(written({.hit = true, .ttl = 376}), "garner; hit; ttl=376");
    EXPECT_EQ(written({.hit = true, .ttl = -5, .detail = "max-stale in request"}),
              "garner; hit; ttl=-5; detail=\"max-stale in request\"");
    EXPECT_EQ(written({.fwd = Fwd::uri_miss, .fwd_status = 200, .stored = true}), "garner; fwd=uri-miss; fwd-status=200; stored");
    EXPECT_EQ(written({.fwd = Fwd::stale, .fwd_status = 304, .ttl = 60, .stored = true}),
              "garner; fwd=stale; fwd-status=304; stored; ttl=60");
    EXPECT_EQ(written({.fwd = Fwd::uri_miss, .collapsed = true}), "garner; fwd=uri-miss; collapsed");
    EXPECT_EQ(written({.hit = true, .fwd = Fwd::stale, .stored = true}), "garner; hit");
    EXPECT_EQ(written({}), "garner");
}

TEST(CacheStatus, every_reason_to_forward_has_its_token) {
    struct Case {
        Fwd fwd;
        std::string_view token;
    };
    for (auto const& c : {Case{Fwd::bypass, "bypass"}, Case{Fwd::method, "method"}, Case{Fwd::uri_miss, "uri-miss"},
                          Case{Fwd::vary_miss, "vary-miss"}, Case{Fwd::miss, "miss"}, Case{Fwd::request, "request"},
                          Case{Fwd::stale, "stale"}, Case{Fwd::partial, "partial"}})
        EXPECT_EQ(written({.fwd = c.fwd}), "garner; fwd=" + std::string(c.token));
}

TEST(CacheStatus, text_from_outside_cannot_break_out) {
    EXPECT_EQ(written({.cache_name = "my cache", .hit = true, .detail = "a\"; x=\"\\\r\n\xff"}),
              "\"my cache\"; hit; detail=\"a?; x=?????\"");
    EXPECT_EQ(written({.cache_name = "3d", .hit = true}), "\"3d\"; hit");
    EXPECT_EQ(written({.cache_name = "", .hit = true}), "\"\"; hit");
    EXPECT_EQ(written({.cache_name = "proxy.example.net", .hit = true}), "proxy.example.net; hit");
}

TEST(CacheStatus, the_longest_fits) {
    std::string const long_text(500, ' ');
    auto const text = written({.cache_name = long_text,
                               .fwd = Fwd::vary_miss,
                               .fwd_status = 65535,
                               .ttl = INT64_MIN,
                               .stored = true,
                               .collapsed = true,
                               .detail = long_text});
    EXPECT_NE(text.find("ttl=-999999999999999;"), std::string::npos);
}

}   // namespace
}   // namespace garner::http
