// Dates: every parsed date is written in one form that parses to an equal value; only two-digit years depend on the current day.
#include "http/dates.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "fuzzed.hpp"
#include "util/text.hpp"

namespace {

using namespace garner;

constexpr std::int64_t year_0 = -62'167'219'200, end_of_year_9999 = 253'402'300'799;
constexpr std::int64_t year = 31'556'952;

WallTime at(std::int64_t unix_seconds) { return WallTime{seconds{unix_seconds}}; }

void check_written(std::int64_t time, WallTime now) {
    auto const text = http::format_http_date(time);
    check(text.size() == http::http_date_bytes);
    check(http::parse_http_date(text, now) == std::clamp(time, year_0, end_of_year_9999));
}

void check_read(std::string_view text, std::int64_t time, WallTime now) {
    check(time >= year_0 && time <= end_of_year_9999 + 1);   // + 1: a leap second
    bool const two_digit_year = text.find('-') != std::string_view::npos;
    if (two_digit_year) {
        check(time <= unix_seconds(now) + 50 * year);
        check(time > unix_seconds(now) - 151 * year);   // a 29th of February may be up to two centuries back
    } else {
        check(http::parse_http_date(text, at(0)) == time);
    }
    bool const leap_second = text.find(":60") != std::string_view::npos;
    bool const imf = text.size() == http::http_date_bytes && text[3] == ',';
    // Only the day of the week is derived when a date is written.
    if (imf && !leap_second) check(equals_ignoring_case(http::format_http_date(time).substr(3), text.substr(3)));
    if (time <= end_of_year_9999) check_written(time, now);
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzz::Input const input(data, size);
    constexpr std::int64_t days[]{0, 951'782'400, 1'700'000'000, 2'524'607'999, 4'102'444'800};
    auto const now = at(days[input.seed % 5]);
    fuzz::Exact const bytes(input.bytes);
    if (auto const time = http::parse_http_date(bytes.view(), now)) check_read(bytes.view(), *time, now);
    if (std::int64_t time; input.bytes.size() >= sizeof time) {
        std::memcpy(&time, input.bytes.data(), sizeof time);
        check_written(time, now);
    }
    return 0;
}
