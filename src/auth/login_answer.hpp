// The answers of the Authenticator.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "http/identity.hpp"
#include "util/clock.hpp"

namespace garner::auth {

/// The result of a check of credentials.
struct LoginAnswer {
    enum class Kind : std::uint8_t {
        accepted,      // `identity` is set
        rejected,      // 407 with challenges
        limited,       // 429: too many failed logins from this address; wait for `retry_after`
        unavailable,   // 503: no source could tell; wait for `retry_after`
    };
    Kind kind = Kind::rejected;
    std::shared_ptr<http::Identity const> identity = {};
    std::string reason = {};         // for the log, unless accepted; never has the password or a token
    seconds retry_after{0};          // limited, unavailable: at least 1 s
    bool unusable = false;           // rejected without a check: malformed, or of a scheme that no source takes
    bool negotiate_failed = false;   // rejected: the client offered NTLM, so that Negotiate must not be among the challenges
};

}   // namespace garner::auth
