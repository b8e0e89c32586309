// How many samples may be replayed, so that the what-if caches cost little beside the requests.
#pragma once
#include <algorithm>
#include <cstdint>

namespace garner::sim {

/// A token bucket: each request and each second allow a part of a replay. Savings let a proxy with little traffic replay its
/// first requests completely. Pure.
class ReplayBudget {
public:
    static constexpr double per_request = 1.0 / 128;   // a replay runs more than fifty miniatures
    static constexpr double per_second = 4;
    static constexpr double saved_max = 2'048;

    void earn(std::uint64_t requests, double seconds) { saved_ = std::min(saved_ + allowed(requests, seconds), saved_max); }
    /// False: this sample must not be replayed.
    bool spend() {
        if (saved_ < 1) return false;
        saved_ -= 1;
        return true;
    }
    /// The part of `samples` that is too much in the long run; none while savings last.
    std::uint64_t sustained(std::uint64_t samples, std::uint64_t requests, double seconds) const {
        return saved_ < 1 ? samples : std::min(samples, static_cast<std::uint64_t>(allowed(requests, seconds)));
    }
    static double allowed(std::uint64_t requests, double seconds) {
        return static_cast<double>(requests) * per_request + seconds * per_second;
    }

private:
    double saved_ = saved_max;
};

}   // namespace garner::sim
