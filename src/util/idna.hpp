// International domain names in the ASCII form that DNS and URLs have (UTS #46).
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace garner {

/// Length limit of an international name. Punycode takes quadratic time in a label's length; DNS allows 255 bytes.
inline constexpr std::size_t idna_bytes_max = 2048;

/// Appends a name in UTF-8 as browsers look it up: in lower case, each label with other letters as "xn--…". Non-transitional, with
/// CheckBidi and CheckJoiners, without STD3 rules and checks of hyphens and lengths. The tables are those of the installed ICU.
/// False for an invalid name, or one of more than idna_bytes_max: nothing is appended.
bool append_ascii_name(std::string_view name, std::string& to);

constexpr bool is_ascii(std::string_view text) {
    for (char c : text)
        if (static_cast<unsigned char>(c) >= 0x80) return false;
    return true;
}

}   // namespace garner
