// Decodes secrets in base64 (RFC 4648) into memory that is wiped. Pure.
#pragma once
#include <optional>
#include <string_view>

#include "auth/secret.hpp"

namespace garner::auth {

/// Nothing for a byte outside of the alphabet (RFC 4648 4), a wrong length, misplaced padding, or set bits after the last byte:
/// each value has one spelling.
std::optional<Secret> decode_base64(std::string_view text);

}   // namespace garner::auth
