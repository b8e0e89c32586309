#include "crawl/gap_code.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace garner::crawl {

namespace {

constexpr std::uint64_t in_words(std::uint64_t bits) { return (bits + 63) / 64 * 8; }

// The sum of all upper parts is limited by the bits above the lower ones.
std::uint64_t upper_sum_at_most(unsigned lower, unsigned universe_bits) {
    return universe_bits > lower ? (std::uint64_t{1} << (universe_bits - lower)) : 1;
}

std::uint64_t mask_of(unsigned bits) { return (std::uint64_t{1} << bits) - 1; }

struct Code {
    char const* uppers;
    std::uint64_t upper_words;
    char const* lowers;
    unsigned lower;   // bits of each
};

std::uint64_t word_at(char const* from) {
    std::uint64_t word;
    std::memcpy(&word, from, sizeof word);
    return word;
}

bool read_one_by_one(Code const& code, std::uint64_t base, std::span<std::uint64_t> numbers) {
    auto const mask = mask_of(code.lower);
    std::size_t i = 0;
    std::uint64_t before = base;   // sum of the lower parts so far, plus one for each number
    for (std::uint64_t w = 0; w < code.upper_words; ++w) {
        auto word = word_at(code.uppers + w * 8);
        if (numbers.size() - i < static_cast<std::uint64_t>(std::popcount(word))) return false;
        for (; word; word &= word - 1, ++i) {
            auto const bit = i * code.lower;
            before += word_at(code.lowers + bit / 8) >> bit % 8 & mask;
            // The number of zeros before this one: its position minus the number of ones.
            auto const zeros = w * 64 + static_cast<std::uint64_t>(std::countr_zero(word)) - i;
            numbers[i] = before + (zeros << code.lower);
            ++before;
        }
    }
    return i == numbers.size();
}

#if defined(__x86_64__)

// Limit in bytes: the zeros of longer code do not fit in 32 bits.
constexpr std::size_t eight_at_once_at_most = std::size_t{1} << 28;

#define GARNER_TARGET __attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vbmi2")))

/// Counts the zeros before each one bit, for a piece of the upper parts.
class Zeros {
public:
    /// Adds the next word. `first`: the zeros before its first bit, if that were a one.
    GARNER_TARGET void add(std::uint64_t word, std::uint32_t first) {
        alignas(64) static constexpr auto rising = [] {
            std::array<std::uint8_t, 64> all{};
            for (unsigned i = 0; i < 64; ++i) all[i] = static_cast<std::uint8_t>(i);
            return all;
        }();
        // The positions of its ones, minus the number of ones before each; these fit in bytes, being below 64.
        auto const positions = _mm512_maskz_compress_epi8(word, _mm512_load_si512(rising.data()));
        auto const zeros = _mm512_sub_epi8(positions, _mm512_load_si512(rising.data()));
        auto* const to = counts_ + held_;
        auto const before = _mm512_set1_epi32(static_cast<int>(first));
        _mm512_storeu_si512(to, _mm512_add_epi32(before, _mm512_cvtepu8_epi32(_mm512_castsi512_si128(zeros))));
        _mm512_storeu_si512(to + 16, _mm512_add_epi32(before, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(zeros, 1))));
        _mm512_storeu_si512(to + 32, _mm512_add_epi32(before, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(zeros, 2))));
        _mm512_storeu_si512(to + 48, _mm512_add_epi32(before, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(zeros, 3))));
        held_ += static_cast<std::size_t>(std::popcount(word));
    }
    std::uint32_t const* counts() const { return counts_; }
    std::size_t held() const { return held_; }
    /// Discards all but the last `count`, which is below eight.
    void keep_last(std::size_t count) {
        std::uint32_t last[8];
        std::memcpy(last, counts_ + (held_ - count), count * sizeof *last);
        std::memcpy(counts_, last, count * sizeof *last);
        held_ = count;
    }

    static constexpr std::size_t words = 32;   // of the piece

private:
    std::uint32_t counts_[8 + words * 64 + 64];
    std::size_t held_ = 0;
};

/// Decodes gaps to numbers, eight at once. The lower parts of eight numbers begin at a byte boundary.
class Eight {
public:
    GARNER_TARGET Eight(unsigned lower, std::uint64_t base)
        : lower_(lower), mask_(_mm512_set1_epi64(static_cast<long long>(mask_of(lower)))),
          carry_(_mm512_set1_epi64(static_cast<long long>(base - 1))) {
        alignas(64) std::array<std::uint8_t, 64> bytes;
        alignas(64) std::array<std::uint64_t, 8> shifts;
        for (unsigned i = 0; i < 8; ++i) {
            shifts[i] = i * lower % 8;
            for (unsigned b = 0; b < 8; ++b) bytes[i * 8 + b] = static_cast<std::uint8_t>(i * lower / 8 + b);
        }
        bytes_ = _mm512_load_si512(bytes.data());
        shifts_ = _mm512_load_si512(shifts.data());
    }
    /// Decodes the next eight; the last ones may be meaningless.
    GARNER_TARGET void make(char const* lowers, std::uint32_t const* zeros, std::uint64_t* to) {
        auto const spread = _mm512_permutexvar_epi8(bytes_, _mm512_loadu_si512(lowers));
        auto const lows = _mm512_and_si512(_mm512_srlv_epi64(spread, shifts_), mask_);
        auto const none = _mm512_setzero_si512();
        auto sums = _mm512_add_epi64(lows, _mm512_set1_epi64(1));
        sums = _mm512_add_epi64(sums, _mm512_alignr_epi64(sums, none, 7));
        sums = _mm512_add_epi64(sums, _mm512_alignr_epi64(sums, none, 6));
        sums = _mm512_add_epi64(sums, _mm512_alignr_epi64(sums, none, 4));
        auto const counts = _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<__m256i const*>(zeros)));
        auto const uppers = _mm512_sll_epi64(counts, _mm_cvtsi32_si128(static_cast<int>(lower_)));
        _mm512_storeu_si512(to, _mm512_add_epi64(_mm512_add_epi64(sums, carry_), uppers));
        carry_ = _mm512_add_epi64(carry_, _mm512_permutexvar_epi64(_mm512_set1_epi64(7), sums));
    }

private:
    unsigned lower_;
    __m512i mask_, bytes_, shifts_;
    __m512i carry_;   // sum of all before: their lower parts, plus one for each
};

GARNER_TARGET bool read_eight_at_once(Code const& code, std::uint64_t base, std::span<std::uint64_t> numbers) {
    Zeros zeros;
    Eight eight(code.lower, base);
    std::size_t ones = 0, done = 0;
    for (std::uint64_t w = 0; w < code.upper_words;) {
        for (auto const end = std::min(code.upper_words, w + Zeros::words); w < end; ++w) {
            auto const word = word_at(code.uppers + w * 8);
            auto const more = static_cast<std::size_t>(std::popcount(word));
            if (numbers.size() - ones < more) return false;
            zeros.add(word, static_cast<std::uint32_t>(w * 64 - ones));
            ones += more;
        }
        std::size_t i = 0;
        for (; i + 8 <= zeros.held(); i += 8, done += 8)
            eight.make(code.lowers + done / 8 * code.lower, zeros.counts() + i, numbers.data() + done);
        zeros.keep_last(zeros.held() - i);
    }
    if (zeros.held() > 0) {
        std::uint64_t last[8];
        eight.make(code.lowers + done / 8 * code.lower, zeros.counts(), last);
        std::memcpy(numbers.data() + done, last, zeros.held() * sizeof *last);
    }
    return ones == numbers.size();
}

#undef GARNER_TARGET
#endif

}   // namespace

unsigned lower_bits(std::uint64_t count, unsigned universe_bits) {
    if (count == 0) return 0;
    // With r = 2^k / mean gap, k bits and k + 1 cost the same where e^r is the golden ratio.
    auto const bits = std::ceil(universe_bits - std::log2(static_cast<double>(count)) + std::log2(0.4812));
    return bits <= 0 ? 0 : bits >= 56 ? 56 : static_cast<unsigned>(bits);
}

std::uint64_t bytes_at_most(std::uint64_t count, unsigned universe_bits) {
    if (count == 0) return 0;
    auto const lower = lower_bits(count, universe_bits);
    return in_words(count + upper_sum_at_most(lower, universe_bits)) + in_words(count * lower);
}

std::uint64_t write_gaps(std::span<std::uint64_t const> numbers, std::uint64_t base, unsigned universe_bits, char* to) {
    if (numbers.empty()) return 0;
    auto const lower = lower_bits(numbers.size(), universe_bits);
    auto const mask = mask_of(lower);
    // The upper parts in unary: zeros followed by a one. Their length must be known before the lower bits are
    // written.
    std::uint64_t word = 0, bit = 0, upper_bytes = 0;
    auto next = base;
    for (auto const number : numbers) {
        bit += (number - next) >> lower;
        next = number + 1;
        while (bit >= 64) {
            std::memcpy(to + upper_bytes, &word, 8);
            upper_bytes += 8, bit -= 64, word = 0;
        }
        word |= std::uint64_t{1} << bit++;
    }
    std::memcpy(to + upper_bytes, &word, 8);   // it contains the last number's one
    upper_bytes += 8;

    auto* out = to + upper_bytes;
    word = 0, bit = 0, next = base;
    for (auto const number : numbers) {
        word |= ((number - next) & mask) << bit;
        next = number + 1;
        bit += lower;
        std::memcpy(out, &word, 8);
        out += bit / 8;
        word >>= bit & ~std::uint64_t{7};
        bit &= 7;
    }
    std::memcpy(out, &word, 8);
    auto const bytes = upper_bytes + in_words(numbers.size() * lower);
    auto const written = static_cast<std::uint64_t>(out - to) + (bit + 7) / 8;
    if (bytes > written) std::memset(to + written, 0, bytes - written);
    return bytes;
}

GapReader best_gap_reader() {
#if defined(__x86_64__)
    bool const has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                     __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2");
    return has ? GapReader::avx512 : GapReader::plain;
#else
    return GapReader::plain;
#endif
}

bool read_gaps(std::span<char const> from, std::uint64_t base, unsigned universe_bits, std::span<std::uint64_t> numbers,
               GapReader reader) {
    auto const count = numbers.size();
    if (count == 0) return from.empty();
    auto const lower = lower_bits(count, universe_bits);
    auto const lower_bytes = in_words(count * lower);
    if (from.size() < lower_bytes + 8) return false;
    auto const upper_bytes = from.size() - lower_bytes;
    Code const code{.uppers = from.data(), .upper_words = upper_bytes / 8, .lowers = from.data() + upper_bytes, .lower = lower};
#if defined(__x86_64__)
    if (reader == GapReader::avx512 && from.size() < eight_at_once_at_most) return read_eight_at_once(code, base, numbers);
#endif
    static_cast<void>(reader);
    return read_one_by_one(code, base, numbers);
}

}   // namespace garner::crawl
