#include "http/multipart.hpp"

#include <gtest/gtest.h>

namespace garner::http {
namespace {

constexpr Multipart::Random random{0x0123456789abcdef, 0xfedcba9876543210};

/// The body of the response as sent.
std::string sent(Multipart const& multipart, std::string_view whole) {
    std::string body;
    for (std::size_t i = 0; i < multipart.ranges().size(); ++i) {
        auto const& range = multipart.ranges()[i];
        body.append(multipart.head(i)).append(whole.substr(range.first, range.size()));
    }
    return body.append(multipart.end());
}

TEST(Multipart, each_range_has_its_head_and_the_last_boundary_ends_them) {
    std::string const whole = "0123456789";
    Multipart multipart({{0, 1}, {9, 9}}, whole.size(), "text/plain", random);
    EXPECT_EQ(multipart.content_type(), "multipart/byteranges; boundary=0123456789abcdeffedcba9876543210");
    EXPECT_EQ(sent(multipart, whole), "--0123456789abcdeffedcba9876543210\r\n"
                                      "Content-Type: text/plain\r\n"
                                      "Content-Range: bytes 0-1/10\r\n"
                                      "\r\n"
                                      "01\r\n"
                                      "--0123456789abcdeffedcba9876543210\r\n"
                                      "Content-Type: text/plain\r\n"
                                      "Content-Range: bytes 9-9/10\r\n"
                                      "\r\n"
                                      "9\r\n"
                                      "--0123456789abcdeffedcba9876543210--\r\n");
}

TEST(Multipart, a_representation_without_media_type_gives_its_parts_none) {
    Multipart multipart({{0, 1}, {3, 4}}, 10, "", random);
    EXPECT_EQ(multipart.head(0), "--0123456789abcdeffedcba9876543210\r\nContent-Range: bytes 0-1/10\r\n\r\n");
}

TEST(Multipart, says_its_length_before_it_is_sent) {
    std::string const whole(1000, 'x');
    std::vector<ByteRange> ranges;
    for (std::uint64_t i = 0; i < ranges_max; ++i) {
        ranges.push_back({i * 60, i * 60 + i});
        Multipart multipart(ranges, whole.size(), "a/b", random);
        EXPECT_EQ(multipart.size(), sent(multipart, whole).size());
    }
    Multipart vast({{0, 1ull << 40}, {1ull << 41, (1ull << 42) - 1}}, 1ull << 42, "", random);
    EXPECT_GT(vast.size(), 3ull << 40);
}

}   // namespace
}   // namespace garner::http
