// Base64 (RFC 4648) of secrets: the result is in memory that is wiped. Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "auth/secret.hpp"

namespace garner::auth {

/// Nothing for a byte outside of the alphabet (RFC 4648 4), a wrong length, misplaced padding, or set bits after the last byte:
/// each value has one spelling.
std::optional<Secret> decode_base64(std::string_view text);

/// With padding.
std::string encode_base64(std::string_view bytes);

}   // namespace garner::auth
