// A cache lookup: the query and its result.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/fill.hpp"
#include "cache/key.hpp"
#include "cache/negative.hpp"
#include "http/cache_control.hpp"
#include "http/freshness.hpp"
#include "http/message.hpp"
#include "store/object.hpp"

namespace garner::cache {

class Invalidations;

/// How a request may use fetches in progress.
enum class Collapse : std::uint8_t {
    lead_and_follow,
    alone   // Range, Authorization: neither leads others nor joins them
};

/// A request as the cache sees it. All members are borrowed.
struct Query {
    Key key;
    http::RequestHead const& request;
    http::RequestCacheControl const& control;
    WallTime now;
    Collapse collapse = Collapse::lead_and_follow;
};

/// The stored response that a query selects.
struct FoundResponse {
    enum class Kind : std::uint8_t {
        fresh,         // `object` may be sent; see `answer`
        refresh,       // `object` may be sent while it is validated (RFC 5861 3): by us with `lead`, otherwise a validation is in
                       // progress
        stale,         // `object` must be validated: by us with `lead`, or `follow` a validation in progress
        busy,          // `follow` a fetch in progress
        absent,        // a miss: with `lead` we fetch and others may join
        hit_for_pass   // absent, and the last responses were uncacheable: fetch beside the others, `lead` is not exclusive
    };
    Kind kind = Kind::absent;
    store::ObjectPtr object;
    http::ReuseAnswer answer;
    bool variant_missing = false;               // absent: the URL is known, but no variant is selected
    bool part_missing = false;                  // absent: parts are stored, but not the requested ones
    FillPtr follow;                             // the fetch to join
    bool from_disk = false;                     // `object` was not in memory
    std::optional<http::ReuseReason> removed;   // an object was stored, and a hard invalidation concerns it

    /// Sets `object`, `answer` and `kind`.
    void answer_with(store::ObjectPtr found, http::ReuseAnswer how);
};

struct Lookup : FoundResponse {
    FillLease lead;
    bool may_be_elsewhere = false;   // on disk, by its index, or with a former process: see Cache::look_on_disk
    bool may_be_former = false;      // absent: a former process may have it, and no event of this one concerns it
};

/// The result that a lookup would give, for inspection: see Cache::peek.
struct Peek : FoundResponse {
    std::string vary;                       // the Vary names of a URL with variants, as http::to_string; empty: no variants
    std::string selected;                   // the values of these fields in the request (http::variant_key)
    std::vector<std::string> variants;      // these values for each stored variant, oldest first
    store::ObjectPtr parts;                 // the stored parts if the whole is not stored; `object`, if they can answer
    std::vector<FillPtr> fetches;           // all fetches in progress for the URL
    std::int64_t hit_for_pass_until = 0;    // unix seconds until which the URL is hit-for-pass; or 0
    char const* hit_for_pass_reason = "";   // why the last response was uncacheable
    std::optional<KnownFailure> failure;    // for any client
    bool disk_was_read = false;             // memory has nothing, and the disk was read; `from_disk` then holds for `parts`, too
    std::string invalidated = {};           // the invalidation that concerns the stored object or parts; empty: none
    /// True if a hard invalidation concerns the object.
    bool note_invalidation(Invalidations const& invalidations, store::ObjectPtr const& object);
};

}   // namespace garner::cache
