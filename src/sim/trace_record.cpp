#include "sim/trace_record.hpp"

#include <algorithm>

#include "util/text.hpp"

namespace garner::sim {
namespace {

constexpr std::size_t text_shown = 40;

std::string printable(std::string_view text) {
    std::string out(text.substr(0, text_shown));
    for (char& c : out)
        if (c < 0x20 || c > 0x7e) c = '?';
    return text.size() > text_shown ? out + "..." : out;
}

}   // namespace

std::string fault_of(Record const& record) {
    std::string line(record.field);
    if (!record.text.empty()) line += (line.empty() ? "'" : " '") + printable(record.text) + "'";
    return line + (line.empty() ? "" : " ") + std::string(record.why);
}

SizeRead read_size(std::string_view text) {
    if (auto size = parse_decimal(text)) return *size <= size_max ? SizeRead{*size, {}} : SizeRead{0, "is above 2^53"};
    if (text.empty()) return {0, "is missing"};
    bool negative = text.front() == '-' && text.size() > 1;
    auto digits = text.substr(negative ? 1 : 0);
    if (!std::all_of(digits.begin(), digits.end(), is_digit)) return {0, "is not a whole number"};
    return {0, negative ? "is negative" : "is above 2^53"};
}

std::uint64_t key_of(std::string_view text) {
    constexpr std::uint64_t seed = 0;   // constant, so that every run draws the same sample
    // "007" is different from 7.
    bool canonical = !text.empty() && is_digit(text.front()) && (text.front() != '0' || text.size() == 1);
    if (canonical)
        if (auto number = parse_decimal(text)) return key_of(*number);
    return fingerprint(text, seed);
}

}   // namespace garner::sim
