// Random numbers from the system.
#pragma once
#include <cstdint>
#include <random>

namespace garner {

/// 64 bits that no other process can predict. For keys and seeds: each call asks the system.
inline std::uint64_t random_bits() {
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
}

}   // namespace garner
