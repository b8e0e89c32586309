// Base64 (RFC 4648 4), with padding.
#pragma once
#include <string>
#include <string_view>

namespace garner {

inline constexpr std::string_view base64_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string encode_base64(std::string_view bytes);

}   // namespace garner
