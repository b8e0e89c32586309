// Credentials of Basic authentication (RFC 7617) for the actors.
#pragma once
#include <string>

#include "support/message.hpp"

namespace garner::test {

/// "Basic …" of "user:password".
inline std::string basic(std::string const& text) {
    constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out = "Basic ";
    for (std::size_t i = 0; i < text.size(); i += 3) {
        std::uint32_t bits = 0;
        for (std::size_t k = 0; k < 3; ++k) bits = bits << 8 | (i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0);
        for (std::size_t k = 0; k < 4; ++k) out += i + k <= text.size() ? digits[bits >> (18 - 6 * k) & 63] : '=';
    }
    return out;
}

inline Fields login(std::string const& user) { return {{"Proxy-Authorization", basic(user)}}; }

// Lines of a users' file: {SHA} of "wonder" and of "builder".
inline constexpr char const* alice = "alice:{SHA}w3QkzGJswDXW5OKZHAJw0FELjfM=\n";
inline constexpr char const* bob = "bob:{SHA}9SMYoF5RilWWASry7TjeaKwmpGg=\n";

}   // namespace garner::test
