#include "http/time_window.hpp"

#include <algorithm>
#include <cstdint>
#include <ctime>

#include "http/dates.hpp"
#include "util/text.hpp"

namespace garner::http {
namespace {

// "Mon-Fri", "Sat,Sun", "Fri-Mon": bit 0 is Sunday.
std::optional<std::uint8_t> parse_days(std::string_view text) {
    unsigned days = 0;
    while (true) {
        auto const comma = text.find(',');
        auto const part = text.substr(0, comma);
        auto const dash = part.find('-');
        auto const first = parse_weekday(part.substr(0, dash));
        auto const last = dash == part.npos ? first : parse_weekday(part.substr(dash + 1));
        if (!first || !last) return std::nullopt;
        for (unsigned day = *first;; day = (day + 1) % 7) {
            days |= 1u << day;
            if (day == *last) break;
        }
        if (comma == text.npos) return static_cast<std::uint8_t>(days);
        text.remove_prefix(comma + 1);
    }
}

}   // namespace

std::optional<unsigned> parse_weekday(std::string_view text) {
    for (unsigned day = 0; day < day_names.size(); ++day)
        if (equals_ignoring_case(day_names[day], text)) return day;
    return std::nullopt;
}

std::optional<std::uint16_t> parse_minute_of_day(std::string_view text) {
    if (text.size() != 5 || text[2] != ':') return std::nullopt;
    auto const hour = parse_decimal(text.substr(0, 2));
    auto const minute = parse_decimal(text.substr(3));
    if (!hour || !minute || *minute > 59 || *hour * 60 + *minute > 24 * 60) return std::nullopt;
    return static_cast<std::uint16_t>(*hour * 60 + *minute);
}

std::optional<TimeWindow> TimeWindow::parse(std::string_view text) {
    TimeWindow window;
    text = trim(text);
    auto const space = text.find(' ');
    auto hours = text;
    if (!text.empty() && (text.front() < '0' || text.front() > '9')) {
        auto const days = parse_days(text.substr(0, space));
        if (!days) return std::nullopt;
        window.days_ = *days;
        if (space == text.npos) return window;
        hours = trim(text.substr(space + 1));
    }
    auto const dash = hours.find('-');
    if (dash == hours.npos) return std::nullopt;
    auto const begin = parse_minute_of_day(hours.substr(0, dash));
    auto const end = parse_minute_of_day(hours.substr(dash + 1));
    if (!begin || !end || *begin == *end || *begin == 24 * 60) return std::nullopt;
    window.begin_ = *begin;
    window.end_ = *end;
    return window;
}

bool TimeWindow::contains(unsigned weekday, unsigned minute) const {
    bool const today = (days_ >> weekday) & 1;
    if (begin_ < end_) return today && begin_ <= minute && minute < end_;
    bool const yesterday = (days_ >> ((weekday + 6) % 7)) & 1;
    return (today && minute >= begin_) || (yesterday && minute < end_);
}

std::vector<IntervalSet<std::uint32_t>::Interval> TimeWindow::intervals() const {
    std::vector<IntervalSet<std::uint32_t>::Interval> all;
    for (std::uint32_t day = 0; day < 7; ++day) {
        if (!((days_ >> day) & 1)) continue;
        std::uint32_t const begin = day * minutes_of_day + begin_;
        std::uint32_t const end = day * minutes_of_day + end_ + (begin_ < end_ ? 0 : minutes_of_day);
        all.push_back({begin, std::min(end, minutes_of_week) - 1});
        if (end > minutes_of_week) all.push_back({0, end - minutes_of_week - 1});
    }
    return all;
}

std::uint32_t minute_of_week(WallTime time) {
    struct Known {
        std::time_t seconds = INT64_MIN;
        std::uint32_t minute = 0;
    };
    // localtime_r takes a lock that all threads share.
    thread_local Known known;
    std::time_t const seconds = unix_seconds(time);
    if (known.seconds == seconds) return known.minute;
    std::tm local{};
    localtime_r(&seconds, &local);
    auto const minutes = static_cast<std::uint32_t>(local.tm_wday * 24 * 60 + local.tm_hour * 60 + local.tm_min);
    known = {seconds, minutes};
    return minutes;
}

}   // namespace garner::http
