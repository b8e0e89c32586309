// Sorted numbers encoded as gaps in Rice's code with separate halves: all lower bits in one row, all upper parts in
// unary in another, as in Elias-Fano coding (Rice 1979, Fano 1971, Elias 1974).
#pragma once
#include <cstdint>
#include <span>

namespace garner::crawl {

/// The number of lower bits of a gap, 0 to 56. For `count` random numbers below 2^`universe_bits` the code is within
/// 0.13 bits of the lower bound; it never exceeds bytes_at_most() for any numbers.
unsigned lower_bits(std::uint64_t count, unsigned universe_bits);

/// The most bytes that write_gaps() writes, a multiple of 8.
std::uint64_t bytes_at_most(std::uint64_t count, unsigned universe_bits);

/// `numbers` are ascending, each at least `base` and below `base` + 2^`universe_bits`. Returns the bytes written, a
/// multiple of 8; `to` needs room for bytes_at_most() and 8 more.
std::uint64_t write_gaps(std::span<std::uint64_t const> numbers, std::uint64_t base, unsigned universe_bits, char* to);

/// Decoder implementations: one number at a time, or eight at once with AVX-512 and VBMI2. The results are equal.
enum class GapReader { plain, avx512 };
GapReader best_gap_reader();

/// Bytes beyond the end that may be read.
inline constexpr std::size_t gap_slack = 64;

/// Decodes numbers.size() numbers. False when the bytes are not a valid encoding. Reads up to gap_slack bytes beyond
/// them.
bool read_gaps(std::span<char const> from, std::uint64_t base, unsigned universe_bits, std::span<std::uint64_t> numbers,
               GapReader reader = best_gap_reader());

}   // namespace garner::crawl
