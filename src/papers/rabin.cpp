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

/// The greatest common divisor of x^64 + polynomial and `other`, which is not 0, is 1.
bool is_prime_to(std::uint64_t polynomial, std::uint64_t other) {
    // The first division has a dividend of 65 bits: x^64 modulo other by shifting, and the rest added.
    unsigned __int128 dividend = (static_cast<unsigned __int128>(1) << 64) | polynomial;
    auto width = [](unsigned __int128 value) {
        auto const high = static_cast<std::uint64_t>(value >> 64);
        return high ? 64 + std::bit_width(high) : std::bit_width(static_cast<std::uint64_t>(value));
    };
    unsigned __int128 divisor = other;
    while (divisor != 0) {
        while (dividend != 0 && width(dividend) >= width(divisor))
            dividend ^= divisor << (width(dividend) - width(divisor));
        std::swap(dividend, divisor);
    }
    return dividend == 1;
}

std::uint64_t eight_bytes(char const* at) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return std::endian::native == std::endian::little ? __builtin_bswap64(word) : word;
}

}  // namespace

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

bool is_irreducible(std::uint64_t polynomial) {
    // Ben-Or: it has a factor of degree i exactly when it has one in common with x^(2^i) - x.
    std::uint64_t power = 2;   // x
    for (int degree = 1; degree <= 32; ++degree) {
        power = product(power, power, polynomial);
        if (power == 2 || !is_prime_to(polynomial, power ^ 2)) return false;
    }
    return true;
}

}  // namespace garner::papers
