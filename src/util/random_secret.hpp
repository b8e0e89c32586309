// Secrets from the system.
#pragma once
#include <string>

#include "util/random_bits.hpp"
#include "util/text.hpp"

namespace garner {

/// 256 bits that cannot be guessed, as 64 hexadecimal digits.
inline std::string random_secret() {
    std::string text;
    for (int i = 0; i < 4; ++i) append_hex(random_bits(), text);
    return text;
}

}   // namespace garner
