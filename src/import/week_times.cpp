#include "import/week_times.hpp"

#include <array>
#include <optional>

#include "util/text.hpp"

namespace garner::importing {
namespace {

constexpr unsigned all_days = 0x7f;
constexpr unsigned weekdays = 0x3e;   // bit 0 is Sunday
constexpr unsigned day_minutes = 24 * 60;

/// The days of a word such as "MTWHF"; a hyphen means nothing.
std::optional<unsigned> days_of(std::string_view word) {
    constexpr std::string_view letters = "SMTWHFA";
    unsigned days = 0;
    for (char c : word) {
        auto const day = letters.find(c);
        if (day != npos)
            days |= 1u << day;
        else if (c == 'D')
            days |= weekdays;
        else if (c != '-')
            return std::nullopt;
    }
    return days;
}

std::string text_of_days(unsigned days) {
    constexpr std::array<std::string_view, 7> names{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    if (days == all_days) return {};
    if (days == weekdays) return "Mon-Fri";
    std::string text;
    for (unsigned day = 0; day < names.size(); ++day)
        if ((days >> day) & 1) text.append(text.empty() ? "" : ",").append(names[day]);
    return text;
}

struct Window {
    unsigned begin = 0;
    unsigned end = day_minutes;   // exclusive
};

std::optional<unsigned> minute_of(std::string_view text) {
    auto const colon = text.find(':');
    if (colon == npos) return std::nullopt;
    auto const hour = parse_decimal(text.substr(0, colon)), minute = parse_decimal(text.substr(colon + 1));
    if (!hour || !minute || *hour > 24 || *minute > 59 || *hour * 60 + *minute > day_minutes) return std::nullopt;
    return static_cast<unsigned>(*hour * 60 + *minute);
}

std::optional<Window> window_of(std::string_view word) {
    auto const dash = word.find('-');
    if (dash == npos) return std::nullopt;
    auto const begin = minute_of(word.substr(0, dash)), last = minute_of(word.substr(dash + 1));
    if (!begin || !last || *begin > *last || *begin == day_minutes) return std::nullopt;
    return Window{*begin, std::min(*last + 1, day_minutes)};
}

std::string two_digits(unsigned number) { return (number < 10 ? "0" : "") + std::to_string(number); }
std::string text_of_minute(unsigned minute) { return two_digits(minute / 60) + ":" + two_digits(minute % 60); }

std::string text_of(unsigned days, Window const& window) {
    auto text = text_of_days(days);
    bool const whole = window.begin == 0 && window.end == day_minutes;
    if (whole && !text.empty()) return text;
    return text + (text.empty() ? "" : " ") + text_of_minute(window.begin) + "-" + text_of_minute(window.end);
}

}   // namespace

Result<std::vector<std::string>> week_times(std::vector<std::string> const& words) {
    std::vector<std::string> texts;
    unsigned days = 0;
    for (auto const& word : words) {
        if (!is_digit(word.front())) {
            auto const more = days_of(word);
            if (!more) return Fault{"is not a day or a time of day", "write days as letters of SMTWHFA, or D for Monday to Friday"};
            days |= *more;
            continue;
        }
        auto const window = window_of(word);
        if (!window) return Fault{"is not a time of day", "write it like 08:00-18:00"};
        texts.push_back(text_of(days == 0 ? all_days : days, *window));
        days = 0;
    }
    if (days != 0) texts.push_back(text_of(days, {}));
    return texts;
}

}   // namespace garner::importing
