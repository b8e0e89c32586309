#include "admin/recent_windows.hpp"

#include <algorithm>
#include <utility>

#include "admin/write_costs.hpp"
#include "util/check.hpp"

namespace garner::admin {

using proxy::Answer;

namespace {

/// The counters are read one after another: a part may be ahead of its total by one request.
std::optional<double> share(std::uint64_t part, std::uint64_t whole) { return quotient(std::min(part, whole), whole); }

Minute minute_between(Sample const& before, Sample const& after) {
    auto const more = [&](std::uint64_t Sample::*count) { return static_cast<double>(after.*count - before.*count); };
    return {more(&Sample::all_requests), more(&Sample::failed), more(&Sample::refused), more(&Sample::lost_lines)};
}

Minute times(Minute const& one, double factor) {
    return {one.requests * factor, one.failed * factor, one.refused * factor, one.lost_lines * factor};
}

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
    sample.all_requests = figures.requests;
    sample.failed = figures.count(Answer::failed);
    sample.refused = figures.count(Answer::refused);
    sample.lost_lines = figures.log.dropped + figures.log.lost;
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

/// There must be a sample.
Sample const& Samples::first_of(seconds window, SteadyTime now) const {
    auto const inside = std::ranges::lower_bound(samples_, now - window, {}, &Sample::at);
    return inside == samples_.end() ? samples_.back() : *inside;
}

Ratios Samples::over(seconds window, Sample const& now) const {
    if (samples_.empty()) return {};
    return ratios_between(first_of(window, now.at), now);
}

Trend Samples::trend(Sample const& now) const {
    constexpr seconds minute{60}, known_for{300};
    if (samples_.empty()) return {};
    auto const& begin = first_of(minute, now.at);
    auto const& oldest = samples_.front();
    Trend trend{.last = minute_between(begin, now)};
    auto const span = begin.at - oldest.at;
    if (span >= known_for) trend.usual = times(minute_between(oldest, begin), std::chrono::duration<double>(minute) / span);
    return trend;
}

WindowRatios Samples::all(Sample const& now) const {
    WindowRatios ratios;
    for (std::size_t i = 0; i < windows.size(); ++i) {
        bool const since_start = windows[i].length == seconds{0};
        ratios[i] = since_start ? ratios_between(Sample{}, now) : over(windows[i].length, now);
    }
    return ratios;
}

std::vector<Samples::Handed> Samples::handed(Sample const& now) const {
    std::vector<Handed> all;
    for (auto const& sample : samples_) {
        auto& one = all.emplace_back();
        one.age = std::chrono::duration_cast<milliseconds>(now.at - sample.at);
        for (auto const count : sample_counts) one.since.*count = now.*count - sample.*count;
    }
    return all;
}

void Samples::adopt(std::vector<Handed> const& all, Sample const& now) {
    samples_.clear();
    for (auto const& one : all) {
        Sample sample{.at = now.at - one.age};
        for (auto const count : sample_counts) sample.*count = now.*count - one.since.*count;
        add(sample);
    }
}

void LatencySamples::add(SteadyTime at, Latencies const& until_now) {
    add_to(samples_, {at, until_now}, interval, most);
    add_to(sparse_, {at, until_now}, sparse_interval, sparse_most);
}

void LatencySamples::add_to(Series& series, Sample sample, seconds apart, std::size_t count_max) {
    auto& samples = series.samples;
    if (!samples.empty() && sample.at - samples.back().at < apart) return;
    if (samples.size() == count_max) samples.pop_front();
    sample.until += series.former;
    samples.push_back(std::move(sample));
}

WindowLatencies LatencySamples::over(SteadyTime at, Latencies const& until_now) const {
    constexpr seconds dense_for{300};
    WindowLatencies all;
    for (std::size_t i = 0; i < latency_windows.size(); ++i) {
        auto const length = latency_windows[i].length;
        all[i] = since(length <= dense_for ? samples_ : sparse_, at - length, until_now);
    }
    return all;
}

Latencies LatencySamples::since(Series const& series, SteadyTime moment, Latencies const& until_now) {
    if (series.samples.empty()) return until_now;
    auto const* begin = &series.samples.front();
    for (auto const& sample : series.samples)
        if (sample.at <= moment) begin = &sample;
    auto until = series.former;
    until += until_now;
    return until.since(begin->until);
}

LatencySamples::HandedSeries LatencySamples::handed(SteadyTime at, Latencies const& until_now) const {
    return {handed(samples_, at, until_now), handed(sparse_, at, until_now)};
}

std::vector<LatencySamples::Handed> LatencySamples::handed(Series const& series, SteadyTime at, Latencies const& until_now) {
    std::vector<Handed> all;
    auto const& samples = series.samples;
    auto last = series.former;
    last += until_now;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        auto const& next = i + 1 < samples.size() ? samples[i + 1].until : last;
        all.push_back({std::chrono::duration_cast<milliseconds>(at - samples[i].at), next.since(samples[i].until)});
    }
    return all;
}

void LatencySamples::adopt(HandedSeries const& all, SteadyTime at) {
    adopt(samples_, all.dense, at, most);
    adopt(sparse_, all.sparse, at, sparse_most);
}

void LatencySamples::adopt(Series& series, std::vector<Handed> const& all, SteadyTime at, std::size_t count_max) {
    series = {};
    for (auto const& one : all) {
        if (series.samples.size() == count_max) series.samples.pop_front();
        series.samples.push_back({at - one.age, series.former});
        series.former += one.times;
    }
}

}   // namespace garner::admin
