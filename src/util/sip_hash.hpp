// SipHash-2-4 with 128 bits of output (Aumasson, Bernstein 2012): a keyed digest that reveals nothing about its input.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace garner {

struct SipKey {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
};

using SipDigest = std::array<std::uint64_t, 2>;   // low half first

namespace sip {

struct State {
    std::uint64_t a, b, c, d;

    void round() {
        a += b, c += d;
        b = std::rotl(b, 13) ^ a, d = std::rotl(d, 16) ^ c;
        a = std::rotl(a, 32);
        c += b, a += d;
        b = std::rotl(b, 17) ^ c, d = std::rotl(d, 21) ^ a;
        c = std::rotl(c, 32);
    }
    void take(std::uint64_t word) {
        d ^= word;
        round(), round();
        a ^= word;
    }
    std::uint64_t finish() {
        for (int i = 0; i < 4; ++i) round();
        return a ^ b ^ c ^ d;
    }
};

/// Up to 8 bytes, little-endian.
inline std::uint64_t word_of(std::string_view bytes) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) word |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return word;
}

}   // namespace sip

/// Without the key, digests neither reveal inputs nor allow to test guesses.
inline SipDigest sip_hash(std::string_view bytes, SipKey key) {
    sip::State state{key.low ^ 0x736f6d6570736575, key.high ^ 0x646f72616e646f6d ^ 0xee, key.low ^ 0x6c7967656e657261,
                     key.high ^ 0x7465646279746573};
    auto const size = bytes.size();
    for (; bytes.size() >= 8; bytes.remove_prefix(8)) state.take(sip::word_of(bytes.substr(0, 8)));
    state.take(sip::word_of(bytes) | std::uint64_t{size} << 56);
    state.c ^= 0xee;
    auto const low = state.finish();
    state.b ^= 0xdd;
    return {low, state.finish()};
}

}   // namespace garner
