// Filters over the end of a stream (Metwally, Agrawal, El Abbadi 2005): landmark, sliding and jumping windows. A URL
// that is held is not inserted again, so it is forgotten one window after its first request.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "papers/bloom.hpp"

namespace garner::papers {

/// Forgets everything after every `entries` requests.
class LandmarkWindow final : public FilterCache<LandmarkWindow, BloomBits> {
public:
    using FilterCache::FilterCache;

    bool look(Fingerprint url) {
        if (requests_++ == entries_) {
            filter_.clear();
            requests_ = 1;
        }
        return put_unless_held(url);
    }

private:
    std::uint64_t requests_ = 0;   // since the landmark
};

/// Forgets each request after `entries` further ones: it stores them all, to remove them from the counters.
class SlidingWindow final : public FilterCache<SlidingWindow, BloomCounters> {
public:
    explicit SlidingWindow(crawl::CacheOptions const& options) : FilterCache(options), latest_(options.entries) {}

    bool look(Fingerprint url) {
        auto& oldest = latest_[oldest_];
        if (oldest.in) filter_.take_out(oldest.url);
        bool const held = put_unless_held(url);
        oldest = {url, !held};
        if (++oldest_ == latest_.size()) oldest_ = 0;
        return held;
    }
    std::uint64_t memory_bits() const override { return filter_.memory_bits() + latest_.size() * 8 * sizeof(Put); }

private:
    struct Put {
        Fingerprint url = 0;
        bool in = false;   // false: the URL was held, so nothing was inserted
    };
    std::vector<Put> latest_;   // a ring
    std::size_t oldest_ = 0;
};

/// Forgets the oldest of `parts` parts of the window at once. Has a filter for each part, and one that counts for
/// each bit the parts that set it; lookups use only the latter.
class JumpingWindow final : public FilterCache<JumpingWindow, BloomCounters> {
public:
    static constexpr std::array settings{
        BloomSettings::settings[0], BloomSettings::settings[1],
        policy::Setting{"parts", "number of parts of the window", 8, 2, 14},   // 4-bit counters
    };
    explicit JumpingWindow(crawl::CacheOptions const& options) : FilterCache(options) {
        auto const parts = static_cast<std::size_t>(std::round(options.value(settings, 2)));
        // They use the positions of the counting filter.
        for (std::size_t i = 0; i < parts; ++i) parts_.emplace_back(BloomSettings::positions(options));
    }

    bool look(Fingerprint url) {
        auto const in_part = std::max<std::uint64_t>(entries_ / parts_.size(), 1);
        if (requests_++ == in_part) jump();
        if (filter_.holds(url)) return true;
        parts_[latest_].put(url, [&](std::uint64_t position) { filter_.count_up(position); });
        return false;
    }
    std::uint64_t memory_bits() const override {
        auto bits = filter_.memory_bits();
        for (auto const& part : parts_) bits += part.memory_bits();
        return bits;
    }

private:
    void jump() {
        latest_ = (latest_ + 1) % parts_.size();
        parts_[latest_].clear([&](std::uint64_t position) { filter_.count_down(position); });
        requests_ = 1;
    }

    std::uint64_t requests_ = 0;   // in the latest part
    std::vector<BloomBits> parts_;
    std::size_t latest_ = 0;
};

}   // namespace garner::papers
