// Filters over the latest of a stream (Metwally, Agrawal, El Abbadi 2005): since a landmark, over a window that slides, and
// over one that jumps. What they know already they do not put in again, so a URL is forgotten a window after it came first.
#pragma once
#include <vector>

#include "papers/bloom.hpp"
#include "crawl/seen_cache.hpp"

namespace garner::papers {

/// Forgets all after every `entries` requests.
class LandmarkWindow final : public crawl::Batched<LandmarkWindow> {
public:
    explicit LandmarkWindow(crawl::CacheOptions const& options)
        : entries_(options.entries), filter_(BloomSettings::places(options)) {}

    bool look(Fingerprint);
    void prefetch(Fingerprint url) const { filter_.prefetch(url); }
    bool claims() const override { return true; }
    std::uint64_t entries() const override { return entries_; }
    std::uint64_t memory_bits() const override { return filter_.memory_bits(); }

private:
    std::uint64_t const entries_;
    std::uint64_t requests_ = 0;   // since the landmark
    BloomBits filter_;
};

/// Forgets what came `entries` requests ago: it must keep them all to take them out of counters again.
class SlidingWindow final : public crawl::Batched<SlidingWindow> {
public:
    explicit SlidingWindow(crawl::CacheOptions const& options)
        : filter_(BloomSettings::places(options)), latest_(options.entries) {}

    bool look(Fingerprint);
    void prefetch(Fingerprint url) const { filter_.prefetch(url); }
    bool claims() const override { return true; }
    std::uint64_t entries() const override { return latest_.size(); }
    std::uint64_t memory_bits() const override { return filter_.memory_bits() + latest_.size() * 8 * sizeof(Put); }

private:
    struct Put {
        Fingerprint url = 0;
        bool in = false;       // a request of what was known put nothing in
    };
    BloomCounters filter_;
    std::vector<Put> latest_;  // a ring
    std::size_t oldest_ = 0;
};

/// Forgets the oldest of `parts` parts of the window at once: a filter for each, and one that counts in how many of them
/// each bit is set, which is all that is asked.
class JumpingWindow final : public crawl::Batched<JumpingWindow> {
public:
    explicit JumpingWindow(crawl::CacheOptions const&);

    static std::span<policy::Setting const> declared();
    bool look(Fingerprint);
    void prefetch(Fingerprint url) const { all_.prefetch(url); }
    bool claims() const override { return true; }
    std::uint64_t entries() const override { return entries_; }
    std::uint64_t memory_bits() const override;

private:
    void jump();

    std::uint64_t const entries_;
    std::uint64_t requests_ = 0;    // in the latest part
    std::vector<BloomBits> parts_;
    std::size_t latest_ = 0;
    BloomCounters all_;
};

}  // namespace garner::papers
