// What a request asks the cache, and what it is told.
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

/// What a request may do with fetches in progress.
enum class Collapse : std::uint8_t {
    lead_and_follow,
    alone            // Range, Authorization: neither leads others nor waits for them
};

/// A request as the cache sees it. All is borrowed.
struct Query {
    Key key;
    http::RequestHead const& request;
    http::RequestCacheControl const& control;
    WallTime now;
    Collapse collapse = Collapse::lead_and_follow;
};

struct Lookup {
    enum class Kind : std::uint8_t {
        fresh,    // `object` may be sent; see `answer`
        refresh,  // `object` may be sent while it is validated (RFC 5861 3): with `lead` by us, else somebody does it already
        stale,    // `object` must be validated: with `lead` by us, with `follow` somebody does it already
        busy,     // `follow` a fetch in progress
        absent,   // `lead` is ours when we may lead
        pass      // absent, and the last answers were not for sharing: fetch beside the others, `lead` is not exclusive
    };
    Kind kind = Kind::absent;
    store::ObjectPtr object;
    http::ReuseAnswer answer;
    bool variant_missing = false;  // absent: the URL is known, but no variant is selected
    bool part_missing = false;     // absent: parts are stored, but not what is asked for
    FillPtr follow;
    FillLease lead;
    bool may_be_on_disk = false;   // by the disk's index alone: see Cache::look_on_disk
    bool from_disk = false;        // `object` was not in memory

    /// `object`, `answer` and `kind`.
    void answer_with(store::ObjectPtr found, http::ReuseAnswer how);
};

/// What a lookup would find, for people: see Cache::peek.
struct Peek {
    Lookup::Kind kind = Lookup::Kind::absent;
    store::ObjectPtr object;
    http::ReuseAnswer answer;
    std::string vary;                     // the names of a URL with variants, as http::to_string; empty: it has none
    std::string selected;                 // of these, what the request says (http::variant_key)
    std::vector<std::string> variants;    // the same of each stored variant, the oldest first
    FillPtr follow;                       // the fetch it would wait for
    store::ObjectPtr parts;               // where the whole is not stored: the parts of it that are; `object`, if they answer
    bool part_missing = false;            // they do not, though a range is asked for
    std::vector<FillPtr> fetches;         // all in progress for the URL
    std::int64_t passes_until = 0;        // unix seconds: till then its answers are taken for not to be shared; or 0
    char const* pass_reason = "";         // why the last of them was not
    std::optional<KnownFailure> failure;  // whoever asks
    bool from_disk = false;               // `object` or `parts` was not in memory
    bool disk_was_read = false;           // memory has nothing, and the disk was asked
    /// As Lookup's.
    void answer_with(store::ObjectPtr found, http::ReuseAnswer how);
    bool variant_missing() const { return !vary.empty() && !object; }
};

}  // namespace garner::cache
