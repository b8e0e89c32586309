// SIMD operations on a cache line of words, chosen by processor: comparison with one word, and reordering.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace garner::crawl {

/// All give equal results. plain: the baseline instructions of the architecture.
enum class Simd : std::uint8_t { plain, avx2, avx512 };

inline bool has(Simd simd) {
#if defined(__x86_64__)
    if (simd == Simd::avx2) return __builtin_cpu_supports("avx2");
    if (simd == Simd::avx512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq");
#endif
    return simd == Simd::plain;
}

inline Simd best_simd() { return has(Simd::avx512) ? Simd::avx512 : has(Simd::avx2) ? Simd::avx2 : Simd::plain; }

/// match32 and match64 return, as bits, which of 16 or 8 words equal a key. The 16 words are 64-byte aligned.
/// arrange32 and arrange64 reorder the words of a line: order[i] is the word that moves to i; 16 or 8 stands for
/// `key`. Line and order are aligned to their size.
struct PlainOps {
    static unsigned match32(void const* line, std::uint32_t key) {
#if defined(__SSE2__)
        auto const* const quarters = static_cast<__m128i const*>(line);
        auto const wanted = _mm_set1_epi32(static_cast<int>(key));
        auto const low = _mm_packs_epi32(_mm_cmpeq_epi32(quarters[0], wanted), _mm_cmpeq_epi32(quarters[1], wanted));
        auto const high = _mm_packs_epi32(_mm_cmpeq_epi32(quarters[2], wanted), _mm_cmpeq_epi32(quarters[3], wanted));
        return static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
#else
        std::uint32_t words[16];
        std::memcpy(words, line, sizeof words);
        unsigned found = 0;
        for (unsigned i = 0; i < 16; ++i) found |= unsigned{words[i] == key} << i;
        return found;
#endif
    }
    static unsigned match64(std::uint64_t const* words, std::uint64_t key) {
        unsigned found = 0;
        for (unsigned i = 0; i < 8; ++i) found |= unsigned{words[i] == key} << i;
        return found;
    }
    /// The order has as many words as `ways`.
    template <unsigned ways, class Word>
    static void arrange(Word* line, std::uint8_t const* order, Word key) {
        Word words[ways + 1];
        std::memcpy(words, line, ways * sizeof(Word));
        words[ways] = key;
        for (unsigned i = 0; i < ways; ++i) line[i] = words[order[i]];
    }
    static void arrange32(std::uint32_t* line, std::uint8_t const* order, std::uint32_t key) { arrange<16>(line, order, key); }
    static void arrange64(std::uint64_t* line, std::uint8_t const* order, std::uint64_t key) { arrange<8>(line, order, key); }
};

#if defined(__x86_64__)

#define GARNER_AVX2 __attribute__((target("avx2")))
#define GARNER_AVX512 __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq")))

struct Avx2Ops : PlainOps {
    GARNER_AVX2 static unsigned match32(void const* line, std::uint32_t key) {
        auto const* const halves = static_cast<__m256i const*>(line);
        auto const wanted = _mm256_set1_epi32(static_cast<int>(key));
        auto const low = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(halves[0], wanted)));
        auto const high = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(halves[1], wanted)));
        return static_cast<unsigned>(low) | static_cast<unsigned>(high) << 8;
    }
    GARNER_AVX2 static unsigned match64(std::uint64_t const* words, std::uint64_t key) {
        auto const* const fours = reinterpret_cast<__m256i const*>(words);
        auto const wanted = _mm256_set1_epi64x(static_cast<long long>(key));
        auto const low = _mm256_cmpeq_epi64(_mm256_loadu_si256(fours), wanted);
        auto const high = _mm256_cmpeq_epi64(_mm256_loadu_si256(fours + 1), wanted);
        auto const bits = static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(low)));
        return bits | static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(high))) << 4;
    }
};

struct Avx512Ops : PlainOps {
    GARNER_AVX512 static unsigned match32(void const* line, std::uint32_t key) {
        return _mm512_cmpeq_epi32_mask(_mm512_load_si512(line), _mm512_set1_epi32(static_cast<int>(key)));
    }
    GARNER_AVX512 static unsigned match64(std::uint64_t const* words, std::uint64_t key) {
        return _mm512_cmpeq_epi64_mask(_mm512_loadu_si512(words), _mm512_set1_epi64(static_cast<long long>(key)));
    }
    GARNER_AVX512 static void arrange32(std::uint32_t* line, std::uint8_t const* order, std::uint32_t key) {
        auto const from = _mm512_cvtepu8_epi32(_mm_load_si128(reinterpret_cast<__m128i const*>(order)));
        auto const wanted = _mm512_set1_epi32(static_cast<int>(key));
        _mm512_store_si512(line, _mm512_permutex2var_epi32(_mm512_load_si512(line), from, wanted));
    }
    GARNER_AVX512 static void arrange64(std::uint64_t* line, std::uint8_t const* order, std::uint64_t key) {
        auto const from = _mm512_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<__m128i const*>(order)));
        auto const wanted = _mm512_set1_epi64(static_cast<long long>(key));
        _mm512_store_si512(line, _mm512_permutex2var_epi64(_mm512_load_si512(line), from, wanted));
    }
};

template <class Work>
GARNER_AVX2 auto with_avx2(Work const& work) {
    return work(Avx2Ops());
}
template <class Work>
GARNER_AVX512 auto with_avx512(Work const& work) {
    return work(Avx512Ops());
}

#undef GARNER_AVX2
#undef GARNER_AVX512
#endif

/// Calls work(ops). It and everything that takes the ops must be inlined (always_inline), otherwise the instructions
/// are unavailable.
template <class Work>
auto with_simd(Simd simd, Work const& work) {
#if defined(__x86_64__)
    if (simd == Simd::avx512) return with_avx512(work);
    if (simd == Simd::avx2) return with_avx2(work);
#endif
    static_cast<void>(simd);
    return work(PlainOps());
}

}   // namespace garner::crawl
