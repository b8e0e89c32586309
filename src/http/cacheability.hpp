// Whether a shared cache may store this response, and for which requests (RFC 9111 3).
#pragma once
#include <cstdint>

#include "http/cache_control.hpp"
#include "http/message.hpp"
#include "http/uri.hpp"

namespace garner::http {

enum class StoreRefusal : std::uint8_t {
    none,           // may be stored
    method,         // only responses to GET, and to a POST that represents_target
    request_body,   // the body is no part of the cache key
    status,         // interim, unknown with must-understand, or caused by this request's own preconditions
    partial,        // 206 that cannot be combined with others
    no_store_request,
    no_store_response,
    private_response,
    authorization,                 // 3.5
    vary_star,                     // would never be selected (4.1)
    vary_malformed,                // would never be selected: a member is no field name
    vary_too_long,                 // would never be selected: more names than are compared
    vary_hop_credentials,          // it names Proxy-Authorization, which the origin never sees
    set_cookie,                    // without public and s-maxage (unless the operator allows it), or without explicit freshness
    method_override,               // a field of the request overrides its method
    not_heuristically_cacheable,   // no explicit freshness, and no heuristic is allowed for the status
    no_freshness_no_validator,     // could be neither reused nor revalidated
    // The following are unknown to why_not_store:
    by_rule,        // the operator's rule says never
    framing,        // the origin's framing had errors, and was repaired
    too_large,      // for the store
    no_room,        // in the store, now
    proxy_only,     // from a peer whose responses are not kept here
    not_admitted,   // rejected by admission: worth less than its victims
    count_
};

/// For Cache-Status, logs and tests.
char const* text(StoreRefusal);

/// The response to be stored.
enum class StoredAs : std::uint8_t {
    answer,     // the response to this request
    freshened   // a stored response, updated by this request's response (4.3.4, 4.3.5)
};

struct StoreOptions {
    bool set_cookie = false;         // store Set-Cookie with explicit freshness only, without public or s-maxage (7.3)
    bool overrides_method = false;   // the origin receives the request's has_method_override field
    bool has_own_ttl = false;        // the operator sets a default_ttl or ttl_min above 0 for this request
    bool combinable = false;         // the 206 is a part that may be stored: http/partial
    bool keeps_errors = false;       // the operator sets a negative_ttl above 0 for this request (see is_negative_status)
    StoredAs what = StoredAs::answer;
    bool represents_target = false;   // see represents_target()
};

/// RFC 9111 3. `response_control` is parse_response_cache_control(response.fields, targeted).
StoreRefusal why_not_store(RequestHead const&, RequestCacheControl const&, ResponseHead const&,
                           ResponseCacheControl const& response_control, StoreOptions const& = {});

/// Why a request bypasses the cache: no stored response may answer it.
enum class Bypass : std::uint8_t {
    none,     // may use the cache
    method,   // all but GET and HEAD
    request_body,
    if_match,              // 4.3.2: evaluated by the origin, like
    if_unmodified_since,   // … this one
    no_store_request,      // without only-if-cached, which forbids to forward
    // The following are unknown to why_bypass:
    upgrade,         // to another protocol
    unverified,      // an intercepted request names a host that does not lead to the address of the connection
    never,           // the operator's caching.never
    certificate,     // the origin's is invalid, and the client has accepted it
    authorization,   // the stored response must not answer requests with credentials (3.5)
    count_
};

/// For Cache-Status, logs and tests.
char const* text(Bypass);

/// Any result but none: the request is passed to the origin. Allocates nothing.
Bypass why_bypass(RequestHead const&, RequestCacheControl const&);

/// RFC 9110 8.7: true when the response declares its content a representation of the request's target: a single
/// Content-Location with an equivalent URI.
bool represents_target(ResponseHead const&, Uri const& target);

/// Understood according to must-understand (5.2.2.3): final statuses whose caching requirements this cache fulfils.
bool is_understood_status(std::uint16_t status);

}   // namespace garner::http
