// May this response be stored, by a shared cache, and for whom (RFC 9111 3)?
#pragma once
#include <cstdint>

#include "http/cache_control.hpp"
#include "http/message.hpp"

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
    set_cookie,                 // without explicit freshness, or the operator forbids it
    not_heuristically_cacheable,// no explicit freshness, and the status forbids guessing
    no_freshness_no_validator   // could neither be reused nor revalidated
};

/// For Cache-Status, logs and tests.
char const* text(StoreRefusal);

struct StoreOptions {
    bool set_cookie = true;     // store Set-Cookie under explicit freshness (7.3)
    bool has_own_ttl = false;   // the operator gives a default_ttl or min_ttl above 0 to this request
    bool combinable = false;    // the 206 is a part that may be kept: http/partial
    bool keeps_errors = false;  // the operator gives a negative_ttl above 0 to this request (see is_negative_status)
    bool represents_target = false;  // the answer's Content-Location names the request's own target
};

/// RFC 9111 3. `response_control` is parse_response_cache_control(response.fields, targeted).
StoreRefusal why_not_store(RequestHead const&, RequestCacheControl const&, ResponseHead const&,
                           ResponseCacheControl const& response_control, StoreOptions const& = {});

/// True when a stored response may answer this request at all, or its answer become one; else `why` names the reason
/// (a literal) and the request is passed to the origin. Allocates nothing.
bool may_use_cache(RequestHead const&, RequestCacheControl const&, char const*& why);

/// True when a storable response that was fetched for another request may be given to `follower` without asking the
/// origin: private, no-cache, no-store, Vary: * and Authorization permitting. Whether its Vary selects the follower,
/// and whether it is fresh for it, are separate questions.
bool may_be_shared(RequestHead const& follower, ResponseHead const&, ResponseCacheControl const&);

/// Understood in the sense of must-understand (5.2.2.3): final statuses whose caching requirements this cache keeps.
bool is_understood_status(std::uint16_t status);

}  // namespace garner::http
