#include "crawl/bucket_index.hpp"

#include <algorithm>
#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace garner::crawl {

namespace {

/// Which of the eight from `known` on are equal to one, as bits.
struct PlainCompare {
    static unsigned equal(Fingerprint const* known, Fingerprint url) {
        unsigned found = 0;
        for (unsigned i = 0; i < BucketIndex::slack; ++i) found |= unsigned{known[i] == url} << i;
        return found;
    }
};

#if defined(__x86_64__)
struct Avx2Compare {
    __attribute__((target("avx2"))) static unsigned equal(Fingerprint const* known, Fingerprint url) {
        auto const wanted = _mm256_set1_epi64x(static_cast<long long>(url));
        auto const* const fours = reinterpret_cast<__m256i const*>(known);
        auto const low = _mm256_cmpeq_epi64(_mm256_loadu_si256(fours), wanted);
        auto const high = _mm256_cmpeq_epi64(_mm256_loadu_si256(fours + 1), wanted);
        auto const bits = static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(low)));
        return bits | static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(high))) << 4;
    }
};

struct Avx512Compare {
    __attribute__((target("avx512f"))) static unsigned equal(Fingerprint const* known, Fingerprint url) {
        return _mm512_cmpeq_epi64_mask(_mm512_loadu_si512(known), _mm512_set1_epi64(static_cast<long long>(url)));
    }
};
#endif

}  // namespace

void BucketIndex::take(std::span<Fingerprint const> known, unsigned bits) {
    known_ = known;
    bits_ = bits;
    auto const cell_bits = std::clamp(static_cast<int>(std::bit_width(known.size())) - 2, 1, 12);
    shift_ = 64 - static_cast<unsigned>(cell_bits);
    // A cell without any begins anywhere: none of those there is equal to one of that cell.
    begins_.assign(std::size_t{1} << cell_bits, 0);
    for (auto i = known.size(); i-- > 0;) begins_[cell_of(known[i])] = static_cast<std::uint32_t>(i);
}

// Nearly always the first eight of a cell are more than it has.
template <class Compare>
void BucketIndex::mark(std::span<Fingerprint const> asked, std::span<std::uint8_t> is_new) const {
    auto const* const known = known_.data();
    auto const* const begins = begins_.data();
    auto const bits = bits_, shift = shift_;
    auto const count = known_.size();
    for (std::size_t i = 0; i < asked.size(); ++i) {
        auto const url = asked[i];
        std::size_t at = begins[url << bits >> shift];
        auto found = Compare::equal(known + at, url);
        while (found == 0 && known[at + (slack - 1)] < url) [[unlikely]]
            found = Compare::equal(known + (at += slack), url);
        // UINT64_MAX is found among what is beyond them, if not before.
        is_new[i] = found == 0 || (url == UINT64_MAX && (count == 0 || known[count - 1] != url));
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void BucketIndex::mark_avx2(std::span<Fingerprint const> asked,
                                                           std::span<std::uint8_t> is_new) const {
    mark<Avx2Compare>(asked, is_new);
}
__attribute__((target("avx512f"))) void BucketIndex::mark_avx512(std::span<Fingerprint const> asked,
                                                                std::span<std::uint8_t> is_new) const {
    mark<Avx512Compare>(asked, is_new);
}
#endif

void BucketIndex::mark_new(std::span<Fingerprint const> asked, std::span<std::uint8_t> is_new) const {
    switch (simd_) {
#if defined(__x86_64__)
    case Simd::avx512: return mark_avx512(asked, is_new);
    case Simd::avx2: return mark_avx2(asked, is_new);
#endif
    default: return mark<PlainCompare>(asked, is_new);
    }
}

}  // namespace garner::crawl
