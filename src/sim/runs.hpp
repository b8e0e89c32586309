// Parallel replays of one trace.
#pragma once
#include <functional>
#include <vector>

#include "sim/replay_result.hpp"
#include "sim/sim_options.hpp"
#include "sim/trace.hpp"

namespace garner::sim {

/// The progress of the replays. Passed on the thread that called run_all().
struct Progress {
    std::size_t done = 0, of = 0;   // replays
    double share = 0;               // fraction of all requests of all replays, in [0, 1]
};

/// Every policy at every size, in the order of sizes, then policies. A sampled trace is replayed through caches reduced by
/// the sample rate. The results have the requested sizes, and their ratios refer to the sample's share of all requests.
///
/// `go_on` is called about five times a second. When it returns false, no replay is started, running replays are abandoned,
/// and the results of the finished ones are returned; a running offline reference is waited for. Throws std::bad_alloc when
/// memory does not suffice.
std::vector<Result> run_all(Trace const&, SimOptions const&, std::function<bool(Progress const&)> const& go_on);

}   // namespace garner::sim
