#include "http/dates.hpp"

#include <algorithm>
#include <array>

#include "util/text.hpp"

namespace garner::http {
namespace {

constexpr std::array<std::string_view, 7> long_day_names{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                         "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> month_names{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

/// Reads a date from the left; after the first mismatch every further read fails.
class Reader {
public:
    explicit Reader(std::string_view text) : rest_(text) {}

    void literal(char expected) {
        if (rest_.empty() || to_lower(rest_.front()) != to_lower(expected)) good_ = false;
        skip(1);
    }
    /// The index of the next name.
    template <std::size_t Count>
    int one_of(std::array<std::string_view, Count> const& names) {
        for (std::size_t i = 0; i < Count; ++i) {
            if (rest_.empty() || to_lower(rest_.front()) != to_lower(names[i].front())) continue;   // most names differ here
            if (!equals_ignoring_case(rest_.substr(0, names[i].size()), names[i])) continue;
            skip(names[i].size());
            return static_cast<int>(i);
        }
        good_ = false;
        return 0;
    }
    /// Exactly `digits` digits.
    int number(std::size_t digits) {
        int value = 0;
        for (; digits > 0; --digits, skip(1)) {
            if (rest_.empty() || !is_digit(rest_.front())) return good_ = false, 0;
            value = 10 * value + (rest_.front() - '0');
        }
        return value;
    }
    /// asctime pads the day of the month with a space.
    int padded_day() {
        if (!rest_.starts_with(' ')) return number(2);
        skip(1);
        return number(1);
    }
    bool finished() const { return good_ && rest_.empty(); }

private:
    void skip(std::size_t count) { rest_.remove_prefix(std::min(count, rest_.size())); }
    std::string_view rest_;
    bool good_ = true;
};

struct Parts {
    int year = 0;
    int month = 0;   // 1..12
    int day = 0;
    int hour = 0;
    int minute = 0;
    int second = 0;
};

std::optional<std::int64_t> to_seconds(Parts const& parts) {
    std::chrono::year_month_day const date{std::chrono::year{parts.year}, std::chrono::month{static_cast<unsigned>(parts.month)},
                                           std::chrono::day{static_cast<unsigned>(parts.day)}};
    // 60 is a leap second (RFC 9110 5.6.7, from RFC 5322).
    if (!date.ok() || parts.hour > 23 || parts.minute > 59 || parts.second > 60) return std::nullopt;
    std::int64_t const days = std::chrono::sys_days{date}.time_since_epoch().count();
    return ((days * 24 + parts.hour) * 60 + parts.minute) * 60 + parts.second;
}

/// Reads `text` by a pattern: %a and %A a day's short and long name, %b a month's, %d, %Y, %y, %H, %M and %S numbers, %e
/// the day padded with a space; other bytes match themselves. False when it does not match.
bool read_date(std::string_view text, std::string_view pattern, Parts& parts) {
    Reader in(text);
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '%') {
            in.literal(pattern[i]);
            continue;
        }
        switch (pattern[++i]) {
        case 'a': in.one_of(day_names); break;
        case 'A': in.one_of(long_day_names); break;
        case 'b': parts.month = in.one_of(month_names) + 1; break;
        case 'd': parts.day = in.number(2); break;
        case 'e': parts.day = in.padded_day(); break;
        case 'Y': parts.year = in.number(4); break;
        case 'y': parts.year = in.number(2); break;
        case 'H': parts.hour = in.number(2); break;
        case 'M': parts.minute = in.number(2); break;
        case 'S': parts.second = in.number(2); break;
        }
    }
    return in.finished();
}

/// The form that senders must generate, in its usual spelling: "Sun, 06 Nov 1994 08:49:37 GMT". False: it may be written otherwise.
bool read_usual_date(std::string_view text, Parts& parts) {
    constexpr std::string_view form = "Aaa, 00 Aaa 0000 00:00:00 GMT";
    if (text.size() != form.size()) return false;
    for (std::size_t i = 0; i < form.size(); ++i)
        if (form[i] == '0' ? !is_digit(text[i]) : form[i] != 'A' && form[i] != 'a' && form[i] != text[i]) return false;
    auto const number = [&](std::size_t at) { return 10 * (text[at] - '0') + (text[at + 1] - '0'); };
    auto const month = std::ranges::find(month_names, text.substr(8, 3));
    if (month == month_names.end() || std::ranges::find(day_names, text.substr(0, 3)) == std::end(day_names)) return false;
    parts = {.year = 100 * number(12) + number(14),
             .month = static_cast<int>(month - month_names.begin()) + 1,
             .day = number(5),
             .hour = number(17),
             .minute = number(20),
             .second = number(23)};
    return true;
}

/// RFC 9110 5.6.7: the last year with these two digits that is at most 50 years in the future.
std::optional<std::int64_t> in_nearest_century(Parts parts, WallTime now) {
    constexpr std::int64_t fifty_years = 50LL * 31'556'952;
    std::chrono::year_month_day const today{std::chrono::floor<std::chrono::days>(now)};
    int const this_year = static_cast<int>(today.year());
    parts.year += this_year - this_year % 100 + 100;
    for (int century = 0; century < 3; ++century, parts.year -= 100)
        if (auto time = to_seconds(parts); time && *time <= unix_seconds(now) + fifty_years) return time;
    return std::nullopt;
}

void put_number(char*& out, int value, int digits) {
    for (int i = digits - 1; i >= 0; --i, value /= 10) out[i] = static_cast<char>('0' + value % 10);
    out += digits;
}

void put_text(char*& out, std::string_view text) { out = std::copy(text.begin(), text.end(), out); }

}   // namespace

std::optional<std::int64_t> parse_http_date(std::string_view text, WallTime now) {
    Parts parts;
    if (read_usual_date(text, parts)) return to_seconds(parts);
    // Only the IMF form has its comma at index 3; only asctime has none.
    bool const is_imf = text.size() > 3 && text[3] == ',';
    if (!is_imf && text.find(',') != text.npos)
        return read_date(text, "%A, %d-%b-%y %H:%M:%S GMT", parts) ? in_nearest_century(parts, now) : std::nullopt;
    auto const* pattern = is_imf ? "%a, %d %b %Y %H:%M:%S GMT" : "%a %b %e %H:%M:%S %Y";
    return read_date(text, pattern, parts) ? to_seconds(parts) : std::nullopt;
}

void format_http_date(std::int64_t unix_seconds, char* out29) {
    constexpr std::int64_t year_0 = -62'167'219'200;
    constexpr std::int64_t end_of_year_9999 = 253'402'300'799;
    std::chrono::sys_seconds const time{seconds{std::clamp(unix_seconds, year_0, end_of_year_9999)}};
    auto const day = std::chrono::floor<std::chrono::days>(time);
    std::chrono::year_month_day const date{day};
    std::chrono::hh_mm_ss const clock{time - day};

    char* out = out29;
    put_text(out, day_names[std::chrono::weekday{day}.c_encoding()]);
    put_text(out, ", ");
    put_number(out, static_cast<int>(static_cast<unsigned>(date.day())), 2);
    put_text(out, " ");
    put_text(out, month_names[static_cast<unsigned>(date.month()) - 1]);
    put_text(out, " ");
    put_number(out, static_cast<int>(date.year()), 4);
    put_text(out, " ");
    put_number(out, static_cast<int>(clock.hours().count()), 2);
    put_text(out, ":");
    put_number(out, static_cast<int>(clock.minutes().count()), 2);
    put_text(out, ":");
    put_number(out, static_cast<int>(clock.seconds().count()), 2);
    put_text(out, " GMT");
}

std::string format_http_date(std::int64_t unix_seconds) {
    std::string text(http_date_bytes, ' ');
    format_http_date(unix_seconds, text.data());
    return text;
}

}   // namespace garner::http
