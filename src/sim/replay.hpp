// A trace through one tier.
#pragma once
#include <atomic>
#include <string_view>

#include "sim/result.hpp"
#include "sim/trace.hpp"

namespace garner::sim {

struct ReplayOptions {
    Bytes size = 0;                                       // of the cache
    Bytes object_max = UINT64_MAX;
    std::uint64_t seed = 1;
    std::atomic<std::uint64_t>* replayed = nullptr;       // counts requests up, now and then, for whoever watches
};

/// `spec` must be one that policy::read_spec takes. Its seconds are processor time of the calling thread.
Result replay(Trace const&, std::string_view spec, ReplayOptions const&);

}  // namespace garner::sim
