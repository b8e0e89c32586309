// The names of the steps of a request.
#pragma once
#include <cstdint>

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
    await_removal,    // wait until the removal of objects that the response supersedes is durable
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

}   // namespace garner::proxy
