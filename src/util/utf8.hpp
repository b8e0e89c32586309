// Recognises text: UTF-8 (RFC 3629).
#pragma once
#include <string_view>

namespace garner {

/// The length of a valid UTF-8 sequence for a character above U+009F at the start of `text`; otherwise 0. The range below
/// has ASCII and the C1 control characters, which a terminal may execute.
constexpr std::size_t utf8_length(std::string_view text) {
    auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    auto continues = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) { return at(i) >= low && at(i) <= high; };
    unsigned lead = at(0);
    if (lead >= 0xc2 && lead <= 0xdf) return continues(1, lead == 0xc2 ? 0xa0 : 0x80) ? 2 : 0;
    if (lead >= 0xe0 && lead <= 0xef) {
        bool second = continues(1, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf);
        return second && continues(2) ? 3 : 0;
    }
    if (lead >= 0xf0 && lead <= 0xf4) {
        bool second = continues(1, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf);
        return second && continues(2) && continues(3) ? 4 : 0;
    }
    return 0;
}

}   // namespace garner
