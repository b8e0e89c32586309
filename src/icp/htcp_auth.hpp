// The AUTH section of HTCP (RFC 2756 2.8) between Garners: who shares the secret may be believed.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "icp/htcp.hpp"
#include "util/clock.hpp"

namespace garner::icp::htcp {

/// A signature holds so long; clocks may be apart by as much.
inline constexpr seconds signature_life{30};

/// Makes a message of HEADER and DATA: with a secret its signature, without one an empty AUTH section. The signature is
/// HMAC-SHA-256 under KEY-NAME "garner-sha256", of the versions, SIG-TIME, SIG-EXPIRE, DATA and KEY-NAME in the RFC's
/// order. Unlike the RFC's it covers no addresses: a socket that listens everywhere knows its own of no datagram.
void seal(std::string& message, std::string_view secret, WallTime now);

enum class Verdict : std::uint8_t { good, missing, bad, expired };

/// Whether a message that came may be believed; always where there is no secret. Compares in constant time.
Verdict judge(Message const&, std::string_view secret, WallTime now);

}  // namespace garner::icp::htcp
