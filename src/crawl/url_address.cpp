#include "crawl/url_address.hpp"

#include <algorithm>
#include <charconv>

#include "crawl/url_bytes.hpp"

namespace garner::crawl {
namespace {

template <class Number>
void append_number(Number number, int base, std::string& to) {
    char digits[12];
    to.append(digits, std::to_chars(digits, digits + sizeof digits, number, base).ptr);
}

/// One number of an IPv4 address; above 2^32 it is 2^32.
std::optional<std::uint64_t> parse_ipv4_number(std::string_view text) {
    if (text.empty()) return std::nullopt;
    unsigned base = 10;
    if (text.size() >= 2 && text[0] == '0') {
        bool const hexadecimal = (text[1] | 0x20) == 'x';
        base = hexadecimal ? 16 : 8;
        text.remove_prefix(hexadecimal ? 2 : 1);
    }
    constexpr std::uint64_t beyond = std::uint64_t{1} << 32;
    std::uint64_t value = 0;
    for (char c : text) {
        int const digit = hex_value(c);
        if (digit < 0 || static_cast<unsigned>(digit) >= base) return std::nullopt;
        value = std::min(value * base + static_cast<unsigned>(digit), beyond);
    }
    return value;
}

std::string_view without_last_dot(std::string_view host) {
    if (host.ends_with('.')) host.remove_suffix(1);
    return host;
}

/// Reads the pieces of an IPv6 address from the front.
class Ipv6Reader {
public:
    explicit Ipv6Reader(std::string_view text) : text_(text) {}

    std::optional<Ipv6> read() {
        if (take("::"))
            take_gap();
        else if (text_.starts_with(':'))
            return std::nullopt;
        while (!text_.empty())
            if (!take_part()) return std::nullopt;
        if (!gap_) return count_ == 8 ? std::optional(pieces_) : std::nullopt;
        // What follows the gap moves to the end.
        std::rotate(pieces_.begin() + *gap_, pieces_.begin() + count_, pieces_.end());
        return pieces_;
    }

private:
    bool take(std::string_view prefix) {
        if (!text_.starts_with(prefix)) return false;
        text_.remove_prefix(prefix.size());
        return true;
    }

    /// It stands for one piece at least.
    void take_gap() {
        ++count_;
        gap_ = count_;
    }

    /// A piece with the colon behind it, the second half of a gap, or an IPv4 address at the end.
    bool take_part() {
        if (count_ == 8) return false;
        if (take(":")) {
            if (gap_) return false;
            take_gap();
            return true;
        }
        std::size_t digits = 0;
        unsigned value = 0;
        for (; digits < 4 && digits < text_.size() && hex_value(text_[digits]) >= 0; ++digits)
            value = value * 16 + static_cast<unsigned>(hex_value(text_[digits]));
        if (digits < text_.size() && text_[digits] == '.') return digits > 0 && take_ipv4();
        text_.remove_prefix(digits);
        pieces_[count_++] = static_cast<std::uint16_t>(value);
        if (text_.empty()) return digits > 0;
        return digits > 0 && take(":") && !text_.empty();
    }

    /// Four decimal numbers without leading zeros, and nothing behind.
    bool take_ipv4() {
        if (count_ > 6) return false;
        std::uint32_t address = 0;
        for (int number = 0; number < 4; ++number) {
            if (number > 0 && !take(".")) return false;
            unsigned value = 0;
            std::size_t digits = 0;
            for (; digits < text_.size() && is_digit(text_[digits]); ++digits) {
                if (digits == 1 && value == 0) return false;
                value = value * 10 + static_cast<unsigned>(text_[digits] - '0');
                if (value > 255) return false;
            }
            if (digits == 0) return false;
            text_.remove_prefix(digits);
            address = address << 8 | value;
        }
        pieces_[count_++] = static_cast<std::uint16_t>(address >> 16);
        pieces_[count_++] = static_cast<std::uint16_t>(address & 0xffff);
        return text_.empty();
    }

    std::string_view text_;
    Ipv6 pieces_{};
    unsigned count_ = 0;
    std::optional<unsigned> gap_;
};

struct Run {
    unsigned from = 0, length = 0;
};

Run longest_zeros(Ipv6 const& address) {
    Run best, run;
    for (unsigned i = 0; i < 8; ++i) {
        if (address[i] != 0) {
            run.length = 0;
            continue;
        }
        if (run.length++ == 0) run.from = i;
        if (run.length > best.length) best = run;
    }
    return best.length > 1 ? best : Run{};
}

}  // namespace

bool ends_in_number(std::string_view host) {
    auto const whole = without_last_dot(host);
    if (whole.empty()) return false;
    auto const label = whole.substr(whole.rfind('.') + 1);
    if (label.empty() || !is_digit(label.front())) return false;
    return std::ranges::all_of(label, is_digit) || parse_ipv4_number(label);
}

std::optional<std::uint32_t> parse_ipv4(std::string_view host) {
    auto text = without_last_dot(host);
    std::uint64_t address = 0;
    for (int left = 3;; --left) {
        auto const dot = std::min(text.find('.'), text.size());
        auto const number = parse_ipv4_number(text.substr(0, dot));
        if (!number || left < 0) return std::nullopt;
        if (dot == text.size()) {
            // The last number fills all bytes that are left.
            if (*number >> 8 * (left + 1)) return std::nullopt;
            return static_cast<std::uint32_t>(address | *number);
        }
        if (*number > 255) return std::nullopt;
        address |= *number << 8 * left;
        text.remove_prefix(dot + 1);
    }
}

void append_ipv4(std::uint32_t address, std::string& to) {
    for (int shift = 24; shift >= 0; shift -= 8) {
        append_number(address >> shift & 255, 10, to);
        if (shift > 0) to.push_back('.');
    }
}

std::optional<Ipv6> parse_ipv6(std::string_view text) { return Ipv6Reader(text).read(); }

void append_ipv6(Ipv6 const& address, std::string& to) {
    auto const zeros = longest_zeros(address);
    for (unsigned i = 0; i < 8;) {
        if (zeros.length > 0 && i == zeros.from) {
            to.append("::");
            i += zeros.length;
            continue;
        }
        append_number(address[i++], 16, to);
        if (i < 8 && !(zeros.length > 0 && i == zeros.from)) to.push_back(':');
    }
}

}  // namespace garner::crawl
