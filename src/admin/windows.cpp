#include "admin/windows.hpp"

#include <algorithm>

#include "admin/write_costs.hpp"
#include "util/check.hpp"

namespace garner::admin {

using proxy::Answer;

namespace {

/// The counters are read one after another: a part may be ahead of its total by one request.
std::optional<double> share(std::uint64_t part, std::uint64_t whole) { return quotient(std::min(part, whole), whole); }

}   // namespace

Sample sample_of(Figures const& figures) {
    Sample sample;
    sample.at = figures.at;
    sample.requests = figures.requests;
    for (auto other : {Answer::tunnelled, Answer::refused, Answer::failed, Answer::negative, Answer::purged, Answer::own})
        sample.requests -= figures.count(other);
    sample.hits = figures.count(Answer::hit);
    sample.bytes = figures.sum(&proxy::Counters::client_body_bytes);
    sample.hit_bytes = figures.sum(&proxy::Counters::client_hit_bytes);
    return sample;
}

Ratios ratios_between(Sample const& before, Sample const& after) {
    return {share(after.hits - before.hits, after.requests - before.requests),
            share(after.hit_bytes - before.hit_bytes, after.bytes - before.bytes)};
}

void Samples::add(Sample const& sample) {
    check(samples_.empty() || samples_.back().at <= sample.at);
    if (samples_.size() == most) samples_.pop_front();
    samples_.push_back(sample);
}

Ratios Samples::over(seconds window, Sample const& now) const {
    if (samples_.empty()) return {};
    auto const inside = std::ranges::lower_bound(samples_, now.at - window, {}, &Sample::at);
    return ratios_between(inside == samples_.end() ? samples_.back() : *inside, now);
}

WindowRatios Samples::all(Sample const& now) const {
    WindowRatios ratios;
    for (std::size_t i = 0; i < windows.size(); ++i) {
        bool const since_start = windows[i].length == seconds{0};
        ratios[i] = since_start ? ratios_between(Sample{}, now) : over(windows[i].length, now);
    }
    return ratios;
}

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

}   // namespace garner::admin
