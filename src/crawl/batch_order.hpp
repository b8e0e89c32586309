// A batch of fingerprints in their order, and what was found out about them back in the order in which they came.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "crawl/huge_array.hpp"
#include "util/hash.hpp"

namespace garner::crawl {

/// Goes through a batch by its fingerprints' upper bits, slice by slice, without ever sorting the whole of it: once
/// scattered by 8 bits, then each part by the next 8, so that all of that stays in the processor's own caches.
class BatchOrder {
public:
    static constexpr unsigned part_bits = 8, slice_bits = 16;

    /// In the order in which they came: `earlier`, then `batch`. They outlive this.
    BatchOrder(std::span<Fingerprint const> earlier, std::span<Fingerprint const> batch);

    std::uint64_t size() const { return scattered_.size(); }
    /// About how many different ones there are, when they are hashes: by a sixty-fourth of them.
    std::uint64_t different_about() const;

    /// Makes ready part `part` (of 2^8). The one before is done with.
    void open_part(unsigned part);
    /// Of the open part, the slice numbered `slice` of all 2^16: appends its fingerprints, each once, rising, and where
    /// the first of each stands, for found_new().
    void read_slice(unsigned slice, std::vector<Fingerprint>& urls, std::vector<std::uint32_t>& positions);
    /// Of the open part, some slices as they came, with repeats, and room for what is found out about each: 1 for new. An
    /// answer for every one of equals, instead of found_new() for the first.
    struct Unsorted {
        std::span<Fingerprint const> urls;
        std::span<std::uint8_t> is_new;
    };
    Unsorted slices(unsigned first, unsigned count);
    /// That one, of the open part, was new.
    void found_new(std::uint32_t position) { new_in_part_[position] = 1; }
    void close_part();

    /// What was found new, 1 or 0 for each of the batch. After all parts.
    void answer(std::span<std::uint8_t> is_new) const;

private:
    std::span<Fingerprint const> earlier_, batch_;
    std::vector<std::uint64_t> part_begins_;   // 2^8 + 1
    HugeArray<Fingerprint> scattered_;         // by part
    HugeArray<std::uint8_t> new_;              // as scattered
    unsigned part_ = 0;
    std::vector<std::uint32_t> slice_begins_;  // 2^8 + 1, of the open part
    std::vector<Fingerprint> sliced_;          // of the open part, by slice
    std::vector<std::uint8_t> new_in_part_;    // as sliced
    std::vector<std::uint64_t> numbered_, sorted_;
};

}  // namespace garner::crawl
