// What is done to a cache line of keys in one go: find one, and move it to another place.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>

#include "crawl/cpu.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace garner::crawl::line_ops {

/// match32 and match64 tell which of a line's 16 or 8 words are equal to one, as bits; what is not kept in words of that
/// size must be masked out. move32 and move64 shift words [to, from) up by one and write `key` at `to`: who was at
/// `from` is gone. Lines stand on 64 bytes.
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
    template <class Word>
    static void move(Word* line, unsigned to, unsigned from, Word key) {
        std::memmove(line + to + 1, line + to, (from - to) * sizeof(Word));
        line[to] = key;
    }
    static void move32(std::uint32_t* line, unsigned to, unsigned from, std::uint32_t key) { move(line, to, from, key); }
    static void move64(std::uint64_t* line, unsigned to, unsigned from, std::uint64_t key) { move(line, to, from, key); }
    static void move16(std::uint16_t* line, unsigned to, unsigned from, std::uint16_t key) { move(line, to, from, key); }
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
    GARNER_TARGET static void move32(std::uint32_t* line, unsigned to, unsigned from, std::uint32_t key) {
        auto const words = _mm512_load_si512(line);
        auto const wanted = _mm512_set1_epi32(static_cast<int>(key));
        auto const up = _mm512_alignr_epi32(words, wanted, 15);
        auto const moved = _mm512_mask_mov_epi32(words, static_cast<__mmask16>(range(to, from)), up);
        _mm512_store_si512(line, _mm512_mask_mov_epi32(moved, static_cast<__mmask16>(1u << to), wanted));
    }
    GARNER_TARGET static void move64(std::uint64_t* line, unsigned to, unsigned from, std::uint64_t key) {
        auto const words = _mm512_load_si512(line);
        auto const wanted = _mm512_set1_epi64(static_cast<long long>(key));
        auto const up = _mm512_alignr_epi64(words, wanted, 7);
        auto const moved = _mm512_mask_mov_epi64(words, static_cast<__mmask8>(range(to, from)), up);
        _mm512_store_si512(line, _mm512_mask_mov_epi64(moved, static_cast<__mmask8>(1u << to), wanted));
    }

private:
    /// Bits `first` to `last`.
    static unsigned range(unsigned first, unsigned last) { return (2u << last) - (1u << first); }
};

#undef GARNER_TARGET
#endif

}  // namespace garner::crawl::line_ops
