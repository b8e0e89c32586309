// Weekly times of rules.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "http/interval_set.hpp"
#include "util/clock.hpp"

namespace garner::http {

inline constexpr std::uint32_t minutes_of_day = 24 * 60;
inline constexpr std::uint32_t minutes_of_week = 7 * minutes_of_day;

/// Minutes since Sunday 00:00 in local time, below minutes_of_week. The system is asked once for each second and thread.
std::uint32_t minute_of_week(WallTime);

/// "Mon", in any case: 0 is Sunday.
std::optional<unsigned> parse_weekday(std::string_view text);
/// "08:00" to "24:00", in minutes.
std::optional<std::uint16_t> parse_minute_of_day(std::string_view text);

/// Local time in the week: "Mon-Fri 08:00-18:00", "Sat,Sun", "22:00-06:00". One of the two parts may be left out. The end
/// is exclusive. Hours past midnight belong to the day on which the window begins.
class TimeWindow {
public:
    static std::optional<TimeWindow> parse(std::string_view text);
    bool contains(WallTime time) const { return contains(minute_of_week(time)); }
    /// Takes a local weekday (0 is Sunday) and minute of the day.
    bool contains(unsigned weekday, unsigned minute) const;
    bool contains(std::uint32_t minute_of_week) const {
        return contains(minute_of_week / minutes_of_day, minute_of_week % minutes_of_day);
    }
    /// Its minutes of the week.
    std::vector<IntervalSet<std::uint32_t>::Interval> intervals() const;

private:
    std::uint8_t days_ = 0x7f;   // bit 0: Sunday
    std::uint16_t begin_ = 0;    // minutes after midnight
    std::uint16_t end_ = 24 * 60;
};

}   // namespace garner::http
