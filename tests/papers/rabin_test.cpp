// Rabin's fingerprint, compared with bit-by-bit polynomial arithmetic.
#include "papers/rabin.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <string>

namespace garner::papers {
namespace {

/// The definition: the remainder of a 1 and the text's bits, divided by x^64 + polynomial.
Fingerprint by_long_division(std::string_view text, std::uint64_t polynomial) {
    std::uint64_t rest = 1;
    for (char c : text)
        for (int bit = 7; bit >= 0; --bit) {
            bool const carry = rest >> 63;
            rest = rest << 1 | (static_cast<unsigned char>(c) >> bit & 1);
            if (carry) rest ^= polynomial;
        }
    return rest;
}

TEST(Rabin, is_what_long_division_leaves) {
    std::mt19937_64 random(1);
    for (std::uint64_t polynomial : {Rabin::default_polynomial, std::uint64_t{0x1b}}) {
        Rabin const rabin(polynomial);
        std::string text;
        for (int size = 0; size < 100; ++size) {
            EXPECT_EQ(rabin(text), by_long_division(text, polynomial)) << size;
            text.push_back(static_cast<char>(random()));
        }
    }
}

TEST(Rabin, tells_texts_apart_that_only_leading_zeros_do) {
    Rabin const rabin;
    EXPECT_NE(rabin({"", 0}), rabin({"\0", 1}));
    EXPECT_NE(rabin({"\0a", 2}), rabin("a"));
}

TEST(Rabin, is_linear_so_that_texts_of_one_length_meet_only_by_their_difference) {
    Rabin const rabin;
    std::string const a = "http://a.example/one", b = "http://b.example/two", c = "ftp://a.example/four";
    std::string sum(a.size(), '\0');
    for (std::size_t i = 0; i < a.size(); ++i) sum[i] = static_cast<char>(a[i] ^ b[i] ^ c[i]);
    EXPECT_EQ(rabin(a) ^ rabin(b) ^ rabin(c), rabin(sum));
}

/// value * x modulo x^64 + polynomial.
std::uint64_t product(std::uint64_t a, std::uint64_t b, std::uint64_t polynomial) {
    std::uint64_t sum = 0;
    for (; b != 0; b >>= 1, a = a << 1 ^ (a >> 63 ? polynomial : 0))
        if (b & 1) sum ^= a;
    return sum;
}

int width(unsigned __int128 value) {
    auto const high = static_cast<std::uint64_t>(value >> 64);
    return high ? 64 + std::bit_width(high) : std::bit_width(static_cast<std::uint64_t>(value));
}

/// True if x^64 + polynomial and `other`, which is not 0, have no common divisor.
bool is_prime_to(std::uint64_t polynomial, std::uint64_t other) {
    auto dividend = (static_cast<unsigned __int128>(1) << 64) | polynomial;
    unsigned __int128 divisor = other;
    while (divisor != 0) {
        while (dividend != 0 && width(dividend) >= width(divisor)) dividend ^= divisor << (width(dividend) - width(divisor));
        std::swap(dividend, divisor);
    }
    return dividend == 1;
}

/// Ben-Or's test of x^64 and the bits of `polynomial`: a factor of degree i would divide x^(2^i) - x.
bool is_irreducible(std::uint64_t polynomial) {
    std::uint64_t power = 2;   // x
    for (int degree = 1; degree <= 32; ++degree) {
        power = product(power, power, polynomial);
        if (power == 2 || !is_prime_to(polynomial, power ^ 2)) return false;
    }
    return true;
}

TEST(Rabin, has_a_polynomial_without_factors) {
    EXPECT_TRUE(is_irreducible(Rabin::default_polynomial));
    EXPECT_TRUE(is_irreducible(0x1b));    // x^64 + x^4 + x^3 + x + 1
    EXPECT_FALSE(is_irreducible(0x1a));   // divisible by x
    EXPECT_FALSE(is_irreducible(0x1));    // (x + 1)^64
    EXPECT_FALSE(is_irreducible(0));
    // About one in 64 is irreducible.
    int irreducible = 0;
    for (std::uint64_t polynomial = 1; polynomial < 4096; polynomial += 2) irreducible += is_irreducible(polynomial);
    EXPECT_NEAR(irreducible, 4096 / 64, 25);
}

}   // namespace
}   // namespace garner::papers
