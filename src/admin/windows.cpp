#include "admin/windows.hpp"

#include "util/check.hpp"

namespace garner::admin {

using proxy::Answer;

namespace {

std::optional<double> share(std::uint64_t part, std::uint64_t whole) {
    if (whole == 0) return std::nullopt;
    // The counters are read one after another: a part may be a request ahead of its whole.
    return static_cast<double>(std::min(part, whole)) / static_cast<double>(whole);
}

}  // namespace

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
    check(ring_.empty() || nth(ring_.size() - 1).at <= sample.at);
    if (ring_.size() < most) {
        ring_.push_back(sample);
        return;
    }
    ring_[first_] = sample;
    first_ = (first_ + 1) % most;
}

Ratios Samples::over(seconds window, Sample const& now) const {
    if (ring_.empty()) return {};
    std::size_t begin = 0;
    while (begin + 1 < ring_.size() && nth(begin).at < now.at - window) ++begin;
    return ratios_between(nth(begin), now);
}

WindowRatios Samples::all(Sample const& now) const {
    WindowRatios ratios;
    for (std::size_t i = 0; i < windows.size(); ++i) {
        bool const since_start = windows[i].length == seconds{0};
        ratios[i] = since_start ? ratios_between(Sample{}, now) : over(windows[i].length, now);
    }
    return ratios;
}

}  // namespace garner::admin
