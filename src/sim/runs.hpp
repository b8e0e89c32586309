// Many replays of one trace at once.
#pragma once
#include <functional>
#include <vector>

#include "sim/result.hpp"
#include "sim/sim_options.hpp"
#include "sim/trace.hpp"

namespace garner::sim {

/// How far the replays are. Given by the thread that called run_all().
struct Progress {
    std::size_t done = 0, of = 0;                 // replays
    double share = 0;                             // of all requests of all replays, in [0, 1]
};

/// Every policy at every size, in the order of sizes, then policies. A sampled trace is replayed through caches smaller
/// by the sample; the results show the sizes wished for, and ratios of the sample's share of all requests.
///
/// `go_on` is called about five times a second. When it returns false, no replay is begun, running replays are abandoned,
/// and the results of the finished ones are returned; an offline reference that runs is waited for. Throws std::bad_alloc
/// when memory does not suffice.
std::vector<Result> run_all(Trace const&, SimOptions const&, std::function<bool(Progress const&)> const& go_on);

}  // namespace garner::sim
