// Stored parts of a representation (RFC 9111 3.3, 3.4): one object with gaps in its body, under a separate key, so
// that no request without Range is answered from it. Once complete it is the whole response.
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
/// The object to store for a 206 whose body is complete. It is joined with stored parts of one representation and
/// address, in memory or else `on_disk` (DiskTier::load_parts); otherwise it is stored alone. Memory holds as much of
/// it as object_max permits; bytes on disk only are uncharged. The result has the key of the parts or of the whole,
/// with terms from its own head and these options. nullptr when there is no room, or when the head of the 206 does
/// not give its position (http::part_of).
store::ObjectPtr join_part(MemoryTier&, store::Object const& part, store::ObjectPtr const& on_disk, Fingerprint primary,
                           http::FreshnessOptions const&);

/// An object without bytes that represents a response being received, as far as its head describes it; uncharged. A
/// 206 gets its position in the whole.
store::ObjectPtr outline(store::Object::Parts parts);
/// The parts of an object that must be validated before use; it is stored for use when the origin is unreachable.
/// Views as in object.parts().
store::Object::Parts outdated(store::Object const& object);
/// True when their validators show two different representations.
bool contradict(store::Object const& a, store::Object const& b);

/// Parts are always validated before they are sent stale: no stale-while-revalidate.
http::Terms terms_of_parts(store::Object const& parts);

/// True when the parts contain every byte of the answer to this GET with Range, whether 206 or 416.
bool can_answer(store::Object const& parts, http::RequestHead const&, WallTime now);

/// True for an object with gaps in its body, which has status 200.
bool is_incomplete(store::Object const&);

/// True if their strong validators match. False for a Vary marker.
bool is_same_representation(store::Object const&, store::Object const&, WallTime now);

/// True when a stored whole response is preferred to newly received parts: both are of one representation; or the
/// whole is fresh, and neither length nor validators show that the origin has changed. False for a Vary marker.
bool outranks_parts(store::Object const& whole, store::Object const& parts, WallTime now);

}   // namespace garner::cache
