// The misses of an LRU cache, estimated from a sample of the keys that is bounded for every distribution of sizes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "policy/policy.hpp"

namespace garner::policy {

/// A simulated LRU cache. A key is sampled by its hash with a probability in proportion to its size: an object of `grain`
/// bytes or more always, and a smaller one so that each sampled one stands for `grain` bytes. The missed bytes of the sample are
/// then an unbiased estimate for all keys, and no sampled object stands for less than the grain, so a capacity of N grains needs
/// at most N entries (spatial sampling: Waldspurger et al. 2015; probability by size: Duffield, Lund, Thorup 2005).
///
/// Memory is allocated at construction: 16 bytes an entry. Deterministic.
class SampledLru {
public:
    static constexpr std::uint32_t most_entries = 32'000;

    /// `entries`: the most objects held, from 1 to most_entries.
    SampledLru(Bytes capacity, std::uint32_t entries);

    bool wants(Fingerprint fingerprint, Bytes size) const {
        constexpr unsigned bits = 24;   // a grain below 2^40 bytes does not overflow
        return (fingerprint * 0x9e37'79b9'7f4a'7c15 >> (64 - bits)) * grain_ >> bits < size;
    }
    /// The bytes for which a sampled object of this size stands.
    double bytes_for(Bytes size) const { return static_cast<double>(std::max(size, grain_)); }
    /// Requests a key that wants() accepts, and stores it if it misses. `room`: the present capacity, at most the initial
    /// one. True on a hit.
    bool request(std::uint32_t tag, Bytes size, double room);

    Bytes metadata_bytes() const { return objects_.capacity() * sizeof(Object) + table_.capacity() * sizeof(Index); }

private:
    using Index = std::uint16_t;
    static constexpr Index root = 0;   // begins the ring, which is in order of use
    static constexpr Index none = UINT16_MAX;
    struct Object {
        std::uint32_t tag = 0;
        float bytes = 0;
        Index older = root;
        Index newer = root;   // the next free one, of a free one
    };

    /// The table place where the search for a tag begins.
    std::size_t home(std::uint32_t tag) const;
    /// The table place of the tag's object, or the empty place for it.
    std::size_t find(std::uint32_t tag) const;
    std::size_t next(std::size_t place) const { return place + 1 == table_.size() ? 0 : place + 1; }
    void link_newest(Index);
    void unlink(Index);
    void evict_oldest();

    Bytes grain_;
    double occupied_ = 0;
    std::vector<Object> objects_;
    std::vector<Index> table_;   // objects by tag, open addressing
    Index free_ = root + 1;
};

}   // namespace garner::policy
