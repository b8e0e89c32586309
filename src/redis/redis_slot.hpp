// The slot of a key in Redis Cluster (its specification, "Key distribution model").
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace garner::redis {

inline constexpr unsigned redis_slots = 16'384;

/// CRC-16/XMODEM: polynomial 0x1021, from 0, nothing reflected.
constexpr std::uint16_t crc16(std::string_view bytes) {
    constexpr auto table = [] {
        std::array<std::uint16_t, 256> made{};
        for (unsigned i = 0; i < made.size(); ++i) {
            auto crc = i << 8;
            for (int bit = 0; bit < 8; ++bit) crc = crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1;
            made[i] = static_cast<std::uint16_t>(crc);
        }
        return made;
    }();
    std::uint16_t crc = 0;
    for (char const c : bytes) crc = static_cast<std::uint16_t>(crc << 8 ^ table[crc >> 8 ^ static_cast<std::uint8_t>(c)]);
    return crc;
}
static_assert(crc16("123456789") == 0x31c3);

/// Of a key without braces.
constexpr std::uint16_t redis_slot(std::string_view key) { return crc16(key) % redis_slots; }

}  // namespace garner::redis
