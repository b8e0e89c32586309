// The value of Proxy-Authorization (RFC 9110 11.7.2). Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "auth/secret.hpp"

namespace garner::auth {

enum class Scheme : std::uint8_t {
    basic,      // RFC 7617
    bearer,     // RFC 6750
    negotiate   // RFC 4559
};

/// Why a value holds no usable credentials.
enum class CredentialsFault : std::uint8_t {
    none,
    unknown_scheme,
    no_parameter,       // only a scheme
    too_long,           // more than the maximum below
    malformed_base64,   // for Bearer: no b64token (RFC 6750 2.1)
    no_colon,
    no_user,
    user_too_long,
    control_byte,
    ntlm   // an NTLM message in Negotiate
};

/// For the log: "the Basic credentials have no colon". A literal.
char const* text_of(CredentialsFault);

struct Credentials {
    static constexpr std::size_t basic_max = 20 * 1'024;   // decoded; a password may be a JWT
    static constexpr std::size_t user_max = 256;
    static constexpr std::size_t bearer_max = 16 * 1'024;
    static constexpr std::size_t negotiate_max = 64 * 1'024;   // decoded

    CredentialsFault fault = CredentialsFault::none;
    Scheme scheme = Scheme::basic;
    Secret user = {};     // Basic; valid bytes but any charset
    Secret secret = {};   // Basic: the password, may be empty. Bearer: the token. Negotiate: the decoded token

    explicit operator bool() const { return fault == CredentialsFault::none; }
};

/// The scheme that the value begins with; nothing: none of these.
std::optional<Scheme> scheme_of(std::string_view field);

/// Any bytes are accepted as input. `scheme` of the result is set for every fault but unknown_scheme.
Credentials parse_credentials(std::string_view field);

}   // namespace garner::auth
