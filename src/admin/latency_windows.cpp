#include "admin/latency_windows.hpp"

namespace garner::admin {

void LatencySamples::add(SteadyTime at, Latencies const& until_now) {
    if (!samples_.empty() && at - samples_.back().at < interval) return;
    if (samples_.size() == most) samples_.pop_front();
    samples_.push_back({at, until_now});
}

WindowLatencies LatencySamples::over(SteadyTime at, Latencies const& until_now) const {
    WindowLatencies all;
    for (std::size_t i = 0; i < latency_windows.size(); ++i) all[i] = since(at - latency_windows[i].length, until_now);
    return all;
}

Latencies LatencySamples::since(SteadyTime moment, Latencies const& until_now) const {
    if (samples_.empty()) return until_now;
    auto const* begin = &samples_.front();
    for (auto const& sample : samples_)
        if (sample.at <= moment) begin = &sample;
    return {until_now.hit.since(begin->until.hit), until_now.miss.since(begin->until.miss)};
}

}  // namespace garner::admin
