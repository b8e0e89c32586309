#include "sim/shadow.hpp"

#include <algorithm>
#include <cmath>

#include "policy/policies.hpp"
#include "util/check.hpp"

namespace garner::sim {

Shadow::Shadow(Terms terms) { change(std::move(terms)); }

void Shadow::change(Terms terms) {
    terms_ = std::move(terms);
    rebuild();
    forget_counts();
}

void Shadow::request(Sample sample) {
    if (!covers(sample)) return;
    keep(sample);
    bool const counted = uncounted_ == 0;
    if (!counted) --uncounted_;
    replay(sample, counted);
    if (counted) {
        ++count_.requests;
        count_.bytes += sample.size;
    } else {
        count_.expected_requests -= 1;
        count_.expected_bytes -= static_cast<double>(sample.size);
    }
    if ((recent_.size() + oldest_) % check_every == 0 && objects_most() > terms_.objects_max) lower(1);
}

void Shadow::all_requests(std::uint64_t requests, Bytes bytes, double dropped) {
    count_.expected_requests += static_cast<double>(requests) * rate();
    count_.expected_bytes += static_cast<double>(bytes) * rate();
    if (dropped == 0 || count_.requests == 0) return;
    auto const mean = static_cast<double>(count_.bytes) / static_cast<double>(count_.requests);
    count_.expected_requests -= dropped;
    count_.expected_bytes -= dropped * mean;
}

void Shadow::pace(std::uint64_t samples, double seconds, double most) {
    auto const rate = static_cast<double>(samples) / std::max(seconds, 1.0);
    most = std::min(most, samples_per_second());
    if (rate > most) return lower(static_cast<unsigned>(std::ceil(std::log2(rate / most))));
    // Leaves a margin of two beyond the effect of doubling, so that the rate does not oscillate.
    bool const quiet = 4 * rate < most && 4 * objects_most() < terms_.objects_max;
    quiet_ = quiet && shift_ > 0 ? quiet_ + 1 : 0;
    if (quiet_ >= quiet_paces) raise();
}

WhatIf Shadow::what_if() const {
    WhatIf all;
    all.rate = rate();
    all.requests = count_.requests;
    all.expected_requests = count_.expected_requests;
    all.expected_bytes = count_.expected_bytes;
    all.capacity = terms_.capacity;
    all.epoch = epoch_;
    all.metadata = recent_.capacity() * sizeof(Sample);
    all.metadata_max = recent_max * sizeof(Sample) + miniatures_.size() * terms_.objects_max * object_bytes_max;
    for (std::size_t i = 0; i < miniatures_.size(); ++i) {
        auto const& one = miniatures_[i];
        all.metadata += one.tier.metadata_bytes();
        all.rows.push_back(
            {terms_.policies[i / halves.size()], terms_.capacity * halves[i % halves.size()] / 2, one.misses, one.missed_bytes});
    }
    return all;
}

void Shadow::keep(Sample const& sample) {
    if (recent_.size() < recent_max) {
        recent_.push_back(sample);
        return;
    }
    recent_[oldest_] = sample;
    oldest_ = (oldest_ + 1) % recent_max;
}

void Shadow::replay(Sample const& sample, bool counted) {
    for (auto& one : miniatures_) {
        if (one.tier.request(sample.key, sample.size) || !counted) continue;
        ++one.misses;
        one.missed_bytes += sample.size;
    }
}

/// Rescales the counts, because each sampled key now stands for more keys.
void Shadow::lower(unsigned by) {
    by = std::min(by, shift_max - shift_);
    if (by == 0) return;
    shift_ += by;
    quiet_ = 0;
    std::vector<WhatIf::Row> before;
    for (auto const& one : miniatures_) before.push_back({{}, 0, one.misses >> by, one.missed_bytes >> by});
    rebuild();
    for (std::size_t i = 0; i < before.size(); ++i) {
        miniatures_[i].misses = before[i].misses;
        miniatures_[i].missed_bytes = before[i].missed_bytes;
    }
    auto const share = std::ldexp(1.0, -static_cast<int>(by));
    count_ = {count_.requests >> by, count_.bytes >> by, count_.expected_requests * share, count_.expected_bytes * share};
}

/// Half of the keys were not sampled before: they start cold.
void Shadow::raise() {
    --shift_;
    quiet_ = 0;
    rebuild();
    forget_counts();
    uncounted_ = 2 * objects_most();
}

void Shadow::rebuild() {
    ++epoch_;
    std::rotate(recent_.begin(), recent_.begin() + static_cast<std::ptrdiff_t>(oldest_), recent_.end());
    oldest_ = 0;
    std::erase_if(recent_, [this](Sample const& sample) { return !covers(sample); });
    miniatures_.clear();
    for (auto const& spec : terms_.policies)
        for (auto half : halves) {
            policy::Options options;
            options.capacity = (terms_.capacity * half / 2) >> shift_;
            auto made = policy::make(spec, options);
            check(made != nullptr);
            miniatures_.push_back({Tier(std::move(made), options.capacity)});
        }
    for (auto const& sample : recent_) replay(sample, false);
}

void Shadow::forget_counts() {
    ++forgotten_;
    count_ = {};
    uncounted_ = 0;
    for (auto& one : miniatures_) one.misses = one.missed_bytes = 0;
}

std::uint64_t Shadow::objects_most() const {
    std::uint64_t most = 0;
    for (auto const& one : miniatures_) most = std::max<std::uint64_t>(most, one.tier.objects());
    return most;
}

double Shadow::rate() const { return std::ldexp(1.0, -static_cast<int>(shift_)); }

double Shadow::samples_per_second() const {
    return terms_.replays_per_second / std::max(static_cast<double>(miniatures_.size()), 1.0);
}

}   // namespace garner::sim
