#include "crawl/bucket_index.hpp"

#include <algorithm>
#include <bit>

namespace garner::crawl {

void BucketIndex::take(std::span<Fingerprint const> known, unsigned bits) {
    known_ = known;
    bits_ = bits;
    auto const cell_bits = std::clamp(static_cast<int>(std::bit_width(known.size())) - 2, 1, 12);
    shift_ = 64 - static_cast<unsigned>(cell_bits);
    // An empty cell may begin anywhere: its fingerprints match none of the stored ones.
    begins_.assign(std::size_t{1} << cell_bits, 0);
    for (auto i = known.size(); i-- > 0;) begins_[cell_of(known[i])] = static_cast<std::uint32_t>(i);
}

// A cell nearly always has at most eight fingerprints.
template <class Ops>
void BucketIndex::mark(std::span<Fingerprint const> asked, std::span<std::uint8_t> is_new) const {
    auto const* const known = known_.data();
    auto const* const begins = begins_.data();
    auto const bits = bits_, shift = shift_;
    auto const count = known_.size();
    for (std::size_t i = 0; i < asked.size(); ++i) {
        auto const url = asked[i];
        std::size_t at = begins[url << bits >> shift];
        auto found = Ops::match64(known + at, url);
        while (found == 0 && known[at + (slack - 1)] < url) [[unlikely]] found = Ops::match64(known + (at += slack), url);
        // The padding after the fingerprints also equals UINT64_MAX.
        is_new[i] = found == 0 || (url == UINT64_MAX && (count == 0 || known[count - 1] != url));
    }
}

void BucketIndex::mark_new(std::span<Fingerprint const> asked, std::span<std::uint8_t> is_new) const {
    with_simd(
        simd_, [&](auto ops) __attribute__((always_inline)) { mark<decltype(ops)>(asked, is_new); });
}

}   // namespace garner::crawl
