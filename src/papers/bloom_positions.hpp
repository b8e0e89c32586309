// The positions of a fingerprint in a Bloom filter: any number of them from two hashes (Kirsch, Mitzenmacher 2006).
#pragma once
#include <cstdint>

#include "crawl/mixed_bits.hpp"
#include "util/hash.hpp"

namespace garner::papers {

class BloomPositions {
public:
    BloomPositions(std::uint64_t count, unsigned hashes, std::uint64_t seed) : count_(count), hashes_(hashes), seed_(seed) {}

    /// Calls `visit` with each position, below count(). A position may repeat.
    template <class Visit>
    void each(Fingerprint url, Visit visit) const {
        auto hash = crawl::mixed(url ^ seed_);
        auto const step = crawl::mixed(hash ^ 0x94d049bb133111eb) | 1;
        for (unsigned i = 0; i < hashes_; ++i, hash += step)
            visit(static_cast<std::uint64_t>((static_cast<unsigned __int128>(hash) * count_) >> 64));
    }
    std::uint64_t count() const { return count_; }

private:
    std::uint64_t count_;
    unsigned hashes_;
    std::uint64_t seed_;
};

}   // namespace garner::papers
