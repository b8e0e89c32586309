// Text functions for HTTP's grammar: ASCII only, no locale.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace garner {

inline constexpr auto npos = std::string_view::npos;

constexpr char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_alpha(char c) { return is_lower(to_lower(c)); }

/// -1 when `c` is no hexadecimal digit.
constexpr int hex_value(char c) {
    if (is_digit(c)) return c - '0';
    char const low = to_lower(c);
    return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

constexpr bool equals_ignoring_case(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (to_lower(a[i]) != to_lower(b[i])) return false;
    return true;
}

/// Removes spaces and tabs (OWS, RFC 9110 5.6.3) at both ends.
constexpr std::string_view trim(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

/// Parses one or more digits and nothing else; nothing when the value overflows 64 bits.
constexpr std::optional<std::uint64_t> parse_decimal(std::string_view digits) {
    if (digits.empty()) return std::nullopt;
    std::uint64_t value = 0;
    for (char c : digits) {
        if (c < '0' || c > '9') return std::nullopt;
        auto digit = static_cast<std::uint64_t>(c - '0');
        if (value > (UINT64_MAX - digit) / 10) return std::nullopt;
        value = value * 10 + digit;
    }
    return value;
}

/// 16 hexadecimal digits.
inline void append_hex(std::uint64_t word, std::string& out) {
    for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[word >> shift & 15];
}

inline void append_lower_case(std::string_view text, std::string& out) {
    out.append(text);
    for (char *end = out.data() + out.size(), *c = end - text.size(); c != end; ++c) *c = to_lower(*c);
}
inline std::string lower_case(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = to_lower(c);
    return out;
}

}   // namespace garner
