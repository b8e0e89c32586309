#include "share/ledger.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "util/hash.hpp"
#include "util/text.hpp"

namespace garner::share {

namespace {

constexpr char part_end = ' ';
constexpr std::size_t checksum_digits = 16;
constexpr std::string_view no_text = "-";   // an empty text; a hyphen itself is escaped

/// Equal in every process.
std::string checksum_of(std::string_view text) {
    constexpr std::uint64_t seed = 0;
    std::string digits;
    append_hex(fingerprint(text, seed), digits);
    return digits;
}

bool is_plain(char c) { return is_alpha(c) || is_digit(c) || c == '.' || c == '_' || c == ':' || c == '@'; }

void append_text(std::string_view text, std::string& out) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    if (text.empty()) out += no_text;
    for (char const c : text) {
        auto const byte = static_cast<unsigned char>(c);
        if (is_plain(c))
            out += c;
        else
            out.append(1, '%').append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    }
}

std::optional<std::string> text_in(std::string_view part) {
    if (part == no_text) return std::string();
    if (part.empty()) return std::nullopt;
    std::string out;
    for (std::size_t i = 0; i < part.size(); ++i) {
        if (part[i] != '%') {
            out += part[i];
            continue;
        }
        int const high = i + 2 < part.size() ? hex_value(part[i + 1]) : -1;
        int const low = i + 2 < part.size() ? hex_value(part[i + 2]) : -1;
        if (high < 0 || low < 0) return std::nullopt;
        out += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return out;
}

/// The next part of a line, which leaves it.
std::string_view take_part(std::string_view& line) {
    auto const end = line.find(part_end);
    auto const part = line.substr(0, end);
    line = end == npos ? std::string_view() : line.substr(end + 1);
    return part;
}

template <class Number>
bool read_number(std::string_view& line, Number& into) {
    auto const value = parse_decimal(take_part(line));
    if (!value || *value > static_cast<std::uint64_t>(std::numeric_limits<Number>::max())) return false;
    into = static_cast<Number>(*value);
    return true;
}

std::optional<LedgerRow> row_in(std::string_view line) {
    auto const checksum = take_part(line);
    if (checksum.size() != checksum_digits || checksum_of(line) != checksum) return std::nullopt;
    LedgerRow row;
    auto& usage = row.usage;
    bool const has_numbers = read_number(line, usage.begin) && read_number(line, usage.bytes) &&
                             read_number(line, usage.requests) && read_number(line, usage.minutes) &&
                             read_number(line, usage.last_minute);
    if (!has_numbers) return std::nullopt;
    auto rule = text_in(take_part(line));
    auto subject = text_in(take_part(line));
    if (!rule || !subject || rule->empty() || !line.empty()) return std::nullopt;
    row.rule = *std::move(rule);
    row.subject = *std::move(subject);
    return row;
}

}   // namespace

void append_row(LedgerRow const& row, std::string& text) {
    std::string line;
    auto const& usage = row.usage;
    for (auto const number : {static_cast<std::uint64_t>(usage.begin < 0 ? 0 : usage.begin), usage.bytes,
                              std::uint64_t{usage.requests}, std::uint64_t{usage.minutes}, std::uint64_t{usage.last_minute}})
        line.append(std::to_string(number)).append(1, part_end);
    append_text(row.rule, line);
    line += part_end;
    append_text(row.subject, line);
    text.append(checksum_of(line)).append(1, part_end).append(line).append(1, '\n');
}

Ledger parse_ledger(std::string_view text) {
    Ledger ledger;
    if (text.starts_with(ledger_head)) text.remove_prefix(ledger_head.size());
    while (!text.empty()) {
        auto const end = text.find('\n');
        if (end == npos) break;
        if (auto row = row_in(text.substr(0, end)))
            ledger.rows.push_back(*std::move(row));
        else
            ++ledger.damaged;
        text.remove_prefix(end + 1);
    }
    ledger.torn_bytes = text.size();
    return ledger;
}

std::vector<LedgerRow> last_rows(std::vector<LedgerRow> rows) {
    std::map<std::pair<std::string, std::string>, std::size_t> last;
    for (std::size_t i = 0; i < rows.size(); ++i) last[{rows[i].rule, rows[i].subject}] = i;
    std::vector<LedgerRow> kept;
    for (auto const& [subject, at] : last) kept.push_back(std::move(rows[at]));
    std::ranges::stable_sort(kept, {}, [](LedgerRow const& row) { return row.usage.last_minute; });
    return kept;
}

}   // namespace garner::share
