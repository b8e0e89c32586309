#include "crawl/gap_code.hpp"

#include <bit>
#include <cmath>
#include <cstring>

namespace garner::crawl {

namespace {

constexpr std::uint64_t in_words(std::uint64_t bits) { return (bits + 63) / 64 * 8; }

// The sum of all upper parts is at most what fits above the lower bits.
std::uint64_t upper_sum_at_most(unsigned lower, unsigned universe_bits) {
    return universe_bits > lower ? (std::uint64_t{1} << (universe_bits - lower)) : 1;
}

std::uint64_t mask_of(unsigned bits) { return (std::uint64_t{1} << bits) - 1; }

}  // namespace

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
    // The upper parts, in unary: as many zeros, and a one. Their length must be known before the lower bits follow.
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
    std::memcpy(to + upper_bytes, &word, 8);   // it holds the last number's one
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

bool read_gaps(std::span<char const> from, std::uint64_t base, unsigned universe_bits,
               std::span<std::uint64_t> numbers) {
    auto const count = numbers.size();
    if (count == 0) return from.empty();
    auto const lower = lower_bits(count, universe_bits);
    auto const mask = mask_of(lower);
    auto const lower_bytes = in_words(count * lower);
    if (from.size() < lower_bytes + 8) return false;
    auto const* const lowers = from.data() + (from.size() - lower_bytes);
    auto const upper_words = (from.size() - lower_bytes) / 8;

    std::size_t i = 0;
    std::uint64_t before = base;   // of the lower parts so far, and one for each number
    for (std::uint64_t w = 0; w < upper_words; ++w) {
        std::uint64_t word;
        std::memcpy(&word, from.data() + w * 8, 8);
        if (count - i < static_cast<std::uint64_t>(std::popcount(word))) return false;
        for (; word; word &= word - 1, ++i) {
            std::uint64_t low;
            auto const bit = i * lower;
            std::memcpy(&low, lowers + bit / 8, 8);
            before += low >> bit % 8 & mask;
            // The zeros before this one: its place less the ones.
            auto const zeros = w * 64 + static_cast<std::uint64_t>(std::countr_zero(word)) - i;
            numbers[i] = before + (zeros << lower);
            ++before;
        }
    }
    return i == count;
}

}  // namespace garner::crawl
