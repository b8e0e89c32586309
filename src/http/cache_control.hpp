// Cache-Control (RFC 9111 5.2), Pragma (5.4) and targeted cache control (RFC 9213) as plain values.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "http/message.hpp"

namespace garner::http {

/// Seconds according to RFC 9111 1.2.2: from 0 to 2^31; 2^31 stands for that value and all above.
using DeltaSeconds = std::uint32_t;
inline constexpr DeltaSeconds delta_seconds_max = DeltaSeconds{1} << 31;

/// One or more digits and nothing else, in any number; too large values are clamped. Not quoted.
std::optional<DeltaSeconds> parse_delta_seconds(std::string_view digits);

/// The client's request directives. A directive whose argument is not a number of seconds is absent, except that an
/// unreadable max-age or min-fresh counts as no_cache: the client wants a recent response.
struct RequestCacheControl {
    bool no_cache = false;   // or Pragma: no-cache without any Cache-Control
    bool no_store = false;
    bool only_if_cached = false;
    bool no_transform = false;
    bool any_stale = false;   // max-stale without an argument
    std::optional<DeltaSeconds> max_age;
    std::optional<DeltaSeconds> max_stale;
    std::optional<DeltaSeconds> min_fresh;
    std::optional<DeltaSeconds> stale_if_error;   // RFC 5861 4

    /// True when the origin must be asked, whatever is stored: a browser's reload.
    bool is_reload() const { return no_cache || max_age == DeltaSeconds{0}; }
    void forget_reload() {
        no_cache = false;
        if (max_age == DeltaSeconds{0}) max_age.reset();
    }
};

/// The origin's response directives. A repeated directive with different arguments keeps the stricter one (RFC 9111 4.2.1):
/// the smallest lifetime or window. An unreadable max-age or s-maxage is 0, stale at once; an unreadable stale-… is absent.
struct ResponseCacheControl {
    bool no_cache = false;   // without field names
    bool no_store = false;
    bool private_ = false;   // without field names
    bool public_ = false;
    bool must_revalidate = false;
    bool proxy_revalidate = false;
    bool must_understand = false;
    bool immutable = false;
    bool no_transform = false;
    bool targeted = false;   // came from a targeted field: Expires is ignored (RFC 9213 2.2)
    std::optional<DeltaSeconds> max_age;
    std::optional<DeltaSeconds> s_maxage;
    std::optional<DeltaSeconds> stale_while_revalidate;
    std::optional<DeltaSeconds> stale_if_error;
    // Names from no-cache="…" and private="…": these fields are not stored. Views into the parsed fields.
    std::vector<std::string_view> no_cache_fields;
    std::vector<std::string_view> private_fields;

    /// True when `name` may be stored and replayed; false when no-cache="name" or private="name" (5.2.2.4, 5.2.2.7).
    bool keeps_field(std::string_view name) const;
};

/// Allocates nothing; O(1) when the request has neither Cache-Control nor Pragma.
RequestCacheControl parse_request_cache_control(Fields const& request);

/// Reads Cache-Control only.
ResponseCacheControl parse_response_cache_control(Fields const& response);

/// One targeted field, such as "CDN-Cache-Control", read strictly as a structured-field dictionary (RFC 9213 2.1, RFC 8941
/// 3.2). Nothing when the field is absent, empty or does not parse: the caller then tries the next field.
std::optional<ResponseCacheControl> parse_targeted_cache_control(Fields const& response, std::string_view name);

/// The first usable field of `targeted`, in that order, else Cache-Control (RFC 9213 2.2). The other rules expect this
/// value as the response's ResponseCacheControl.
ResponseCacheControl parse_response_cache_control(Fields const& response, std::span<std::string_view const> targeted);

}   // namespace garner::http
