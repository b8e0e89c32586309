#include "http/dates.hpp"

#include <gtest/gtest.h>

#include "http/heads.hpp"

namespace garner::http {
namespace {

TEST(Dates, reads_the_three_forms_and_nothing_else) {
    struct Case {
        std::string_view text;
        std::optional<std::int64_t> seconds;
    };
    constexpr std::int64_t t = test_seconds;
    Case const cases[] = {
        {"Sun, 06 Nov 1994 08:49:37 GMT", t},
        {"Sunday, 06-Nov-94 08:49:37 GMT", t},
        {"Sun Nov  6 08:49:37 1994", t},
        {"Sun Nov 16 08:49:37 1994", t + 864000},
        {"SUN, 06 nOV 1994 08:49:37 gmt", t},
        {"sunday, 06-NOV-94 08:49:37 gMT", t},
        {"sUN nOV  6 08:49:37 1994", t},
        {"Mon, 06 Nov 1994 08:49:37 GMT", t},   // a wrong day name is accepted
        {"Thu, 01 Jan 1970 00:00:00 GMT", 0},
        {"Wed, 31 Dec 1969 23:59:59 GMT", -1},
        {"Tue, 19 Jan 2038 14:14:08 GMT", 2147523248},
        {"Sun, 21 Nov 2286 04:46:39 GMT", 10000039599},
        {"Fri, 31 Dec 9999 23:59:59 GMT", 253402300799},
        {"Sat, 31 Dec 2016 23:59:60 GMT", 1483228800},
        {"Thu, 29 Feb 1996 00:00:00 GMT", 825552000},
        {"", {}},
        {"0", {}},
        {"-1", {}},
        {"now", {}},
        {"784111777", {}},
        {"Sun, 06 Nov 1994 08:49:37 UTC", {}},
        {"Sun, 06 Nov 1994 08:49:37 AEST", {}},
        {"Sun, 06 Nov 1994 08:49:37 +0000", {}},
        {"Sun, 06 Nov 1994 08:49:37", {}},
        {"Sun, 06 Nov 1994 08:49:37 GMT ", {}},
        {" Sun, 06 Nov 1994 08:49:37 GMT", {}},
        {"Sun, 06 Nov 94 08:49:37 GMT", {}},
        {"Sun 06 Nov 1994 08:49:37 GMT", {}},
        {"Sun,06 Nov 1994 08:49:37 GMT", {}},
        {"Sun, 06-Nov-1994 08:49:37 GMT", {}},
        {"Sun, 06  Nov  1994 08:49:37 GMT", {}},
        {"Sun,  06 Nov 1994 08:49:37 GMT", {}},
        {"Sun, 6 Nov 1994 08:49:37 GMT", {}},
        {"Sun, 06 Nov 1994 8:49:37 GMT", {}},
        {"Sun, 06 Nov 1994 08.49.37 GMT", {}},
        {"Sun, 06 Nov 1994 24:00:00 GMT", {}},
        {"Sun, 06 Nov 1994 08:60:37 GMT", {}},
        {"Sun, 06 Nov 1994 08:49:61 GMT", {}},
        {"Sun, 00 Nov 1994 08:49:37 GMT", {}},
        {"Sun, 31 Nov 1994 08:49:37 GMT", {}},
        {"Wed, 29 Feb 1995 00:00:00 GMT", {}},
        {"Sun, 06 Foo 1994 08:49:37 GMT", {}},
        {"Foo, 06 Nov 1994 08:49:37 GMT", {}},
        {"Sunday, 06 Nov 1994 08:49:37 GMT", {}},
        {"Sunday, 06-Nov-1994 08:49:37 GMT", {}},
        {"Sun, 06-Nov-94 08:49:37 GMT", {}},
        {"Sun Nov 6 08:49:37 1994", {}},
        {"Sun Nov 06  08:49:37 1994", {}},
        {"Sun Nov  6 08:49:37 94", {}},
        {"Sun Nov  6 08:49:37 1994 GMT", {}},
        {"Sun, 06 Nov +994 08:49:37 GMT", {}},
    };
    for (auto const& c : cases) EXPECT_EQ(parse_http_date(c.text, test_now), c.seconds) << c.text;
}

TEST(Dates, a_two_digit_year_is_at_most_fifty_years_ahead) {
    struct Case {
        std::string_view now;
        std::string_view text;
        std::string_view means;
    };
    Case const cases[] = {
        {"Sat, 21 Nov 2026 10:00:00 GMT", "Thursday, 18-Aug-50 02:01:18 GMT", "Thu, 18 Aug 2050 02:01:18 GMT"},
        {"Sat, 21 Nov 2026 10:00:00 GMT", "Friday, 20-Nov-76 00:00:00 GMT", "Fri, 20 Nov 2076 00:00:00 GMT"},
        {"Sat, 21 Nov 2026 10:00:00 GMT", "Thursday, 23-Dec-76 00:00:00 GMT", "Thu, 23 Dec 1976 00:00:00 GMT"},
        {"Sat, 21 Nov 2026 10:00:00 GMT", "Saturday, 01-Jan-77 00:00:00 GMT", "Sat, 01 Jan 1977 00:00:00 GMT"},
        {"Sat, 21 Nov 2026 10:00:00 GMT", "Tuesday, 29-Feb-00 00:00:00 GMT", "Tue, 29 Feb 2000 00:00:00 GMT"},
        {"Thu, 01 Jan 2099 00:00:00 GMT", "Thursday, 01-Jan-05 00:00:00 GMT", "Thu, 01 Jan 2105 00:00:00 GMT"},
    };
    for (auto const& c : cases) {
        auto const now = from_unix_seconds(*parse_http_date(c.now, test_now));
        auto const seconds = parse_http_date(c.text, now);
        ASSERT_TRUE(seconds) << c.text;
        EXPECT_EQ(format_http_date(*seconds), c.means);
    }
}

TEST(Dates, what_is_written_reads_back) {
    EXPECT_EQ(format_http_date(test_seconds), "Sun, 06 Nov 1994 08:49:37 GMT");
    EXPECT_EQ(format_http_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
    EXPECT_EQ(format_http_date(INT64_MAX), "Fri, 31 Dec 9999 23:59:59 GMT");
    EXPECT_EQ(format_http_date(INT64_MIN), "Sat, 01 Jan 0000 00:00:00 GMT");
    for (std::int64_t s = -3'000'000'000; s < 10'000'000'000; s += 12'345'679)
        EXPECT_EQ(parse_http_date(format_http_date(s), test_now), s);
}

}   // namespace
}   // namespace garner::http
