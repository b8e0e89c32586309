// The objects and leases of a request from lookup to last byte.
#pragma once
#include <optional>

#include "cache/cache.hpp"
#include "http/cache_control.hpp"
#include "http/cacheability.hpp"
#include "proxy/upstream_head.hpp"

namespace garner::proxy {

struct FetchState {
    cache::Lookup found;
    cache::FillLease lead;    // the fill that the response is for
    cache::Beside beside;     // this request fetches in parallel with a slow leader
    store::ObjectPtr stale;   // is validated, or served when the fetch fails
    store::ObjectPtr parts;   // lack the bytes `missing`, which are requested
    store::Body::Span missing{};
    std::optional<http::ResponseCacheControl> control;   // the response's, for Step::store
    bool conditional = false;                            // the origin was asked with the cache's validators
    bool widened = false;                                // the whole was requested although the client asked for a range
    store::ObjectPtr object;                             // sent to the client
    std::optional<cache::Follower> follower;             // follows the fill in which `object` grows
    http::Bypass bypass = http::Bypass::none;
    RequestChanges changes;            // for Step::ask
    char const* why_not_stored = "";   // a literal, for Step::stream
};

}   // namespace garner::proxy
