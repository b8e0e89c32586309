// Moments as text for operators.
#pragma once
#include <cstdio>
#include <string>

#include "util/clock.hpp"

namespace garner::bump {

/// "2026-11-25 16:04:00 UTC", rounded down to a second.
inline std::string utc_text(WallTime moment) {
    auto const day = std::chrono::floor<std::chrono::days>(moment);
    std::chrono::year_month_day const date(day);
    std::chrono::hh_mm_ss const time(std::chrono::floor<seconds>(moment - day));
    char text[64];
    std::snprintf(text, sizeof text, "%04d-%02u-%02u %02d:%02d:%02d UTC", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                  static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()));
    return text;
}

}   // namespace garner::bump
