// Many replays of one trace at once.
#pragma once
#include <functional>
#include <vector>

#include "sim/result.hpp"
#include "sim/sim_options.hpp"
#include "sim/trace.hpp"

namespace garner::sim {

/// Told by the calling thread about twice a second while replays run.
struct Progress {
    std::size_t done = 0, of = 0;                 // replays
    double share = 0;                             // of all requests of all replays, in [0, 1]
};

/// Throws std::bad_alloc when memory does not suffice.
///
/// Every policy at every size, in the order of sizes, then policies. A sampled trace is replayed through caches smaller
/// by the sample; the results show the sizes wished for, and ratios of the sample's share of all requests.
std::vector<Result> run_all(Trace const&, SimOptions const&, std::function<void(Progress const&)> const& progress);

}  // namespace garner::sim
