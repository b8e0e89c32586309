#include "share/quota.hpp"

#include <algorithm>
#include <array>
#include <ctime>

#include "share/subject.hpp"
#include "util/numbers.hpp"
#include "util/units.hpp"

namespace garner::share {

namespace {

std::tm local(std::int64_t time) {
    auto const clock = static_cast<std::time_t>(time);
    std::tm parts{};
    ::localtime_r(&clock, &parts);
    return parts;
}

/// mktime() finds out whether summer time applies.
std::int64_t moment(std::tm parts) {
    parts.tm_isdst = -1;
    return ::mktime(&parts);
}

std::uint32_t minutes_with(Usage const& usage, std::int64_t now) {
    return usage.minutes + (minute_of(now) > usage.last_minute ? 1 : 0);
}

/// Three digits are enough for a reader.
std::string short_size(Bytes bytes) {
    constexpr std::array units{"B", "kB", "MB", "GB", "TB", "PB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 999.5 && unit + 1 < units.size(); ++unit) value /= 1'000;
    auto text = with_decimals(value, unit == 0 || value >= 99.95 ? 0 : 1);
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text + " " + units[unit];
}

}   // namespace

/// Summer time may begin or end at midnight: then mktime() may give a moment outside.
Window window_at(Per per, std::int64_t now) {
    auto first = local(now);
    first.tm_hour = first.tm_min = first.tm_sec = 0;
    if (per == Per::week) first.tm_mday -= (first.tm_wday + 6) % 7;
    if (per == Per::month) first.tm_mday = 1;
    auto next = first;
    if (per == Per::month)
        ++next.tm_mon;
    else
        next.tm_mday += per == Per::week ? 7 : 1;
    Window window{moment(first), moment(next)};
    window.begin = std::min(window.begin, now);
    window.end = std::max(window.end, now + 1);
    return window;
}

QuotaState state_of(QuotaRule const& rule, Usage const& usage, std::int64_t now, Asks asks) {
    bool const bytes_used_up = rule.bytes > 0 && usage.bytes >= rule.bytes;
    bool const minutes_used_up = rule.minutes() > 0 && minutes_with(usage, now) > rule.minutes();
    auto const requests = std::uint64_t{usage.requests} + (asks == Asks::begin ? 1 : 0);
    bool const requests_used_up = rule.requests > 0 && requests > rule.requests;
    if (bytes_used_up || minutes_used_up || requests_used_up)
        return rule.over == Over::refuse ? QuotaState::over : QuotaState::slow;
    bool const is_soft = rule.has_limit() && nearest_limit(rule, usage).part() >= rule.soft;
    return is_soft && rule.slow > 0 ? QuotaState::slow : QuotaState::within;
}

Nearest nearest_limit(QuotaRule const& rule, Usage const& usage) {
    std::array const all{Nearest{"bytes", usage.bytes, rule.bytes}, Nearest{"requests", usage.requests, rule.requests},
                         Nearest{"minutes", usage.minutes, rule.minutes()}};
    Nearest nearest = all.front();
    for (auto const& one : all) {
        bool const is_first = one.limit > 0 && nearest.limit == 0;
        if (is_first || one.part() > nearest.part()) nearest = one;
    }
    return nearest;
}

std::string quota_subject_name(std::string_view key) { return key.empty() ? std::string(all_subjects) : subject_name(key); }

std::vector<std::string> quota_subject_keys_of(std::string_view name) {
    if (name == all_subjects) return {std::string()};
    return subject_keys_of(name);
}

std::string used_text(Nearest const& nearest) {
    std::string_view const unit = nearest.unit;
    auto const both = [&](auto const& text) {
        auto used = text(nearest.used);
        return nearest.limit == 0 ? used : used + " of " + text(nearest.limit);
    };
    if (unit == "bytes") return both(short_size);
    if (unit == "minutes")
        return both([](std::uint64_t value) { return time_text(std::chrono::minutes(static_cast<std::int64_t>(value))); });
    return both([](std::uint64_t value) { return std::to_string(value); }) + " requests";
}

std::string local_time_text(std::int64_t time) {
    auto const parts = local(time);
    char text[32];
    return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts)};
}

std::string over_text(QuotaStanding const& standing) {
    char const* const span = standing.rule.per == Per::day ? "today" : standing.rule.per == Per::week ? "this week" : "this month";
    return "The quota \"" + standing.rule.name + "\" is used up: " + used_text(standing.nearest()) + " " + span +
           ". It begins anew at " + local_time_text(standing.until) + ".";
}

}   // namespace garner::share
