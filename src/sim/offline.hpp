// What no policy can know: replays that see the whole trace beforehand, as references for those that do not.
#pragma once
#include <span>
#include <string_view>

#include "sim/result.hpp"
#include "sim/trace.hpp"
#include "util/bytes.hpp"

namespace garner::sim {

struct Reference {
    std::string_view name;                          // beside the policies' names: "belady", "pfool"
    std::string_view what;                          // one line for --help
    Result (*run)(Trace const&, Bytes size);        // time and metadata stay 0: they are no rivals in that
};

/// All references, each in O(n log n). A trace has fewer than 2^32 - 1 requests.
std::span<Reference const> references();

/// The reference of that name, or nullptr.
Reference const* find_reference(std::string_view name);

/// Evicts what is asked for again furthest in the future (Belady 1966). An object that is not asked for again is not
/// stored, and leaves at its last hit; one just fetched is itself among those that may leave, so it may be bypassed.
/// Fewest object misses possible where all sizes are equal.
Result belady(Trace const&, Bytes size);

/// As belady(), but evicts the greatest size × distance to the next request, the distance counted in requests from now.
/// Exact: every object held is compared, by products in double. Ties: what is asked for furthest in the future leaves.
Result belady_size(Trace const&, Bytes size);

/// PFOO-L (Berger, Beckmann, Harchol-Balter: Practical Bounds on Optimal Caching with Variable Object Sizes, 2018), a
/// lower bound on misses. A hit costs the size × the requests since the one before it, the whole cache may spend size ×
/// all requests, and the cheapest hits are bought: for misses by cost, for missed_bytes by cost per byte, so that
/// these two are of different purchases. What is larger than the cache is never hit.
///
/// The first hit that is too dear ends the purchase. For misses that is exact. For missed_bytes it says up to one
/// object more than the bound in fractions would, as published figures do; hits that are equally dear a byte are bought
/// smallest first. An object whose size changes costs its smallest.
Result pfool(Trace const&, Bytes size);

/// A cache without bounds: only first requests miss.
Result infinite(Trace const&, Bytes size);

}  // namespace garner::sim
