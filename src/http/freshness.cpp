#include "http/freshness.hpp"

#include <algorithm>

#include "http/dates.hpp"
#include "http/validation.hpp"
#include "util/one_of.hpp"
#include "util/text.hpp"

namespace garner::http {
namespace {

DeltaSeconds to_delta(std::int64_t value) {
    return static_cast<DeltaSeconds>(std::clamp<std::int64_t>(value, 0, delta_seconds_max));
}

/// Nothing when absent or repeated: two dates are as unusable as none.
std::optional<std::int64_t> single_date(Fields const& fields, Name name, WallTime now) {
    if (!fields.has(name) || fields.count(name) != 1) return std::nullopt;
    return parse_http_date(fields.first(name), now);
}

// RFC 9111 5.1: the first of several values counts, and an invalid one is ignored.
DeltaSeconds age_value(Fields const& fields) {
    if (!fields.has(Name::age)) return 0;
    auto const line = fields.first(Name::age);
    return parse_delta_seconds(trim(line.substr(0, line.find(',')))).value_or(0);
}

// RFC 9111 4.2.3. The apparent age counts too: a cache on the path may not have sent Age.
DeltaSeconds corrected_initial_age(DeltaSeconds age_value, std::int64_t date_value, WallTime request_time, WallTime response_time) {
    auto const apparent_age = unix_seconds(response_time) - date_value;
    auto const response_delay = std::chrono::floor<seconds>(response_time - request_time).count();
    return to_delta(std::max(apparent_age, age_value + std::max<std::int64_t>(response_delay, 0)));
}

// RFC 9111 4.2.1, in its order for a shared cache.
std::optional<DeltaSeconds> explicit_lifetime(ResponseHead const& response, ResponseCacheControl const& control,
                                              std::int64_t date_value, WallTime now, LifetimeSource& source) {
    source = LifetimeSource::s_maxage;
    if (control.s_maxage) return control.s_maxage;
    source = LifetimeSource::max_age;
    if (control.max_age) return control.max_age;
    source = LifetimeSource::none;
    if (control.targeted || !response.fields.has(Name::expires)) return std::nullopt;
    source = LifetimeSource::expires;
    // 5.3: an invalid date, especially "0", means already expired.
    auto const expires = single_date(response.fields, Name::expires, now);
    return expires ? to_delta(*expires - date_value) : 0;
}

// RFC 9111 4.2.2.
std::optional<DeltaSeconds> heuristic_lifetime(ResponseHead const& response, std::int64_t date_value, WallTime now,
                                               FreshnessOptions const& options) {
    auto const modified = single_date(response.fields, Name::last_modified, now);
    if (!modified || *modified >= date_value || options.heuristic_factor <= 0) return std::nullopt;
    auto const guess = static_cast<double>(date_value - *modified) * options.heuristic_factor;
    // One client's request may have caused an error or a redirect that all others would get.
    constexpr DeltaSeconds redirect_max = 60;
    bool const is_redirect = response.status >= 300 && response.status < 400;
    auto most = options.heuristic_max;
    if (is_redirect) most = std::min(most, redirect_max);
    if (response.status >= 400) most = std::min(most, options.heuristic_error_max);
    return static_cast<DeltaSeconds>(std::min(guess, static_cast<double>(most)));
}

/// The bound to which shorter lifetimes are raised; a smaller ttl_max takes precedence.
DeltaSeconds least(FreshnessOptions const& options) { return std::min(options.ttl_min, options.ttl_max); }

/// `given`: the lifetime from the response, explicit or heuristic. An operator's lifetime for a response with a validator
/// is no worse than a heuristic, which RFC 9111 4.2.2 allows.
RuleOverride rule_override_of(bool may_guess, std::optional<DeltaSeconds> given, Terms const& terms,
                              FreshnessOptions const& options) {
    if (terms.negative && !may_guess) return RuleOverride::negative_ttl;
    bool const storable = given || terms.has_validator;
    if (least(options) > given.value_or(options.default_ttl) && (terms.explicit_lifetime || !storable))
        return RuleOverride::ttl_min;
    return !storable && options.default_ttl > 0 ? RuleOverride::default_ttl : RuleOverride::none;
}

/// Applies the operator's bounds.
DeltaSeconds within(FreshnessOptions const& options, DeltaSeconds lifetime, LifetimeSource& source) {
    if (lifetime < least(options)) {
        source = LifetimeSource::ttl_min;
        return least(options);
    }
    if (lifetime <= options.ttl_max) return lifetime;
    source = LifetimeSource::ttl_max;
    return options.ttl_max;
}

std::int64_t ttl_of(Terms const& terms, DeltaSeconds age) { return std::int64_t{terms.lifetime} - age; }

}   // namespace

char const* text(RuleOverride rule_override) {
    switch (rule_override) {
    case RuleOverride::none: return "";
    case RuleOverride::default_ttl: return "rule: default_ttl";
    case RuleOverride::ttl_min: return "rule: ttl_min";
    case RuleOverride::negative_ttl: return "rule: negative_ttl";
    }
    return "";
}

char const* text(LifetimeSource source) {
    switch (source) {
    case LifetimeSource::none: return "nothing";
    case LifetimeSource::s_maxage: return "s-maxage";
    case LifetimeSource::max_age: return "max-age";
    case LifetimeSource::expires: return "Expires minus Date";
    case LifetimeSource::heuristic: return "a share of the time since Last-Modified";
    case LifetimeSource::negative_ttl: return "rule: negative_ttl";
    case LifetimeSource::default_ttl: return "rule: default_ttl";
    case LifetimeSource::ttl_min: return "rule: ttl_min";
    case LifetimeSource::ttl_max: return "rule: ttl_max";
    }
    return "";
}

char const* text(ReuseReason reason) {
    switch (reason) {
    case ReuseReason::fresh: return "fresh";
    case ReuseReason::no_cache_response: return "no-cache in response";
    case ReuseReason::no_cache_request: return "no-cache in request";
    case ReuseReason::max_age_request: return "older than max-age in request";
    case ReuseReason::min_fresh_request: return "less than min-fresh in request";
    case ReuseReason::must_revalidate: return "stale, must-revalidate";
    case ReuseReason::stale_while_revalidate: return "stale-while-revalidate";
    case ReuseReason::max_stale_request: return "max-stale in request";
    case ReuseReason::stale: return "stale";
    case ReuseReason::invalidated_url: return "invalidated by URL";
    case ReuseReason::invalidated_prefix: return "invalidated by prefix";
    case ReuseReason::invalidated_tag: return "invalidated by tag";
    case ReuseReason::invalidated_all: return "invalidated by purge of everything";
    case ReuseReason::invalidated_oldest: return "older than the list of invalidations";
    case ReuseReason::invalidated_watermark: return "older than the watermark of the group";
    case ReuseReason::held_back: return "held back: lease expired";
    case ReuseReason::count_: break;
    }
    return "";
}

bool has_explicit_lifetime(ResponseHead const& response, ResponseCacheControl const& control) {
    if (control.s_maxage || control.max_age) return true;
    return !control.targeted && response.fields.has(Name::expires);
}

bool is_heuristically_cacheable(std::uint16_t status) {
    return is_one_of<200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501>(status);
}

bool is_negative_status(std::uint16_t status) {
    bool const is_error = status >= 400 && status <= 599;
    return is_error && !is_one_of<401, 407, 408, 412, 416, 417, 421, 425, 428, 429, 431, 511>(status);
}

Terms terms_of(ResponseHead const& response, WallTime request_time, WallTime response_time, FreshnessOptions const& options) {
    return terms_of(response, parse_response_cache_control(response.fields, options.targeted), request_time, response_time,
                    options);
}

Terms terms_of(ResponseHead const& response, ResponseCacheControl const& control, WallTime request_time, WallTime response_time,
               FreshnessOptions const& options) {
    Terms terms;
    terms.response_time = response_time;
    // RFC 9110 6.6.1: without a usable Date the time of receipt replaces it.
    terms.date_value = single_date(response.fields, Name::date, response_time).value_or(unix_seconds(response_time));
    terms.age_value = age_value(response.fields);
    terms.initial_age = corrected_initial_age(terms.age_value, terms.date_value, request_time, response_time);

    auto lifetime = explicit_lifetime(response, control, terms.date_value, response_time, terms.source);
    terms.explicit_lifetime = lifetime.has_value();
    if (!lifetime && options.negative_ttl && is_negative_status(response.status)) {
        lifetime = options.negative_ttl;
        terms.negative = true;
        terms.source = LifetimeSource::negative_ttl;
    }
    bool const may_guess = control.public_ || is_heuristically_cacheable(response.status);
    bool const guesses = !lifetime && may_guess;
    if (guesses) {
        lifetime = heuristic_lifetime(response, terms.date_value, response_time, options);
        terms.heuristic = lifetime.has_value();
        if (lifetime) terms.source = LifetimeSource::heuristic;
    }
    terms.has_validator = !validators_of(response).empty();
    terms.rule_override = rule_override_of(may_guess, lifetime, terms, options);
    if (guesses && !lifetime) {
        lifetime = options.default_ttl;
        if (lifetime > 0u) terms.source = LifetimeSource::default_ttl;
    }
    terms.lifetime = within(options, lifetime.value_or(0), terms.source);

    terms.no_cache = control.no_cache;
    // RFC 9111 5.2.2.10: s-maxage implies proxy-revalidate.
    terms.must_revalidate = control.must_revalidate || control.proxy_revalidate || control.s_maxage.has_value();
    terms.allows_authorization = control.public_ || control.must_revalidate || control.s_maxage.has_value();
    terms.stale_while_revalidate = control.stale_while_revalidate.value_or(0);
    terms.stale_if_error = control.stale_if_error.value_or(0);
    // RFC 5861 4: stale-if-error also covers an unreachable origin. Without it, a stored error is never served past its
    // lifetime: it is no better than the next error.
    terms.stale_limit = control.stale_if_error.value_or(terms.negative ? 0 : options.max_stale);
    return terms;
}

DeltaSeconds current_age(Terms const& terms, WallTime now) {
    auto const resident_time = std::chrono::floor<seconds>(now - terms.response_time).count();
    return to_delta(terms.initial_age + std::max<std::int64_t>(resident_time, 0));
}

Terms stale_since(Terms const& terms, WallTime at) {
    auto ended = terms;
    ended.lifetime = std::min(terms.lifetime, current_age(terms, at));
    return ended;
}

ReuseAnswer may_reuse(Terms const& terms, RequestCacheControl const& request, WallTime now) {
    auto const age = current_age(terms, now);
    auto const ttl = ttl_of(terms, age);
    auto const answer = [&](Reuse reuse, ReuseReason why) { return ReuseAnswer{reuse, age, ttl, why}; };
    using enum ReuseReason;

    if (terms.no_cache) return answer(Reuse::revalidate, no_cache_response);
    if (request.no_cache) return answer(Reuse::revalidate, no_cache_request);
    // Browsers request end-to-end revalidation by max-age=0, even of a response that has just arrived.
    if (request.max_age && (*request.max_age == 0 || age > *request.max_age)) return answer(Reuse::revalidate, max_age_request);
    if (request.min_fresh && ttl < *request.min_fresh) return answer(Reuse::revalidate, min_fresh_request);
    if (ttl > 0) return answer(Reuse::fresh, fresh);

    auto const staleness = -ttl;
    if (terms.must_revalidate) return answer(Reuse::revalidate, must_revalidate);
    // 5.2.1.1: a client that sends max-age without max-stale wants no stale response.
    bool const client_takes_stale = request.any_stale || request.max_stale;
    if (staleness < terms.stale_while_revalidate && (client_takes_stale || !request.max_age))
        return answer(Reuse::stale_while_revalidate, stale_while_revalidate);
    if (request.max_stale ? staleness <= *request.max_stale : request.any_stale)
        return answer(Reuse::stale_allowed, max_stale_request);
    return answer(Reuse::revalidate, stale);
}

bool may_serve_stale_on_error(Terms const& terms, RequestCacheControl const& request, WallTime now, StaleOnErrorKind kind) {
    // Another cache adds no-cache to the directives of its client, which must not weaken it.
    if (terms.no_cache || terms.must_revalidate || request.no_cache) return false;
    bool const client_takes_stale = request.any_stale || request.max_stale || request.stale_if_error;
    bool const client_wants_recent = request.max_age || request.min_fresh;
    if (client_wants_recent && !client_takes_stale) return false;

    auto const staleness = -ttl_of(terms, current_age(terms, now));
    auto const limit = kind == StaleOnErrorKind::unreachable ? terms.stale_limit : terms.stale_if_error;
    return staleness < std::max(limit, request.stale_if_error.value_or(0));
}

bool is_stale_if_error_status(std::uint16_t status) { return is_one_of<500, 502, 503, 504>(status); }

}   // namespace garner::http
