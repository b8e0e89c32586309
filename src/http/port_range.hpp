// Ports of a rule.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "util/text.hpp"

namespace garner::http {

/// Ports from `first` to `last`, both included.
struct PortRange {
    std::uint16_t first = 1;
    std::uint16_t last = 65'535;

    /// "443", "8000-8999": 1 to 65535.
    static std::optional<PortRange> parse(std::string_view text) {
        auto const dash = text.find('-');
        auto const first = parse_decimal(text.substr(0, dash));
        auto const last = dash == text.npos ? first : parse_decimal(text.substr(dash + 1));
        if (!first || !last || *first == 0 || *last > 65'535 || *first > *last) return std::nullopt;
        return PortRange{static_cast<std::uint16_t>(*first), static_cast<std::uint16_t>(*last)};
    }
    bool contains(std::uint16_t port) const { return first <= port && port <= last; }
    friend bool operator==(PortRange const&, PortRange const&) = default;
};

}   // namespace garner::http
