#include "http/partial.hpp"

#include <gtest/gtest.h>

#include "http/heads.hpp"

namespace garner::http {
namespace {

std::optional<Part> part(Lines lines, std::optional<std::uint64_t> body, std::uint16_t status = 206) {
    return part_of(response(status, lines), body);
}

TEST(Partial, a_206_says_where_it_belongs) {
    auto found = part({{"Content-Range", "bytes 10-19/100"}, {"ETag", R"("a")"}}, 10);
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, (Part{{10, 19}, 100}));
    EXPECT_TRUE(part({{"Content-Range", "bytes 10-19/100"}}, 10));
}

TEST(Partial, what_contradicts_itself_is_no_part) {
    Field const range{"Content-Range", "bytes 10-19/100"};
    Field const etag{"ETag", R"("a")"};
    EXPECT_FALSE(part({range, etag}, 10, 200));
    EXPECT_FALSE(part({range, etag}, 9));
    EXPECT_FALSE(part({range, etag}, 11));
    EXPECT_FALSE(part({range, etag}, std::nullopt));
    EXPECT_FALSE(part({range, range, etag}, 10));
    EXPECT_FALSE(part({{"Content-Type", "multipart/byteranges; boundary=x"}, etag}, 10));
    for (auto wrong : {"bytes 10-19/*", "bytes */100", "bytes 10-19/15", "bytes 19-10/100", "lines 10-19/100", ""})
        EXPECT_FALSE(part({{"Content-Range", wrong}, etag}, 10)) << wrong;
}

TEST(Partial, an_answer_to_If_Range_may_lack_what_its_client_knows) {
    auto const bare = response(206, {});
    auto const described = response(206, {{"Content-Type", "text/plain"}});
    EXPECT_TRUE(describes_itself(get({{"Range", "bytes=0-1"}}), bare));
    EXPECT_FALSE(describes_itself(get({{"Range", "bytes=0-1"}, {"If-Range", R"("a")"}}), bare));
    EXPECT_TRUE(describes_itself(get({{"Range", "bytes=0-1"}, {"If-Range", R"("a")"}}), described));
}

TEST(Partial, only_a_strong_validator_that_both_have_makes_two_one) {
    auto same = [](Lines a, Lines b) { return is_same_representation(response(206, a), response(200, b), test_now); };
    Field const etag{"ETag", R"("a")"};
    Field const modified{"Last-Modified", date(-9)};
    Field const today{"Date", date(0)};
    EXPECT_TRUE(same({etag}, {etag}));
    EXPECT_TRUE(same({modified, today}, {modified, today}));
    EXPECT_TRUE(same({etag, modified}, {etag}));
    EXPECT_FALSE(same({etag}, {{"ETag", R"("b")"}}));
    EXPECT_FALSE(same({{"ETag", R"(W/"a")"}}, {{"ETag", R"(W/"a")"}}));
    EXPECT_FALSE(same({etag, modified, today}, {modified, today}));
    EXPECT_FALSE(same({modified, today}, {modified, {"Date", date(-9)}}));
    EXPECT_FALSE(same({modified, today}, {{"Last-Modified", date(-8)}, today}));
    EXPECT_FALSE(same({}, {}));
}

TEST(Partial, validators_contradict_only_where_both_have_them) {
    auto differ = [](Lines a, Lines b) { return contradict(response(200, a), response(206, b)); };
    Field const modified{"Last-Modified", date(-9)};
    EXPECT_TRUE(differ({{"ETag", R"("a")"}}, {{"ETag", R"("b")"}}));
    EXPECT_TRUE(differ({{"ETag", R"(W/"a")"}}, {{"ETag", R"("b")"}}));
    EXPECT_TRUE(differ({modified}, {{"Last-Modified", date(-8)}}));
    EXPECT_FALSE(differ({{"ETag", R"(W/"a")"}, modified}, {{"ETag", R"("a")"}, {"Last-Modified", date(-8)}}));
    EXPECT_FALSE(differ({{"ETag", R"("a")"}}, {modified}));
    EXPECT_FALSE(differ({modified}, {modified}));
    EXPECT_FALSE(differ({}, {}));
}

TEST(Partial, the_head_of_the_whole) {
    auto const older = response(200, {{"ETag", R"("a")"}, {"X-Old", "1"}, {"Cache-Control", "max-age=1"}});
    auto const newer = response(206, {{"ETag", R"("a")"}, {"Content-Range", "bytes 0-1/9"}, {"Cache-Control", "max-age=2"}});
    EXPECT_EQ(head_of_whole(newer, nullptr), "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nCache-Control: max-age=2\r\n");
    EXPECT_EQ(head_of_whole(newer, &older), "HTTP/1.1 200 OK\r\nX-Old: 1\r\nETag: \"a\"\r\nCache-Control: max-age=2\r\n");
}

TEST(Partial, what_is_missing_is_asked_for_under_a_strong_validator) {
    Field const etag{"ETag", R"("a")"};
    Field const modified{"Last-Modified", date(-9)};
    Field const today{"Date", date(0)};
    auto const if_modified = "If-Range: " + std::string(date(-9)) + "\r\n";
    struct Case {
        Lines stored;
        ByteRange missing;
        std::string lines;
    };
    Case const cases[] = {
        {{etag}, {5, 9}, "Range: bytes=5-\r\nIf-Range: \"a\"\r\n"},
        {{etag, modified, today}, {0, 4}, "Range: bytes=0-4\r\nIf-Range: \"a\"\r\n"},
        {{modified, today}, {3, 3}, "Range: bytes=3-3\r\n" + if_modified},
        {{modified, {"Date", date(-9)}}, {5, 9}, "Range: bytes=5-\r\n"},
        {{{"ETag", R"(W/"a")"}, modified, today}, {5, 9}, "Range: bytes=5-\r\n"},
        {{}, {5, 9}, "Range: bytes=5-\r\n"},
    };
    for (auto const& [stored, missing, lines] : cases)
        EXPECT_EQ(ask_for_missing(response(200, stored), missing, 10, test_now), lines);
}

}   // namespace
}   // namespace garner::http
