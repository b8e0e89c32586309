// May this response be stored, by a shared cache, and for whom (RFC 9111 3)?
#pragma once
#include <cstdint>

#include "http/cache_control.hpp"
#include "http/message.hpp"
#include "http/uri.hpp"

namespace garner::http {

enum class StoreRefusal : std::uint8_t {
    none,                       // store it
    method,                     // only responses to GET, and to a POST that represents_target
    request_body,               // the body is no part of the cache key
    status,                     // interim, unknown with must-understand, or made by this request's own preconditions
    partial,                    // 206 that cannot be combined with others
    no_store_request,
    no_store_response,
    private_response,
    authorization,              // 3.5
    vary_star,                  // would never be selected (4.1)
    vary_malformed,             // neither: a member is no field name
    vary_too_long,              // neither: more names than are compared
    vary_hop_credentials,       // it names Proxy-Authorization, which the origin never sees
    set_cookie,                 // without public and s-maxage (unless the operator allows it), or without explicit freshness
    method_override,            // the request asks for another method than its own, by a field
    not_heuristically_cacheable,// no explicit freshness, and the status forbids guessing
    no_freshness_no_validator,  // could neither be reused nor revalidated
    // What why_not_store cannot know:
    by_rule,                    // the operator's rule says never
    too_large,                  // for the store
    no_room,                    // in the store, now
    proxy_only,                 // from a peer whose responses are not kept here
    not_admitted,               // worth less than what would have to leave
    count_
};

/// For Cache-Status, logs and tests.
char const* text(StoreRefusal);

/// What is to be stored.
enum class Storing : std::uint8_t {
    answer,      // the answer to this request
    freshened    // a stored response, with the fields that this request's answer brought (4.3.4, 4.3.5)
};

struct StoreOptions {
    bool set_cookie = false;    // store Set-Cookie under explicit freshness alone, without public or s-maxage (7.3)
    bool overrides_method = false;    // the request's has_method_override reaches the origin
    bool has_own_ttl = false;   // the operator gives a default_ttl or min_ttl above 0 to this request
    bool combinable = false;    // the 206 is a part that may be kept: http/partial
    bool keeps_errors = false;  // the operator gives a negative_ttl above 0 to this request (see is_negative_status)
    Storing what = Storing::answer;
    bool represents_target = false;   // see represents_target()
};

/// RFC 9111 3. `response_control` is parse_response_cache_control(response.fields, targeted).
StoreRefusal why_not_store(RequestHead const&, RequestCacheControl const&, ResponseHead const&,
                           ResponseCacheControl const& response_control, StoreOptions const& = {});

/// Why a request goes past the cache: no stored response may answer it.
enum class Bypass : std::uint8_t {
    none,                       // it may use the cache
    method,                     // all but GET and HEAD
    request_body,
    if_match,                   // 4.3.2: for the origin to judge, as is
    if_unmodified_since,        // … this
    no_store_request,           // without only-if-cached, which forbids to go further
    // What why_bypass cannot know:
    upgrade,                    // to another protocol
    never,                      // the operator's caching.never
    authorization,              // what is stored is not for requests with credentials (3.5)
    count_
};

/// For Cache-Status, logs and tests.
char const* text(Bypass);

/// Anything but none: the request is passed to the origin. Allocates nothing.
Bypass why_bypass(RequestHead const&, RequestCacheControl const&);

/// RFC 9110 8.7: true when the response calls its content a representation of the request's target, by a single
/// Content-Location that means the same URI.
bool represents_target(ResponseHead const&, Uri const& target);

/// Understood in the sense of must-understand (5.2.2.3): final statuses whose caching requirements this cache keeps.
bool is_understood_status(std::uint16_t status);

}  // namespace garner::http
