// Numbers in network byte order.
#pragma once
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace garner {

/// The number at the beginning of `bytes`, which must be long enough.
template <std::unsigned_integral Number>
constexpr Number read_big_endian(std::string_view bytes) {
    Number value = 0;
    for (char c : bytes.substr(0, sizeof(Number))) value = static_cast<Number>(value << 8 | static_cast<unsigned char>(c));
    return value;
}

template <std::unsigned_integral Number>
void write_big_endian(Number value, std::string& out, std::size_t at) {
    for (std::size_t i = sizeof(Number); i-- > 0; value = static_cast<Number>(value >> 8)) out[at + i] = static_cast<char>(value);
}

template <std::unsigned_integral Number>
void append_big_endian(Number value, std::string& out) {
    out.resize(out.size() + sizeof(Number));
    write_big_endian(value, out, out.size() - sizeof(Number));
}

}   // namespace garner
