// Sorted numbers as the gaps between them, in Rice's code with its two halves apart: all lower bits in a row, all upper
// parts in unary in another, as Elias and Fano keep them (Rice 1979, Fano 1971, Elias 1974).
#pragma once
#include <cstdint>
#include <span>

namespace garner::crawl {

/// How many lower bits a gap keeps, 0 to 56. For `count` numbers below 2^`universe_bits` without any order in them the
/// code then takes within 0.13 bits of what it must; never more than bytes_at_most() says whatever they are.
unsigned lower_bits(std::uint64_t count, unsigned universe_bits);

/// What write_gaps() may take, a multiple of 8.
std::uint64_t bytes_at_most(std::uint64_t count, unsigned universe_bits);

/// `numbers` rise, each at least `base` and below `base` + 2^`universe_bits`. Returns how many bytes it wrote, a multiple
/// of 8; room for bytes_at_most() and 8 more.
std::uint64_t write_gaps(std::span<std::uint64_t const> numbers, std::uint64_t base, unsigned universe_bits, char* to);

/// What reads them: one number after the other, or eight at once, where the machine has AVX-512 with VBMI2. With the same
/// answers.
enum class GapReader { plain, avx512 };
GapReader best_gap_reader();

/// What may be read beyond the bytes.
inline constexpr std::size_t gap_slack = 64;

/// As many numbers as `numbers` has room for. False when these bytes were not written so. Reads up to gap_slack bytes
/// beyond them.
bool read_gaps(std::span<char const> from, std::uint64_t base, unsigned universe_bits, std::span<std::uint64_t> numbers,
               GapReader reader = best_gap_reader());

}  // namespace garner::crawl
