// A shadow of the running cache: replays the sampled traffic through a miniature of every policy at four sizes.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "sim/tier.hpp"
#include "sim/what_if.hpp"
#include "util/hash.hpp"

namespace garner::sim {

/// One request of a sampled key.
struct Sample {
    std::uint32_t upper = 0;   // the upper half of its fingerprint, which selected it
    // The lower half. With at most 8,192 keys in a miniature, two share it with a probability of 1 in 128; then two objects
    // of thousands are treated as one.
    std::uint32_t key = 0;
    Bytes size = 0;   // the object's cost in its tier
};

inline Sample sample_of(Fingerprint fingerprint, Bytes size) {
    return {static_cast<std::uint32_t>(fingerprint >> 32), static_cast<std::uint32_t>(fingerprint), size};
}

/// SHARDS (Waldspurger, Park, Garthwaite, Ahmad: "Efficient MRC Construction with SHARDS", FAST 2015): a key is sampled
/// when its hash is below rate * 2^64, all its requests are replayed, and the miniatures have `rate` times the size.
///
/// The rate is a power of 1/2 and is adjusted automatically. It begins at 1 and is halved whenever a miniature holds more
/// than `objects_max` objects or more samples come than `replays_per_second` allows (the paper's fixed-size SHARDS). It
/// doubles after both have been far from their limits for a while. With another rate or size the miniatures are rebuilt
/// from the latest samples, so that they start warm. Counts survive a lower rate, scaled by it.
///
/// Expiry, purges and memory for objects being received are not modelled. Objects larger than a miniature always miss in
/// it: with few large objects in the cache, the results for half the size are too low.
///
/// Pure and without a clock; must be used by one thread at a time.
class Shadow {
public:
    struct Terms {
        Bytes capacity = 0;                          // size of the running cache in bytes
        std::vector<std::string> policies;           // their specs
        std::uint32_t objects_max = 8'192;           // in each miniature
        std::uint32_t replays_per_second = 60'000;   // requests to all miniatures together; less than 1 % of a core
    };
    /// The sizes, in halves of the running one.
    static constexpr std::array<Bytes, 4> halves{1, 2, 4, 8};
    static constexpr Bytes object_bytes_max = 64;   // memory for one object in one miniature

    explicit Shadow(Terms terms);

    /// Changes size or policies: the counts are reset.
    void change(Terms terms);

    /// The current fraction of sampled keys.
    double rate() const;
    /// Fingerprints below this are sampled; at rate 1 all of them, except one in 2^64.
    Fingerprint below() const { return ~Fingerprint{0} >> shift_; }

    /// Replays one request. Samples drawn at an earlier, higher rate are ignored.
    void request(Sample);

    /// Adds all requests since the last call, sampled or not; to be called after their samples. `dropped`: the number of
    /// these whose samples never came here.
    void all_requests(std::uint64_t requests, Bytes bytes, double dropped = 0);

    /// To be called about every second: `samples` came in `seconds`, including dropped ones. `most`: a limit for them a second, in
    /// addition to Terms::replays_per_second.
    void pace(std::uint64_t samples, double seconds, double most = std::numeric_limits<double>::infinity());

    /// The caller sets `seconds`, because this class has no clock; a change of forgotten() restarts that time.
    WhatIf what_if() const;
    std::uint64_t forgotten() const { return forgotten_; }

private:
    static constexpr unsigned shift_max = 20;
    static constexpr std::size_t recent_max = 16'384;   // samples kept to rebuild miniatures from
    static constexpr unsigned quiet_paces = 60;         // before the rate is doubled
    static constexpr std::uint32_t check_every = 64;    // requests

    struct Miniature {
        Tier tier;
        std::uint64_t misses = 0;
        Bytes missed_bytes = 0;
    };
    struct Count {
        std::uint64_t requests = 0;
        Bytes bytes = 0;
        double expected_requests = 0;
        double expected_bytes = 0;
    };

    bool covers(Sample const& sample) const { return shift_ == 0 || sample.upper >> (32 - shift_) == 0; }
    void keep(Sample const&);
    void replay(Sample const&, bool counted);
    void lower(unsigned by);
    void raise();
    void rebuild();
    void forget_counts();
    std::uint64_t objects_most() const;
    double samples_per_second() const;

    Terms terms_;
    unsigned shift_ = 0;                  // the rate is 2^-shift
    std::vector<Miniature> miniatures_;   // by policy, then by size
    Count count_;
    std::vector<Sample> recent_;   // a ring once it is full
    std::size_t oldest_ = 0;
    std::uint64_t uncounted_ = 0;   // requests until the miniatures are warm
    unsigned quiet_ = 0;            // successive quiet calls of pace()
    std::uint64_t epoch_ = 0;
    std::uint64_t forgotten_ = 0;
};

}   // namespace garner::sim
