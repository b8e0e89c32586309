#include "admin/human.hpp"

#include <array>
#include <cstdio>
#include <span>

namespace garner::admin {

namespace {

/// At least three digits, and at most two decimals.
std::string three_digits(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*f", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value);
    return text;
}

/// Writes the number in the largest unit in which it is at least 1.
std::string scaled(std::uint64_t number, double step, std::span<char const* const> units) {
    double value = static_cast<double>(number) / step;
    std::size_t unit = 0;
    for (; value >= step - 0.5 && unit + 1 < units.size(); ++unit) value /= step;
    return three_digits(value) + units[unit];
}

struct Span {
    std::uint64_t seconds;
    char const* name;
};

}   // namespace

std::string human_count(std::uint64_t count) {
    auto text = std::to_string(count);
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<std::size_t>(at), ",");
    return text;
}

std::string human_short(std::uint64_t count) {
    static constexpr std::array units{"k", "M", "G", "T", "P", "E"};
    return count < 1'000 ? std::to_string(count) : scaled(count, 1'000, units);
}

std::string human_bytes(std::uint64_t bytes) {
    static constexpr std::array units{" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    return bytes < 1'024 ? std::to_string(bytes) + " B" : scaled(bytes, 1'024, units);
}

std::string human_micros(std::uint64_t micros) {
    if (micros < 1'000) return std::to_string(micros) + " µs";
    auto const value = static_cast<double>(micros);
    if (micros < 999'500) return three_digits(value / 1e3) + " ms";
    return three_digits(value / 1e6) + " s";
}

std::string human_share(std::optional<double> share) {
    if (!share) return "-";
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %%", *share * 100);
    return text;
}

std::string human_seconds(double seconds) {
    static constexpr std::array spans{Span{86'400, "d"}, Span{3'600, "h"}, Span{60, "min"}};
    auto const whole = seconds > 0 ? static_cast<std::uint64_t>(seconds) : 0;
    for (std::size_t i = 0; i < spans.size(); ++i) {
        if (whole < spans[i].seconds) continue;
        auto const next = i + 1 < spans.size() ? spans[i + 1] : Span{1, "s"};
        return std::to_string(whole / spans[i].seconds) + " " + spans[i].name + " " +
               std::to_string(whole % spans[i].seconds / next.seconds) + " " + next.name;
    }
    return std::to_string(whole) + " s";
}

std::string printable(std::string text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto const byte = static_cast<unsigned char>(text[i]);
        bool const c1 = byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
        if ((byte < 0x20 && byte != '\n') || byte == 0x7f) text[i] = '?';
        if (c1) text[i] = text[i + 1] = '?';
    }
    return text;
}

std::size_t columns(std::string_view text) {
    std::size_t count = 0;
    for (char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    return count;
}

std::string cut(std::string const& text, std::size_t width) {
    if (columns(text) <= width) return text;
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        bool const begins = (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
        if (begins && columns(out) + 1 == width) break;
        out += text[i];
    }
    return out + "…";
}

}   // namespace garner::admin
