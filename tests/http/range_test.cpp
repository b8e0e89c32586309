#include "http/range.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/heads.hpp"

namespace garner::http {
namespace {

using testing::ElementsAre;

std::string shown(RangeAnswer const& answer) {
    if (answer.kind == RangeKind::whole) return "whole";
    if (answer.kind == RangeKind::unsatisfiable) return "unsatisfiable";
    std::string text;
    for (auto const& part : answer.parts) {
        if (!text.empty()) text += ' ';
        text += std::to_string(part.first) + '-' + std::to_string(part.last);
    }
    return text;
}

TEST(Range, is_read_against_the_length) {
    struct Case {
        std::string_view range;
        std::uint64_t length;
        std::string_view answer;
    };
    Case const cases[] = {
        {"bytes=0-1", 10, "0-1"},
        {"Bytes=0-1", 10, "0-1"},
        {"bytes=0-0", 1, "0-0"},
        {"bytes=1-", 10, "1-9"},
        {"bytes=0-", 10, "0-9"},
        {"bytes=-1", 10, "9-9"},
        {"bytes=-5", 10, "5-9"},
        {"bytes=-10", 10, "0-9"},
        {"bytes=-99", 10, "0-9"},
        {"bytes=5-99", 10, "5-9"},
        {"bytes=9-9", 10, "9-9"},
        {"bytes=0-99999999999999999999999", 10, "0-9"},
        {"bytes=-99999999999999999999999", 10, "0-9"},
        {"bytes=0-18446744073709551615", UINT64_MAX, "0-18446744073709551614"},
        {"bytes=10-", 10, "unsatisfiable"},
        {"bytes=10-20", 10, "unsatisfiable"},
        {"bytes=99999999999999999999999-", 10, "unsatisfiable"},
        {"bytes=-0", 10, "unsatisfiable"},
        {"bytes=20-30, -0", 10, "unsatisfiable"},
        {"bytes=20-30, 1-2", 10, "1-2"},
        {"bytes=0-0", 0, "whole"},
        {"bytes=-1", 0, "whole"},
        {"bytes=0-1,4-5", 10, "0-1 4-5"},
        {"bytes= 0-1 ,\t4-5,,", 10, "0-1 4-5"},
        {"bytes=4-5,0-1", 10, "4-5 0-1"},
        {"bytes=0-1,2-3", 10, "0-3"},
        {"bytes=2-3,0-1", 10, "0-3"},
        {"bytes=0-4,3-6", 10, "0-6"},
        {"bytes=0-1,8-9,2-7", 10, "0-9"},
        {"bytes=8-9,0-1,4-5,3-6", 10, "8-9 0-1 3-6"},
        {"bytes=0-9,1-2,3-4", 10, "0-9"},
        {"bytes=0-9,1-2,3-4,5-6", 10, "whole"},
        {"bytes=0-,0-,0-,0-", 10, "whole"},
        {"bytes=0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14,16-16,18-18,20-20,22-22,24-24,26-26,28-28,30-30", 99,
         "0-0 2-2 4-4 6-6 8-8 10-10 12-12 14-14 16-16 18-18 20-20 22-22 24-24 26-26 28-28 30-30"},
        {"bytes=0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14,16-16,18-18,20-20,22-22,24-24,26-26,28-28,30-30,32-32", 99, "whole"},
        {"bytes=5-4", 10, "whole"},
        {"bytes=0-1,5-4", 10, "whole"},
        {"bytes=", 10, "whole"},
        {"bytes=,", 10, "whole"},
        {"bytes=-", 10, "whole"},
        {"bytes=a-b", 10, "whole"},
        {"bytes=0-1x", 10, "whole"},
        {"bytes=0 -1", 10, "whole"},
        {"bytes=+0-1", 10, "whole"},
        {"bytes=--1", 10, "whole"},
        {"bytes=1", 10, "whole"},
        {"bytes 0-1", 10, "whole"},
        {"bytes = 0-1", 10, "whole"},
        {"lines=0-1", 10, "whole"},
        {"", 10, "whole"},
    };
    for (auto const& c : cases) EXPECT_EQ(shown(answer_range(c.range, c.length)), c.answer) << c.range << ' ' << c.length;
}

TEST(Range, a_thousand_of_them_are_ignored) {
    std::string value = "bytes=0-0";
    for (int i = 1; i < 1000; ++i) value += "," + std::to_string(2 * i) + "-" + std::to_string(2 * i);
    EXPECT_EQ(answer_range(value, 10000).kind, RangeKind::whole);
}

TEST(Range, counts_only_for_a_get_of_a_200_whose_if_range_holds) {
    struct Case {
        char const* name;
        RequestHead asked;
        ResponseHead stored;
        bool partial;
    };
    auto const plain = response(200, {});
    auto const stored = response(200, {{"ETag", "\"a\""}, {"Last-Modified", date(-60)}, {"Date", date(0)}});
    auto const weak = response(200, {{"ETag", "W/\"a\""}});
    auto const just_changed = response(200, {{"Last-Modified", date(0)}, {"Date", date(0)}});
    auto const undated = response(200, {{"Last-Modified", date(-60)}});
    auto const range = Field{"Range", "bytes=0-1"};
    auto const if_range = [&](std::string_view value) { return get({range, {"If-Range", value}}); };
    Case const cases[] = {
        {"GET", get({range}), plain, true},
        {"no Range", get(), plain, false},
        {"HEAD", request(Method::head, {range}), plain, false},
        {"404", get({range}), response(404, {}), false},
        {"two Range lines", get({range, range}), plain, false},
        {"If-Range etag", if_range("\"a\""), stored, true},
        {"If-Range other etag", if_range("\"b\""), stored, false},
        {"If-Range weak", if_range("W/\"a\""), stored, false},
        {"If-Range against weak", if_range("\"a\""), weak, false},
        {"If-Range both weak", if_range("W/\"a\""), weak, false},
        {"If-Range against nothing", if_range("\"a\""), plain, false},
        {"If-Range date", if_range(date(-60)), stored, true},
        {"If-Range other date", if_range(date(-59)), stored, false},
        {"If-Range weak date", if_range(date(0)), just_changed, false},
        {"If-Range date without Date", if_range(date(-60)), undated, false},
        {"If-Range nonsense", if_range("a"), stored, false},
        {"empty If-Range", if_range(""), plain, false},
        {"two If-Range", get({range, {"If-Range", "\"a\""}, {"If-Range", "\"a\""}}), stored, false},
    };
    for (auto const& c : cases)
        EXPECT_EQ(answer_range(c.asked, c.stored, 10, test_now).kind == RangeKind::partial, c.partial) << c.name;
}

TEST(Range, content_range_is_read_strictly_and_written_back) {
    struct Case {
        std::string_view text;
        std::optional<ContentRange> range;
    };
    Case const cases[] = {
        {"bytes 0-1/10", ContentRange{ByteRange{0, 1}, 10}},
        {"bytes 9-9/10", ContentRange{ByteRange{9, 9}, 10}},
        {"bytes 0-1/*", ContentRange{ByteRange{0, 1}, {}}},
        {"bytes */10", ContentRange{{}, 10}},
        {"bytes */*", {}},
        {"bytes 0-10/10", {}},
        {"bytes 5-4/10", {}},
        {"bytes 0-1/", {}},
        {"bytes 0-1", {}},
        {"bytes 0-/10", {}},
        {"bytes -1/10", {}},
        {"bytes 0-1/10x", {}},
        {"bytes 0-1/ 10", {}},
        {"bytes  0-1/10", {}},
        {"bytes=0-1/10", {}},
        {"lines 0-1/10", {}},
        {"bytes 0-18446744073709551615/*", {}},
        {"bytes 0-18446744073709551616/*", {}},
        {"bytes 0-1/18446744073709551616", {}},
        {"", {}},
    };
    for (auto const& c : cases) {
        auto const range = parse_content_range(c.text);
        EXPECT_EQ(range, c.range) << c.text;
        if (range) {
            EXPECT_EQ(format_content_range(*range), c.text);
        }
    }
}

TEST(Range, excessive_ones_are_for_no_origin) {
    auto excessive = [](std::string value) { return is_excessive_range(fields({{"Range", value}})); };
    std::string many = "bytes=0-0";
    for (int i = 1; i < 16; ++i) many += "," + std::to_string(10 * i) + "-" + std::to_string(10 * i);
    EXPECT_FALSE(excessive(many));
    EXPECT_TRUE(excessive(many + ",500-500"));
    EXPECT_TRUE(excessive("bytes=0-10,5-20"));
    EXPECT_TRUE(excessive("bytes=0-,0-"));
    EXPECT_TRUE(excessive("bytes=-5,-9"));
    EXPECT_FALSE(excessive("bytes=0-10,20-30,-5"));
    EXPECT_FALSE(excessive("bytes=7-"));
    EXPECT_FALSE(is_excessive_range(fields({})));
    EXPECT_TRUE(is_excessive_range(fields({{"Range", "bytes=0-1"}, {"Range", "bytes=0-1"}})));
}

}   // namespace
}   // namespace garner::http
