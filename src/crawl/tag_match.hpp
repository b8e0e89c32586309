// Which of sixteen 32-bit tags equal one: in one to sixteen steps, by what the processor has.
#pragma once
#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace garner::crawl {

/// What compares tags. All give the same answers.
enum class Simd : std::uint8_t { plain, sse2, avx2, avx512 };

/// The widest that this machine has.
inline Simd best_simd() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return Simd::avx512;
    if (__builtin_cpu_supports("avx2")) return Simd::avx2;
    return Simd::sse2;
#else
    return Simd::plain;
#endif
}

/// Bit i is set where the i-th tag of the line of 64 bytes, which begins at a multiple of 64, is `tag`.
struct PlainMatch {
    static std::uint32_t mask(void const* line, std::uint32_t tag) {
        std::uint32_t tags[16], found = 0;
        std::memcpy(tags, line, sizeof tags);
        for (unsigned i = 0; i < 16; ++i) found |= static_cast<std::uint32_t>(tags[i] == tag) << i;
        return found;
    }
};

#if defined(__x86_64__)
struct Sse2Match {
    static std::uint32_t mask(void const* line, std::uint32_t tag) {
        auto const* const quarters = static_cast<__m128i const*>(line);
        auto const wanted = _mm_set1_epi32(static_cast<int>(tag));
        auto const low = _mm_packs_epi32(_mm_cmpeq_epi32(quarters[0], wanted), _mm_cmpeq_epi32(quarters[1], wanted));
        auto const high = _mm_packs_epi32(_mm_cmpeq_epi32(quarters[2], wanted), _mm_cmpeq_epi32(quarters[3], wanted));
        return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
    }
};

struct Avx2Match {
    __attribute__((target("avx2"))) static std::uint32_t mask(void const* line, std::uint32_t tag) {
        auto const* const halves = static_cast<__m256i const*>(line);
        auto const wanted = _mm256_set1_epi32(static_cast<int>(tag));
        auto const low = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(halves[0], wanted)));
        auto const high = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(halves[1], wanted)));
        return static_cast<std::uint32_t>(low) | static_cast<std::uint32_t>(high) << 8;
    }
};

struct Avx512Match {
    __attribute__((target("avx512f"))) static std::uint32_t mask(void const* line, std::uint32_t tag) {
        return _mm512_cmpeq_epi32_mask(_mm512_load_si512(line), _mm512_set1_epi32(static_cast<int>(tag)));
    }
};
#endif

}  // namespace garner::crawl
