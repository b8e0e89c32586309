// A trace through one tier.
#pragma once
#include <atomic>
#include <optional>
#include <string_view>

#include "sim/result.hpp"
#include "sim/trace.hpp"

namespace garner::sim {

struct ReplayOptions {
    Bytes size = 0;                                       // of the cache
    Bytes object_max = UINT64_MAX;
    std::uint64_t seed = 1;
    std::atomic<std::uint64_t>* replayed = nullptr;       // counts requests up, every 65,536 of them
    std::atomic<bool> const* stop = nullptr;              // true: the replay is abandoned; looked at as often
};

/// Nothing when the replay was abandoned. `spec` must be one that policy::read_spec takes. The result's seconds are
/// processor time of the calling thread.
std::optional<Result> replay(Trace const&, std::string_view spec, ReplayOptions const&);

}  // namespace garner::sim
