// The objects and leases of a request from the lookup to its last byte, and its next step.
#pragma once
#include <optional>

#include "cache/cache.hpp"
#include "http/cache_control.hpp"
#include "http/cacheability.hpp"
#include "proxy/upstream_head.hpp"

namespace garner::proxy {

/// The steps of a request; each ends by naming the next.
enum class Step : std::uint8_t {
    look_on_disk,
    resolve_source,  // of an object that came through a peer: the rules decide by it
    follow,          // wait for another request's fetch
    answer_known,    // tell of a failure that is remembered
    pass,            // fetch without the cache, for FetchState::bypass
    fetch,           // prepare a fetch for the cache
    ask,             // the sources, as `fetch` has prepared it
    ask_again,       // without own conditions: the response was about another one than ours
    complete,        // stored parts, with the response that brings what they lack
    freshen,         // the stale object, by a 304
    take_head,       // by the response to a HEAD
    store,           // the response
    forget,          // for good what the response supersedes
    fail,            // no usable response came
    // The last steps:
    refuse,          // as RequestCheck::refusal() says
    answer_as_last_hop,
    answer_internally,
    purge,
    tunnel,
    stream,          // pass the response on as it comes
    deliver,         // send FetchState::object
    done
};

struct FetchState {
    cache::Lookup found;
    cache::FillLease lead;                    // of the fill that the response is for
    cache::Beside beside;                     // the fetch goes on beside a slow leader's
    store::ObjectPtr stale;                   // is validated, or stands in for a failed fetch
    store::ObjectPtr parts;                   // lack `missing`, which is asked for
    store::Body::Span missing{};
    std::optional<http::ResponseCacheControl> control;   // of the response, for Step::store
    bool conditional = false;                 // the origin was asked with our validators
    bool widened = false;                     // it was asked for all, the client for a range
    store::ObjectPtr object;                  // goes to the client
    std::optional<cache::Follower> follower;  // of the fill in which `object` grows
    http::Bypass bypass = http::Bypass::none;
    RequestChanges changes;                   // for Step::ask
    char const* why_not_stored = "";          // a literal, for Step::stream
};

}  // namespace garner::proxy
