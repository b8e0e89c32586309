#include "http/time_window.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "http/dates.hpp"

namespace garner::http {
namespace {

TEST(TimeWindow, contains_days_and_hours) {
    auto const weekday_hours = *TimeWindow::parse("Mon-Fri 08:00-18:00");
    EXPECT_TRUE(weekday_hours.contains(1, 8 * 60));
    EXPECT_TRUE(weekday_hours.contains(5, 18 * 60 - 1));
    EXPECT_FALSE(weekday_hours.contains(5, 18 * 60));
    EXPECT_FALSE(weekday_hours.contains(0, 9 * 60));
    auto const night = *TimeWindow::parse("fri 22:00-06:00");
    EXPECT_TRUE(night.contains(5, 23 * 60));
    EXPECT_TRUE(night.contains(6, 5 * 60)) << "Saturday morning belongs to the window of Friday";
    EXPECT_FALSE(night.contains(5, 5 * 60));
    auto const weekend = *TimeWindow::parse("Sat-Sun");
    EXPECT_TRUE(weekend.contains(0, 0));
    EXPECT_TRUE(weekend.contains(6, 1439));
    EXPECT_FALSE(weekend.contains(1, 0));
    EXPECT_TRUE(TimeWindow::parse("Mon,Wed 00:00-24:00")->contains(3, 1439));
    EXPECT_TRUE(TimeWindow::parse("10:00-11:00")->contains(4, 600));
    for (char const* text : {"", "Mon Fri", "8:00-18:00", "08:00", "Mon-", "Mon 08:00-25:00", "Mon 08:60-09:00", "Monday",
                             "08:00-08:00", "24:00-01:00", "Mon, Tue", "08:00-18:00 Mon"})
        EXPECT_FALSE(TimeWindow::parse(text)) << text;
}

TEST(TimeWindow, is_local) {
    setenv("TZ", "EST5", 1);
    tzset();
    // 1970-01-01 was a Thursday; 02:00 UTC is Wednesday evening in the configured zone.
    EXPECT_TRUE(TimeWindow::parse("Wed 20:00-22:00")->contains(from_unix_seconds(2 * 3'600)));
    EXPECT_FALSE(TimeWindow::parse("Thu")->contains(from_unix_seconds(2 * 3'600)));
    unsetenv("TZ");
    tzset();
}

}   // namespace
}   // namespace garner::http
