#include "util/base64.hpp"

#include <cstdint>

namespace garner {

std::string encode_base64(std::string_view bytes) {
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (; !bytes.empty(); bytes.remove_prefix(bytes.size() < 3 ? bytes.size() : 3)) {
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 3; ++i) bits = bits << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u);
        for (std::size_t i = 0; i < 4; ++i) out += i <= bytes.size() ? base64_alphabet[bits >> (18 - 6 * i) & 63] : '=';
    }
    return out;
}

}   // namespace garner
