// The AUTH section of HTCP (RFC 2756 2.8) between Garners with a shared secret.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "icp/htcp.hpp"
#include "util/clock.hpp"

namespace garner::icp::htcp {

/// Lifetime of a signature, and the accepted clock difference.
inline constexpr seconds signature_life{30};

/// Completes a message of HEADER and DATA: with a signature if there is a secret, else with an empty AUTH section. The
/// signature is HMAC-SHA-256 under KEY-NAME "garner-sha256", of the versions, SIG-TIME, SIG-EXPIRE, DATA and KEY-NAME in
/// the RFC's order. Unlike the RFC's it covers no addresses: a socket on the unspecified address does not know a datagram's
/// local address.
void seal(std::string& message, std::string_view secret, WallTime now);

enum class Verdict : std::uint8_t { good, missing, bad, expired };

/// Verifies a received message's signature; always good without a secret. Compares in constant time.
Verdict judge(Message const&, std::string_view secret, WallTime now);

}   // namespace garner::icp::htcp
