// Bytes of a disk store, and changes of them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>

#include "store/disk_format.hpp"

namespace garner::store::disk {

inline constexpr Location here{.store = 0x1234567890abcdef, .generation = 77, .offset = header_area + 4096};

inline std::string bytes_of(std::size_t count, std::uint64_t seed = 1) {
    std::mt19937_64 random(seed);
    std::string bytes(count, '\0');
    for (auto& byte : bytes) byte = static_cast<char>(random());
    return bytes;
}

inline std::string with(std::string bytes, std::size_t at, std::string_view other) {
    return bytes.replace(at, other.size(), other);
}

template <class T>
std::string as_bytes(T value) {
    return {reinterpret_cast<char const*>(&value), sizeof value};
}

/// Calls `try_it` with each byte (or every `step`th) changed, in one bit and in all bits.
inline void with_each_byte_changed(std::string bytes, std::function<void(std::string_view, std::size_t at)> const& try_it,
                                   std::size_t step = 1) {
    for (std::size_t at = 0; at < bytes.size(); at += step)
        for (unsigned change : {1u << at % 8, 0xffu}) {
            auto const was = bytes[at];
            bytes[at] = static_cast<char>(bytes[at] ^ change);
            try_it(bytes, at);
            bytes[at] = was;
        }
}

}   // namespace garner::store::disk
