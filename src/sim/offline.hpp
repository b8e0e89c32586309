// Offline references: replays that know the whole trace in advance, as bounds for real policies.
#pragma once
#include <span>
#include <string_view>

#include "sim/replay_result.hpp"
#include "sim/trace.hpp"
#include "util/bytes.hpp"

namespace garner::sim {

struct Reference {
    std::string_view name;                     // used like a policy's name: "belady", "pfool"
    std::string_view what;                     // one line for --help
    Result (*run)(Trace const&, Bytes size);   // time and metadata stay 0: they are not comparable
};

/// All references, each in O(n log n). A trace has fewer than 2^32 - 1 requests.
std::span<Reference const> references();

/// The reference of that name, or nullptr.
Reference const* find_reference(std::string_view name);

/// Evicts the object whose next request is furthest in the future (Belady 1966). An object without another request is not
/// stored, and is evicted at its last hit. A fetched object is itself a candidate, so it may be bypassed. Gives the fewest
/// possible object misses if all sizes are equal.
Result belady(Trace const&, Bytes size);

/// Like belady(), but evicts the greatest size × distance to the next request, the distance counted in requests from now.
/// Exact: all held objects are compared, by products in double. Ties: evicts the object whose next request is furthest
/// away.
Result belady_size(Trace const&, Bytes size);

/// PFOO-L (Berger, Beckmann, Harchol-Balter: Practical Bounds on Optimal Caching with Variable Object Sizes, 2018), a lower
/// bound on misses. A hit costs size × requests since the previous one; the whole cache has a budget of size × all
/// requests. The cheapest hits are selected: for misses by cost, for missed_bytes by cost per byte, so the two come from
/// different selections. An object larger than the cache is never hit.
///
/// The first hit over the remaining budget ends the selection, which is exact for misses. For missed_bytes the result may
/// exceed the fractional bound by up to one object, like published results. Hits with equal cost per byte are selected
/// smallest first. An object whose size changes costs its smallest size.
Result pfool(Trace const&, Bytes size);

/// A cache without bounds: only first requests miss.
Result infinite(Trace const&, Bytes size);

}   // namespace garner::sim
