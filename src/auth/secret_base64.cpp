#include "auth/secret_base64.hpp"

#include <array>
#include <cstdint>

#include "util/base64.hpp"

namespace garner::auth {
namespace {

constexpr auto values = [] {
    std::array<std::int8_t, 256> table{};
    table.fill(-1);
    for (std::size_t i = 0; i < base64_alphabet.size(); ++i)
        table[static_cast<unsigned char>(base64_alphabet[i])] = static_cast<std::int8_t>(i);
    return table;
}();

}   // namespace

std::optional<Secret> decode_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
    if (text.size() % 4 == 1) return std::nullopt;
    Secret out(text.size() * 3 / 4);
    std::uint32_t bits = 0;
    unsigned held = 0;
    std::size_t size = 0;
    for (char const c : text) {
        int const value = values[static_cast<unsigned char>(c)];
        if (value < 0) return std::nullopt;
        bits = bits << 6 | static_cast<std::uint32_t>(value);
        held += 6;
        if (held < 8) continue;
        held -= 8;
        out.data()[size++] = static_cast<char>(bits >> held & 0xff);
    }
    if ((bits & ((1u << held) - 1)) != 0) return std::nullopt;
    return out;
}

}   // namespace garner::auth
