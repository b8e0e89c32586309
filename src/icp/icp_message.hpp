// ICP version 2 (RFC 2186): parses and writes datagrams. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "util/bytes.hpp"

namespace garner::icp {

/// RFC 2186 2, table 1, without its unused opcodes.
enum class Opcode : std::uint8_t {
    query = 1,
    hit = 2,
    miss = 3,
    err = 4,
    secho = 10,          // to an origin's UDP echo port; never sent here, and no reply
    decho = 11,          // to the echo port of a cache without ICP
    miss_nofetch = 21,   // a miss, and this cache will not fetch it now
    denied = 22,
    hit_obj = 23   // includes the object; read as HIT, never written
};

inline constexpr Bytes message_max = 16'384;   // the whole datagram (RFC 2186 2)
inline constexpr Bytes message_head = 20;
/// Squid reads no longer URL, and rejects such a query as malformed.
inline constexpr Bytes url_max = 8'191;

/// In queries and their replies (RFC 2186 3). HIT_OBJ is never requested.
inline constexpr std::uint32_t flag_source_rtt = 0x40000000;

struct IcpMessage {
    Opcode opcode = Opcode::query;
    std::uint32_t number = 0;   // never 0
    std::uint32_t options = 0;
    std::uint32_t option_data = 0;   // in a reply with flag_source_rtt: hops in the upper half, milliseconds in the lower
    std::string_view url;            // points into the datagram; may hold any byte but NUL
    friend bool operator==(IcpMessage const&, IcpMessage const&) = default;
};

/// nullptr, or a literal that names the error. Only version 2 is read: only Squid has ever used version 3. Replies with
/// number 0 crash Squid 5, so a query with number 0 is an error.
char const* parse_message(std::string_view datagram, IcpMessage& message);

/// A query; `source_rtt` also requests the peer's round-trip time to the origin. Overwrites `out`. For URLs of at most
/// url_max bytes and numbers other than 0.
void write_query(std::uint32_t number, std::string_view url, bool source_rtt, std::string& out);

/// A reply, with the number and the URL of its query.
void write_message(IcpMessage const&, std::string& out);

}   // namespace garner::icp
