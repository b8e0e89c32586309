#include "import/squid_units.hpp"

#include <charconv>
#include <cmath>
#include <utility>

#include "util/text.hpp"

namespace garner::importing {
namespace {

struct Amount {
    double number = 0;
    std::string unit;   // in lower case; empty: none
};

/// "2 hours" and "2hours".
std::optional<Amount> amount_of(std::vector<std::string> const& words) {
    if (words.empty()) return std::nullopt;
    auto const& first = words.front();
    Amount amount;
    auto const [end, error] = std::from_chars(first.data(), first.data() + first.size(), amount.number);
    if (error != std::errc() || !std::isfinite(amount.number) || amount.number < 0) return std::nullopt;
    amount.unit = lower_case(std::string_view(end, static_cast<std::size_t>(first.data() + first.size() - end)));
    if (amount.unit.empty() && words.size() > 1) amount.unit = lower_case(words[1]);
    return amount;
}

}   // namespace

std::optional<Bytes> squid_size(std::vector<std::string> const& words) {
    auto const amount = amount_of(words);
    if (!amount) return std::nullopt;
    constexpr std::pair<std::string_view, Bytes> units[]{{"", 1}, {"bytes", 1}, {"kb", KiB}, {"mb", MiB}, {"gb", GiB}};
    constexpr double most = 1e18;
    for (auto const& [name, bytes] : units)
        if (amount->unit == name && amount->number * static_cast<double>(bytes) < most)
            return static_cast<Bytes>(amount->number * static_cast<double>(bytes));
    return std::nullopt;
}

std::optional<milliseconds> squid_time(std::vector<std::string> const& words) {
    auto const amount = amount_of(words);
    if (!amount) return std::nullopt;
    auto unit = std::string_view(amount->unit);
    if (unit.ends_with('s')) unit.remove_suffix(1);
    constexpr double second = 1'000, minute = 60 * second, hour = 60 * minute, day = 24 * hour, year = 365.2522 * day;
    constexpr std::pair<std::string_view, double> units[]{
        {"", second},      {"millisecond", 1},      {"second", second},  {"minute", minute}, {"hour", hour},       {"day", day},
        {"week", 7 * day}, {"fortnight", 14 * day}, {"month", 30 * day}, {"year", year},     {"decade", 10 * year}};
    for (auto const& [name, length] : units)
        if (unit == name && amount->number * length <= 100 * year)
            return milliseconds(static_cast<std::int64_t>(amount->number * length));
    return std::nullopt;
}

}   // namespace garner::importing
