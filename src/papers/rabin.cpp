#include "papers/rabin.hpp"

#include <bit>
#include <cstring>

namespace garner::papers {
namespace {

constexpr std::uint64_t top_bit = std::uint64_t{1} << 63;

/// value * x modulo x^64 + polynomial.
constexpr std::uint64_t times_x(std::uint64_t value, std::uint64_t polynomial) {
    return value << 1 ^ (value & top_bit ? polynomial : 0);
}

constexpr std::uint64_t product(std::uint64_t a, std::uint64_t b, std::uint64_t polynomial) {
    std::uint64_t sum = 0;
    for (; b != 0; b >>= 1, a = times_x(a, polynomial))
        if (b & 1) sum ^= a;
    return sum;
}

std::uint64_t eight_bytes(char const* at) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return std::endian::native == std::endian::little ? __builtin_bswap64(word) : word;
}

}   // namespace

Rabin::Rabin(std::uint64_t polynomial) {
    std::uint64_t power = polynomial;   // x^64
    for (auto& table : times_) {
        for (unsigned byte = 0; byte < 256; ++byte) table[byte] = product(power, byte, polynomial);
        for (int bit = 0; bit < 8; ++bit) power = times_x(power, polynomial);
    }
}

Fingerprint Rabin::operator()(std::string_view text) const {
    std::uint64_t value = 1;
    while (text.size() >= 8) {
        std::uint64_t next = eight_bytes(text.data());
        for (unsigned i = 0; i < 8; ++i) next ^= times_[i][value >> 8 * i & 255];
        value = next;
        text.remove_prefix(8);
    }
    for (char c : text) value = (value << 8 | static_cast<unsigned char>(c)) ^ times_[0][value >> 56];
    return value;
}

}   // namespace garner::papers
