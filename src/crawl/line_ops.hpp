// What is done to a cache line of keys in one go: find one, and put all in another order.
#pragma once
#include <cstdint>
#include <cstring>

#include "crawl/cpu.hpp"
#include "crawl/insertion.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace garner::crawl::line_ops {

/// match32 and match64 tell which of a line's 16 or 8 words are equal to one, as bits; what is not kept in words of that
/// size must be masked out. arrange32 and arrange64 put them in a step's order, with the key. Lines stand on 64 bytes.
struct Plain {
    static unsigned match32(std::uint32_t const* line, std::uint32_t key) {
        unsigned found = 0;
        for (unsigned i = 0; i < 16; ++i) found |= unsigned{line[i] == key} << i;
        return found;
    }
    static unsigned match64(std::uint64_t const* line, std::uint64_t key) {
        unsigned found = 0;
        for (unsigned i = 0; i < 8; ++i) found |= unsigned{line[i] == key} << i;
        return found;
    }
    /// As many words as the step is for.
    template <unsigned ways, class Word>
    static void arrange(Word* line, Step const& step, Word key) {
        Word words[ways + 1];
        std::memcpy(words, line, ways * sizeof(Word));
        words[ways] = key;
        for (unsigned i = 0; i < ways; ++i) line[i] = words[step.order[i]];
    }
    static void arrange32(std::uint32_t* line, Step const& step, std::uint32_t key) { arrange<16>(line, step, key); }
    static void arrange64(std::uint64_t* line, Step const& step, std::uint64_t key) { arrange<8>(line, step, key); }
};

#if defined(__x86_64__)

struct Sse2 : Plain {
    static unsigned match32(std::uint32_t const* line, std::uint32_t key) {
        auto const wanted = _mm_set1_epi32(static_cast<int>(key));
        unsigned found = 0;
        for (unsigned i = 0; i < 4; ++i) {
            auto const four = _mm_load_si128(reinterpret_cast<__m128i const*>(line) + i);
            auto const equal = _mm_castsi128_ps(_mm_cmpeq_epi32(four, wanted));
            found |= static_cast<unsigned>(_mm_movemask_ps(equal)) << (4 * i);
        }
        return found;
    }
    static unsigned match64(std::uint64_t const* line, std::uint64_t key) {
        auto const wanted = _mm_set1_epi64x(static_cast<long long>(key));
        unsigned found = 0;
        for (unsigned i = 0; i < 4; ++i) {
            auto const two = _mm_load_si128(reinterpret_cast<__m128i const*>(line) + i);
            auto const halves = _mm_cmpeq_epi32(two, wanted);
            auto const equal = _mm_and_si128(halves, _mm_shuffle_epi32(halves, _MM_SHUFFLE(2, 3, 0, 1)));
            found |= static_cast<unsigned>(_mm_movemask_pd(_mm_castsi128_pd(equal))) << (2 * i);
        }
        return found;
    }
};

#define GARNER_TARGET __attribute__((target("avx2")))
struct Avx2 : Plain {
    GARNER_TARGET static unsigned match32(std::uint32_t const* line, std::uint32_t key) {
        auto const wanted = _mm256_set1_epi32(static_cast<int>(key));
        unsigned found = 0;
        for (unsigned i = 0; i < 2; ++i) {
            auto const eight = _mm256_load_si256(reinterpret_cast<__m256i const*>(line) + i);
            auto const equal = _mm256_castsi256_ps(_mm256_cmpeq_epi32(eight, wanted));
            found |= static_cast<unsigned>(_mm256_movemask_ps(equal)) << (8 * i);
        }
        return found;
    }
    GARNER_TARGET static unsigned match64(std::uint64_t const* line, std::uint64_t key) {
        auto const wanted = _mm256_set1_epi64x(static_cast<long long>(key));
        unsigned found = 0;
        for (unsigned i = 0; i < 2; ++i) {
            auto const four = _mm256_load_si256(reinterpret_cast<__m256i const*>(line) + i);
            auto const equal = _mm256_castsi256_pd(_mm256_cmpeq_epi64(four, wanted));
            found |= static_cast<unsigned>(_mm256_movemask_pd(equal)) << (4 * i);
        }
        return found;
    }
};
#undef GARNER_TARGET

#define GARNER_TARGET __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq")))
struct Avx512 : Plain {
    GARNER_TARGET static unsigned match32(std::uint32_t const* line, std::uint32_t key) {
        return _mm512_cmpeq_epi32_mask(_mm512_load_si512(line), _mm512_set1_epi32(static_cast<int>(key)));
    }
    GARNER_TARGET static unsigned match64(std::uint64_t const* line, std::uint64_t key) {
        return _mm512_cmpeq_epi64_mask(_mm512_load_si512(line), _mm512_set1_epi64(static_cast<long long>(key)));
    }
    GARNER_TARGET static void arrange32(std::uint32_t* line, Step const& step, std::uint32_t key) {
        auto const order = _mm512_cvtepu8_epi32(_mm_load_si128(reinterpret_cast<__m128i const*>(step.order)));
        auto const wanted = _mm512_set1_epi32(static_cast<int>(key));
        _mm512_store_si512(line, _mm512_permutex2var_epi32(_mm512_load_si512(line), order, wanted));
    }
    GARNER_TARGET static void arrange64(std::uint64_t* line, Step const& step, std::uint64_t key) {
        auto const order = _mm512_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<__m128i const*>(step.order)));
        auto const wanted = _mm512_set1_epi64(static_cast<long long>(key));
        _mm512_store_si512(line, _mm512_permutex2var_epi64(_mm512_load_si512(line), order, wanted));
    }
};

#undef GARNER_TARGET
#endif

}  // namespace garner::crawl::line_ops
