// How long a stored response is fresh, and whether it may be reused now (RFC 9111 4.2, RFC 5861).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "http/cache_control.hpp"
#include "http/message.hpp"
#include "util/clock.hpp"

namespace garner::http {

/// The operator's settings. Times in seconds.
struct FreshnessOptions {
    DeltaSeconds default_ttl = 0;                 // lifetime of a storable response without one; 0: none
    DeltaSeconds ttl_min = 0;                     // raises shorter lifetimes, even explicit ones, contrary to RFC 9111
    DeltaSeconds ttl_max = delta_seconds_max;     // lowers longer lifetimes
    std::optional<DeltaSeconds> negative_ttl{};   // lifetime of errors without one (see is_negative_status)
    double heuristic_factor = 0.1;                // share of the time since Last-Modified (RFC 9111 4.2.2); 0: none
    DeltaSeconds heuristic_max = 24 * 60 * 60;
    DeltaSeconds heuristic_error_max = 5;           // upper bound of heuristic lifetimes for statuses of 400 and above
    DeltaSeconds max_stale = 7 * 24 * 60 * 60;      // how long past its lifetime to serve while the origin is unreachable
    std::span<std::string_view const> targeted{};   // names of targeted fields (RFC 9213), in order
};

/// The operator's option that lets a response be reused although RFC 9111 does not.
enum class RuleOverride : std::uint8_t {
    none,
    default_ttl,   // gives a lifetime to a response that could not have been stored (3)
    ttl_min,       // like default_ttl, or raises the origin's lifetime (4.2.1)
    negative_ttl   // keeps an error whose status allows no heuristic lifetime (3)
};
/// For Cache-Status and logs: "rule: ttl_min"; empty for none.
char const* text(RuleOverride);

/// The source of a lifetime (4.2.1).
enum class LifetimeSource : std::uint8_t {
    none,   // there is no lifetime
    s_maxage,
    max_age,
    expires,        // Expires minus Date
    heuristic,      // a fraction of the time since Last-Modified (4.2.2)
    negative_ttl,   // the operator's, like the following ones
    default_ttl,
    ttl_min,   // raised to ttl_min, or to a smaller ttl_max
    ttl_max    // lowered to ttl_max
};
/// "s-maxage", "Expires minus Date"; for display.
char const* text(LifetimeSource);

/// The terms under which a stored response may be reused: all that a hit needs, so that the head is not parsed again.
struct Terms {
    WallTime response_time{};                  // when the response (or the 304 that freshened it) arrived
    std::int64_t date_value = 0;               // its Date, or response_time when that is absent or invalid; unix seconds
    DeltaSeconds initial_age = 0;              // corrected_initial_age (4.2.3)
    DeltaSeconds lifetime = 0;                 // freshness_lifetime (4.2.1)
    DeltaSeconds stale_while_revalidate = 0;   // seconds past the lifetime; 0: not permitted
    DeltaSeconds stale_if_error = 0;           // the same
    DeltaSeconds stale_limit = 0;              // seconds past the lifetime that it is served while the origin is unreachable
    DeltaSeconds age_value = 0;                // its Age; used only for initial_age
    std::uint32_t passed = 0;                  // when its request with no-cache was sent, for cache::Lease; 0: it passed no caches
    bool explicit_lifetime : 1 = false;        // from max-age, s-maxage or Expires
    bool heuristic : 1 = false;                // derived from Last-Modified
    bool negative : 1 = false;                 // an error with its lifetime from negative_ttl
    bool must_revalidate : 1 = false;          // must-revalidate, proxy-revalidate or s-maxage: never served stale
    bool no_cache : 1 = false;                 // never reused without validation
    bool has_validator : 1 = false;            // a 304 is possible
    bool allows_authorization : 1 = false;     // public, must-revalidate or s-maxage (3.5)
    RuleOverride rule_override = RuleOverride::none;
    LifetimeSource source = LifetimeSource::none;
};
static_assert(sizeof(Terms) <= 48 && std::is_trivially_copyable_v<Terms>);

/// `request_time` and `response_time` enclose the exchange; both by this machine's clock. The second form takes the result
/// of parse_response_cache_control(fields, options.targeted).
Terms terms_of(ResponseHead const&, WallTime request_time, WallTime response_time, FreshnessOptions const&);
Terms terms_of(ResponseHead const&, ResponseCacheControl const&, WallTime request_time, WallTime response_time,
               FreshnessOptions const&);

/// RFC 9111 3, 4.2.1: true when max-age, s-maxage or a single Expires line is present, with any value.
bool has_explicit_lifetime(ResponseHead const&, ResponseCacheControl const&);

/// RFC 9110 15.1: statuses that may have a heuristic lifetime without `public`.
bool is_heuristically_cacheable(std::uint16_t status);

/// The errors that an operator may store although the origin did not allow it: 4xx and 5xx, except those about one request
/// or one connection (challenges, preconditions, rates, 408, 421, 425). Goes beyond 4.2.2, which allows heuristics for some
/// statuses only, and so departs from RFC 9111.
bool is_negative_status(std::uint16_t status);

/// Seconds (4.2.3), between initial_age and 2^31. If the clock jumped backwards, no time has passed.
DeltaSeconds current_age(Terms const&, WallTime now);

enum class Reuse : std::uint8_t {
    fresh,                    // serve it
    stale_allowed,            // serve it: the request's max-stale allows it
    stale_while_revalidate,   // serve it, and revalidate in the background
    revalidate                // ask the origin first; with only-if-cached answer 504
};

/// The rule that decided on a reuse.
enum class ReuseReason : std::uint8_t {
    fresh,
    no_cache_response,
    no_cache_request,
    max_age_request,
    min_fresh_request,
    must_revalidate,
    stale_while_revalidate,
    max_stale_request,
    stale,
    invalidated_url,   // by an invalidation of its URL, like the following ones
    invalidated_prefix,
    invalidated_tag,
    invalidated_all,
    invalidated_oldest,      // it is older than the oldest invalidation that is remembered
    invalidated_watermark,   // invalidations of the group may have been missed since
    held_back,               // this member of the group may not know all invalidations
    count_
};
/// For Cache-Status, logs and tests.
char const* text(ReuseReason);

/// True when the request's own directives excluded the stored response (RFC 9211 2.2: fwd=request).
constexpr bool is_by_request(ReuseReason reason) {
    return reason == ReuseReason::no_cache_request || reason == ReuseReason::max_age_request ||
           reason == ReuseReason::min_fresh_request;
}

struct ReuseAnswer {
    Reuse reuse = Reuse::revalidate;
    DeltaSeconds age = 0;
    std::int64_t ttl = 0;   // lifetime - age; negative: stale for that many seconds
    ReuseReason reason = ReuseReason::stale;
    char const* why() const { return text(reason); }
};

/// For a response that has just been validated, although it may be stale by the origin's lifetime. True when the request
/// accepts its age, which counts from the validation request (RFC 9111 4.2.3).
inline bool is_recent_enough(ReuseAnswer const& answer, RequestCacheControl const& request) {
    return (!request.max_age || answer.age <= *request.max_age) && (!request.min_fresh || answer.ttl >= *request.min_fresh);
}

/// RFC 9111 4 and 5.2.1. Allocates nothing.
ReuseAnswer may_reuse(Terms const&, RequestCacheControl const&, WallTime now);

/// The terms of a response that an operator or origin has marked stale at that time: its lifetime ended then.
Terms stale_since(Terms const&, WallTime at);

enum class StaleOnErrorKind : std::uint8_t {
    unreachable,   // no connection, or closed before a complete response: the cache is disconnected (4.2.4)
    error_status   // the origin answered 500, 502, 503 or 504 (RFC 5861 4)
};

/// True when the stored response may be served instead of the error.
bool may_serve_stale_on_error(Terms const&, RequestCacheControl const&, WallTime now, StaleOnErrorKind);

/// 500, 502, 503, 504: the statuses that stale-if-error covers.
bool is_stale_if_error_status(std::uint16_t status);

}   // namespace garner::http
