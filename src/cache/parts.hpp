// Stored parts of a representation (RFC 9111 3.3, 3.4): one object with gaps in its body, under a key of its own, so that
// no request without Range is answered from it; once nothing is missing it is the whole response.
#pragma once
#include <string>
#include <string_view>

#include "http/cache_control.hpp"
#include "http/freshness.hpp"
#include "http/message.hpp"
#include "store/object.hpp"
#include "util/clock.hpp"
#include "util/hash.hpp"

namespace garner::cache {

class MemoryTier;
/// What to keep of a stored 206 whose body is complete: it joins what is there of the same representation and from the
/// same address, in memory or else `on_disk` (Cache::parts_on_disk), or begins anew. Memory has as much of it as object_max
/// permits; what lies on disk alone is uncharged. The result has the key of the parts, or that of the whole, and terms by
/// its own head and these options. nullptr when there is no room, or when the head of the 206 does not say where it belongs
/// (http::part_of).
store::ObjectPtr join_part(MemoryTier&, store::Object const& part, store::ObjectPtr const& on_disk, Fingerprint primary,
                           http::FreshnessOptions const&);

/// What is coming, as far as its head tells: costs nothing and has no bytes. A 206 has its place in a whole.
store::ObjectPtr outline(store::Object::Parts parts);
/// The same, to be validated before it is used; kept for the day the origin cannot be reached. Views as those of object.parts().
store::Object::Parts outdated(store::Object const& object);
/// Their validators show that they are not of one representation.
bool contradict(store::Object const& a, store::Object const& b);

/// As http::may_reuse. Parts are validated before they are sent, not meanwhile.
http::ReuseAnswer may_reuse_parts(store::Object const& parts, http::RequestCacheControl const&, WallTime now);

/// True when the parts hold every byte of the answer to this GET with Range, be it 206 or 416.
bool can_answer(store::Object const& parts, http::RequestHead const&, WallTime now);

/// True for an object of lookup_parts: a 200 whose body has gaps.
bool is_incomplete(store::Object const&);

/// By a strong validator. False for a Vary marker.
bool is_same_representation(store::Object const&, store::Object const&, WallTime now);

/// True when a stored whole stays and the parts that came of its URL do not: it is of the same representation; or it is
/// fresh, and neither length nor validators show that the origin has another by now. False for a Vary marker.
bool outranks_parts(store::Object const& whole, store::Object const& parts, WallTime now);

}  // namespace garner::cache
