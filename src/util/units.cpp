// Sizes and times: numbers with a unit.
#include "util/units.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "util/text.hpp"

namespace garner {
namespace {

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};

// clang-format off
constexpr std::array size_units{
    Unit{"TiB", 1024 * GiB}, Unit{"TB", 1'000'000'000'000}, Unit{"GiB", GiB}, Unit{"GB", 1'000'000'000},
    Unit{"MiB", MiB},        Unit{"MB", 1'000'000},         Unit{"KiB", KiB}, Unit{"KB", 1'000},
    Unit{"", 1},             Unit{"B", 1},
};
// clang-format on

// In bits.
constexpr std::array rate_units{
    Unit{"Gbit/s", 1'000'000'000}, Unit{"Mbit/s", 1'000'000}, Unit{"kbit/s", 1'000},   Unit{"GiB/s", 8 * GiB},
    Unit{"GB/s", 8'000'000'000},   Unit{"MiB/s", 8 * MiB},    Unit{"MB/s", 8'000'000}, Unit{"KiB/s", 8 * KiB},
    Unit{"KB/s", 8'000},           Unit{"bit/s", 1},          Unit{"B/s", 8},          Unit{"", 8},
};

constexpr std::array time_units{
    Unit{"d", 86'400'000}, Unit{"h", 3'600'000}, Unit{"m", 60'000}, Unit{"s", 1'000}, Unit{"ms", 1},
};

constexpr std::uint64_t size_max = std::uint64_t{1} << 63;
constexpr std::uint64_t time_max = std::uint64_t{100} * 366 * 86'400'000;

template <std::size_t N>
Unit const* find_unit(std::array<Unit, N> const& units, std::string_view name) {
    for (Unit const& unit : units)
        if (equals_ignoring_case(unit.name, name)) return &unit;
    return nullptr;
}

// Exact in integers: a double would lose bytes above 2^53.
std::optional<std::uint64_t> scaled(std::string_view number, std::uint64_t factor, std::uint64_t max) {
    auto const point = number.find('.');
    auto const whole = parse_decimal(number.substr(0, point));
    if (!whole || *whole > max / factor) return std::nullopt;
    std::uint64_t value = *whole * factor;
    if (point == number.npos) return value;

    auto const digits = number.substr(point + 1);
    if (digits.empty() || digits.size() > 6 || !parse_decimal(digits)) return std::nullopt;
    std::uint64_t place = 1;
    for (std::size_t i = 0; i < digits.size(); ++i) place *= 10;
    __extension__ using Wide = unsigned __int128;
    value += static_cast<std::uint64_t>(static_cast<Wide>(*parse_decimal(digits)) * factor / place);
    return value <= max ? std::optional(value) : std::nullopt;
}

struct Parts {
    std::string_view number;
    std::string_view unit;
};

Parts split(std::string_view text) {
    text = trim(text);
    auto const end = text.find_first_not_of("0123456789.");
    if (end == text.npos) return {text, {}};
    return {text.substr(0, end), trim(text.substr(end))};
}

template <std::size_t N>
std::string shortest(std::array<Unit, N> const& units, std::uint64_t value, std::string_view between) {
    std::string best;
    Unit const* of = nullptr;
    for (Unit const& unit : units) {
        if (value % unit.factor != 0) continue;
        auto number = std::to_string(value / unit.factor);
        if (of && number.size() >= best.size()) continue;
        best = std::move(number);
        of = &unit;
    }
    return of->name.empty() ? best : best.append(between).append(of->name);
}

}   // namespace

std::optional<Bytes> parse_size(std::string_view text) {
    auto const [number, name] = split(text);
    auto const* unit = find_unit(size_units, name);
    if (!unit) return std::nullopt;
    return scaled(number, unit->factor, size_max);
}

/// "Mb/s" is refused: it may mean bits.
std::optional<Bytes> parse_rate(std::string_view text) {
    auto const [number, name] = split(text);
    if (name.find('b') != npos && name.find("bit") == npos) return std::nullopt;
    auto const* unit = find_unit(rate_units, name);
    if (!unit) return std::nullopt;
    auto const bits = scaled(number, unit->factor, size_max);
    if (!bits) return std::nullopt;
    bool const is_zero = number.find_first_of("123456789") == npos;
    return is_zero ? 0 : std::max<Bytes>((*bits + 7) / 8, 1);   // 0 would be no limit
}

std::optional<milliseconds> parse_time(std::string_view text) {
    auto const [number, name] = split(text);
    if (name.empty()) return number == "0" ? std::optional(milliseconds{0}) : std::nullopt;
    auto const* unit = find_unit(time_units, name);
    if (!unit) return std::nullopt;
    auto const value = scaled(number, unit->factor, time_max);
    if (!value) return std::nullopt;
    return milliseconds{static_cast<std::int64_t>(*value)};
}

std::string size_text(Bytes value) {
    if (value == 0) return "0";
    return shortest(size_units, value, " ");
}

std::string rate_text(Bytes value) {
    if (value == 0) return "0";
    constexpr std::array decimal{rate_units[0], rate_units[1], rate_units[2]};
    auto const bits = value * 8;
    return bits % decimal.back().factor == 0 ? shortest(decimal, bits, " ") : shortest(rate_units, bits, " ");
}

std::string time_text(milliseconds time) {
    if (time.count() == 0) return "0s";
    return shortest(time_units, static_cast<std::uint64_t>(time.count()), "");
}

}   // namespace garner
