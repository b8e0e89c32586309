// Sorts a batch of fingerprints, and maps results back to the original order.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "crawl/huge_array.hpp"
#include "util/hash.hpp"

namespace garner::crawl {

/// Processes a batch by the upper bits of its fingerprints, slice by slice, without sorting all of it at once. The
/// batch is scattered by 8 bits, then each part by the next 8, so that a part fits in the processor's caches.
class BatchOrder {
public:
    static constexpr unsigned part_bits = 8, slice_bits = 16;

    /// In their original order: `earlier`, then `batch`. Both outlive this.
    BatchOrder(std::span<Fingerprint const> earlier, std::span<Fingerprint const> batch);

    std::uint64_t size() const { return scattered_.size(); }
    /// The approximate number of distinct fingerprints, if they are hashes: estimated from a sixty-fourth of them.
    std::uint64_t different_about() const;

    /// Prepares part `part` (of 2^8) and discards the previous one.
    void open_part(unsigned part);
    /// Appends the distinct fingerprints of a slice, ascending, and the position of the first occurrence of each, for
    /// found_new(). `slice` is one of all 2^16, and in the open part.
    void read_slice(unsigned slice, std::vector<Fingerprint>& urls, std::vector<std::uint32_t>& positions);
    /// Some slices of the open part in original order, with duplicates, and an answer for each: 1 for new. Every
    /// duplicate gets an answer, unlike with found_new().
    struct Unsorted {
        std::span<Fingerprint const> urls;
        std::span<std::uint8_t> is_new;
    };
    Unsorted slices(unsigned first, unsigned count);
    /// The fingerprint at this position of the open part was new.
    void found_new(std::uint32_t position) { new_in_part_[position] = 1; }
    void close_part();

    /// The results, 1 for new or 0, for each of the batch. Call after all parts.
    void answer(std::span<std::uint8_t> is_new) const;

private:
    std::span<Fingerprint const> earlier_, batch_;
    std::vector<std::uint64_t> part_begins_;   // 2^8 + 1
    HugeArray<Fingerprint> scattered_;         // by part
    HugeArray<std::uint8_t> new_;              // in the order of scattered_
    unsigned part_ = 0;
    std::vector<std::uint32_t> slice_begins_;   // 2^8 + 1, of the open part
    std::vector<Fingerprint> sliced_;           // the open part, by slice
    std::vector<std::uint8_t> new_in_part_;     // in the order of sliced_
    std::vector<std::uint64_t> numbered_, sorted_;
};

}   // namespace garner::crawl
