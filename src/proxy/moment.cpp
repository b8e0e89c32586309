#include "proxy/moment.hpp"

#include <array>
#include <chrono>
#include <ctime>

#include "http/dates.hpp"
#include "http/time_window.hpp"
#include "util/text.hpp"

namespace garner::proxy {
namespace {

/// The numbers at the digits of a pattern such as "0000-00-00"; nothing if another byte differs from it.
template <std::size_t count>
std::optional<std::array<int, count>> read_numbers(std::string_view text, std::string_view pattern) {
    if (text.size() != pattern.size()) return std::nullopt;
    std::array<int, count> numbers{};
    std::size_t at = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (pattern[i] != '0') {
            if (text[i] != pattern[i]) return std::nullopt;
            if (i + 1 < text.size()) ++at;
        } else {
            if (!is_digit(text[i])) return std::nullopt;
            numbers[at] = numbers[at] * 10 + (text[i] - '0');
        }
    }
    return numbers;
}

std::optional<WallTime> parse_utc(std::string_view text) {
    auto const read = read_numbers<6>(text, "0000-00-00T00:00:00Z");
    if (!read) return std::nullopt;
    auto const [year, month, day, hour, minute, second] = *read;
    using namespace std::chrono;
    year_month_day const date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                              std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok() || year < 1970 || hour > 23 || minute > 59 || second > 60) return std::nullopt;
    return from_unix_seconds(sys_days(date).time_since_epoch() / seconds(1) + hour * 3600 + minute * 60 + second);
}

std::optional<WallTime> parse_weekly(std::string_view text) {
    auto const space = text.find(' ');
    if (space == text.npos) return std::nullopt;
    auto const weekday = http::parse_weekday(text.substr(0, space));
    auto const minute = http::parse_minute_of_day(text.substr(space + 1));
    if (!weekday || !minute || *minute == http::minutes_of_day) return std::nullopt;
    std::tm local{};   // 1 February 2026 was a Sunday
    local.tm_year = 126;
    local.tm_mon = 1;
    local.tm_mday = 1 + static_cast<int>(*weekday);
    local.tm_hour = *minute / 60;
    local.tm_min = *minute % 60;
    local.tm_isdst = -1;
    return from_unix_seconds(std::mktime(&local));
}

}   // namespace

std::optional<WallTime> parse_moment(std::string_view text) {
    if (auto const utc = parse_utc(text)) return utc;
    return parse_weekly(text);
}

}   // namespace garner::proxy
