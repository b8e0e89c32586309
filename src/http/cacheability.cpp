#include "http/cacheability.hpp"

#include "http/freshness.hpp"
#include "http/validation.hpp"
#include "http/vary.hpp"
#include "util/one_of.hpp"

namespace garner::http {
namespace {

/// Never stored, whatever their freshness: interim responses (RFC 9110 15.2), the hop's own 407, responses to this
/// request's own preconditions, ranges and expectations, and statuses that RFC 6585 3 to 6 forbids to store.
bool is_for_this_request_alone(std::uint16_t status) {
    return status < 200 || status > 599 || is_one_of<304, 407, 412, 416, 417, 428, 429, 431, 511>(status);
}

bool has_body(RequestHead const& request) {
    if (request.fields.has(Name::transfer_encoding)) return true;
    return request.fields.has(Name::content_length) && request.fields.first(Name::content_length) != "0";
}

/// RFC 9111 5.2.2.3: must-understand replaces no-store if the status is understood.
bool forbids_storing(ResponseHead const& response, ResponseCacheControl const& control) {
    return control.no_store && !(control.must_understand && is_understood_status(response.status));
}

/// RFC 9111 3.5.
bool allows_authorization(ResponseCacheControl const& control) {
    return control.public_ || control.must_revalidate || control.s_maxage;
}

/// RFC 9110 9.3.3: a response to POST may answer a later GET if the origin declares it a representation of the target with
/// explicit freshness. Only a 200 is such a representation (8.7).
bool is_storable_post(RequestHead const& request, ResponseHead const& response, ResponseCacheControl const& control,
                      StoreOptions const& options) {
    return request.method == Method::post && options.represents_target && response.status == 200 &&
           has_explicit_lifetime(response, control);
}

StoreRefusal why_never_selected(ResponseHead const& response) {
    if (!response.fields.has(Name::vary)) return StoreRefusal::none;
    switch (parse_vary(response.fields).never) {
    case VaryNames::Never::no: return StoreRefusal::none;
    case VaryNames::Never::star: return StoreRefusal::vary_star;
    case VaryNames::Never::malformed: return StoreRefusal::vary_malformed;
    case VaryNames::Never::too_long: return StoreRefusal::vary_too_long;
    case VaryNames::Never::hop_credentials: return StoreRefusal::vary_hop_credentials;
    }
    return StoreRefusal::none;
}

bool replays_cookie(ResponseHead const& response, ResponseCacheControl const& control) {
    return response.fields.has(Name::set_cookie) && control.keeps_field("set-cookie");
}

/// RFC 9111 7.3: max-age alone is often meant for the browser's own cache; public and s-maxage address shared caches.
bool may_replay_cookie(ResponseHead const& response, ResponseCacheControl const& control, StoreOptions const& options) {
    bool const shared = control.public_ || control.s_maxage || options.set_cookie;
    return shared && has_explicit_lifetime(response, control);
}

/// The last part of RFC 9111 3: the response must be reusable, now or after validation.
StoreRefusal why_useless(ResponseHead const& response, ResponseCacheControl const& control, StoreOptions const& options) {
    bool const explicit_lifetime = has_explicit_lifetime(response, control);
    if (options.keeps_errors && !explicit_lifetime && !control.no_cache && is_negative_status(response.status))
        return StoreRefusal::none;
    if (!explicit_lifetime && !control.public_ && !is_heuristically_cacheable(response.status))
        return StoreRefusal::not_heuristically_cacheable;

    if (!validators_of(response).empty() || options.has_own_ttl) return StoreRefusal::none;
    bool const ever_fresh = control.s_maxage ? *control.s_maxage > 0 : control.max_age ? *control.max_age > 0 : true;
    bool const stale_use = control.stale_while_revalidate || control.stale_if_error;
    bool const reusable = explicit_lifetime && !control.no_cache && (ever_fresh || stale_use);
    return reusable ? StoreRefusal::none : StoreRefusal::no_freshness_no_validator;
}

}   // namespace

char const* text(StoreRefusal refusal) {
    switch (refusal) {
    case StoreRefusal::none: return "stored";
    case StoreRefusal::method: return "method";
    case StoreRefusal::request_body: return "request body";
    case StoreRefusal::status: return "status";
    case StoreRefusal::partial: return "partial content";
    case StoreRefusal::no_store_request: return "no-store in request";
    case StoreRefusal::no_store_response: return "no-store in response";
    case StoreRefusal::private_response: return "private";
    case StoreRefusal::authorization: return "Authorization";
    case StoreRefusal::vary_star: return "Vary: *";
    case StoreRefusal::vary_malformed: return "malformed Vary";
    case StoreRefusal::vary_too_long: return "Vary with too many names";
    case StoreRefusal::vary_hop_credentials: return "Vary: Proxy-Authorization";
    case StoreRefusal::set_cookie: return "Set-Cookie";
    case StoreRefusal::method_override: return "method override in request";
    case StoreRefusal::not_heuristically_cacheable: return "no freshness for this status";
    case StoreRefusal::no_freshness_no_validator: return "no freshness, no validator";
    case StoreRefusal::by_rule: return "rule: never";
    case StoreRefusal::framing: return "repaired framing";
    case StoreRefusal::too_large: return "larger than object_max";
    case StoreRefusal::no_room: return "no room";
    case StoreRefusal::proxy_only: return "from a proxy-only peer";
    case StoreRefusal::not_admitted: return "not admitted";
    case StoreRefusal::count_: break;
    }
    return "";
}

StoreRefusal why_not_store(RequestHead const& request, RequestCacheControl const& request_control, ResponseHead const& response,
                           ResponseCacheControl const& control, StoreOptions const& options) {
    bool const posted = is_storable_post(request, response, control, options);
    if (request.method != Method::get && options.what == StoredAs::answer && !posted) return StoreRefusal::method;
    if (has_body(request) && !posted) return StoreRefusal::request_body;
    if (request_control.no_store) return StoreRefusal::no_store_request;
    if (response.status == 206 && !options.combinable) return StoreRefusal::partial;
    if (is_for_this_request_alone(response.status)) return StoreRefusal::status;
    if (control.must_understand && !is_understood_status(response.status)) return StoreRefusal::status;
    if (forbids_storing(response, control)) return StoreRefusal::no_store_response;
    if (control.private_) return StoreRefusal::private_response;
    if (request.fields.has(Name::authorization) && !allows_authorization(control)) return StoreRefusal::authorization;
    if (auto const never = why_never_selected(response); never != StoreRefusal::none) return never;

    if (replays_cookie(response, control) && !may_replay_cookie(response, control, options)) return StoreRefusal::set_cookie;
    if (options.overrides_method) return StoreRefusal::method_override;
    return why_useless(response, control, options);
}

char const* text(Bypass bypass) {
    switch (bypass) {
    case Bypass::none: return "";
    case Bypass::method: return "method";
    case Bypass::request_body: return "request body";
    case Bypass::if_match: return "If-Match";
    case Bypass::if_unmodified_since: return "If-Unmodified-Since";
    case Bypass::no_store_request: return "no-store in request";
    case Bypass::upgrade: return "upgrade";
    case Bypass::unverified: return "unverified host";
    case Bypass::never: return "caching.never";
    case Bypass::certificate: return "invalid certificate of the origin";
    case Bypass::authorization: return "authorization";
    case Bypass::count_: break;
    }
    return "";
}

Bypass why_bypass(RequestHead const& request, RequestCacheControl const& control) {
    if (request.method != Method::get && request.method != Method::head) return Bypass::method;
    if (has_body(request)) return Bypass::request_body;
    // RFC 9111 4.3.2: the origin evaluates these two preconditions.
    if (request.fields.has(Name::if_match)) return Bypass::if_match;
    if (request.fields.has(Name::if_unmodified_since)) return Bypass::if_unmodified_since;
    // no-store also excludes a lookup, but only-if-cached forbids to forward.
    if (control.no_store && !control.only_if_cached) return Bypass::no_store_request;
    return Bypass::none;
}

bool represents_target(ResponseHead const& response, Uri const& target) {
    if (response.fields.count(Name::content_location) != 1) return false;
    auto const described = resolve(target, response.fields.first(Name::content_location));
    std::string text;
    append_normalised(target, text);
    return described == text;
}

// The final statuses of RFC 9110 15, RFC 7538 and RFC 7725 that an HTTP cache is expected to know. 304, 412, 416 and 417
// are not included: they answer one request's own fields.
bool is_understood_status(std::uint16_t status) {
    return is_one_of<200, 201, 202, 203, 204, 205, 206, 300, 301, 302, 303, 305, 307, 308, 400, 401, 402, 403, 404, 405, 406, 408,
                     409, 410, 411, 413, 414, 415, 421, 422, 424, 425, 426, 451, 500, 501, 502, 503, 504, 505, 507, 508>(status);
}

}   // namespace garner::http
