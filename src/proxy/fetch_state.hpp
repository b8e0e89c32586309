// The objects and leases of a request from lookup to last byte, and its next step.
#pragma once
#include <optional>

#include "cache/cache.hpp"
#include "http/cache_control.hpp"
#include "http/cacheability.hpp"
#include "proxy/upstream_head.hpp"

namespace garner::proxy {

/// The steps of a request; each returns the next one.
enum class Step : std::uint8_t {
    check_further,   // a rule needs the addresses of the destination, or the user
    look_on_disk,
    resolve_source,   // an object came through a peer, and the rules need its address
    follow,           // wait for another request's fetch
    answer_known,     // answer with a remembered failure
    pass,             // fetch without the cache, for FetchState::bypass
    fetch,            // prepare a fetch for the cache
    ask,              // ask the sources, with the request that `fetch` prepared
    ask_again,        // without own conditions: the response validates a different object
    complete,         // stored parts, with a response that has the missing bytes
    freshen,          // update the stale object from a 304
    take_head,        // process the response to a HEAD
    store,            // the response
    forget,           // remove permanently the objects that the response supersedes
    fail,             // no usable response came
    // The last steps:
    refuse,   // with RequestCheck::refusal()
    answer_as_last_hop,
    answer_internally,
    purge,
    tunnel,
    stream,    // pass the response through unstored
    deliver,   // send FetchState::object
    done
};

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
