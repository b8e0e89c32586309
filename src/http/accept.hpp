// Accept (RFC 9110 12.5.1): which media types a client prefers. Pure.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "http/message.hpp"

namespace garner::http {

/// How a request's Accept covers one media type.
struct MediaPreference {
    /// The most specific media range that matches: none, "*/*", "text/*", or "text/html".
    enum class Match : std::uint8_t { none, any, type, exact };
    std::uint16_t weight = 0;   // q in thousandths: 0 to 1000
    Match match = Match::none;
    friend auto operator<=>(MediaPreference const&, MediaPreference const&) = default;
};

/// The weight of one member of Accept ("text/html;q=0.5") in thousandths, 0 to 1000 (RFC 9110 12.4.2): 1000 without q; nothing
/// if q is malformed.
std::optional<std::uint16_t> weight_of(std::string_view member);

/// The preference for `type` ("text/html"): the weight of the most specific matching range decides. Ignores parameters other
/// than q, and members with a malformed q.
MediaPreference media_preference(Fields const& request, std::string_view type);

}   // namespace garner::http
