// The header of the PROXY protocol, by which a load balancer names its client (HAProxy, proxy-protocol.txt, versions 1 and 2).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/options.hpp"
#include "util/ip.hpp"

namespace garner::net {

struct ProxyHeader {
    std::optional<IpEndpoint> source = {};   // empty (LOCAL, UNKNOWN, a Unix socket): the sender is the client
    std::string authority = {};              // PP2_TYPE_AUTHORITY: the name that the client asked for, at most 255 bytes
    std::string unique_id = {};              // PP2_TYPE_UNIQUE_ID, at most 128 bytes
    friend bool operator==(ProxyHeader const&, ProxyHeader const&) = default;
};

enum class ProxyHeaderFault : std::uint8_t {
    none,
    absent,      // the first bytes are not those of a header
    malformed,   // an invalid address, number, length or TLV
    too_long,    // version 1: more than 107 bytes; version 2: more than 4 KiB behind the first 16
    checksum,    // PP2_TYPE_CRC32C does not match
    timed_out,   // deadlines.head
    closed,      // the sender disconnected
    count_
};
std::string_view text(ProxyHeaderFault);

struct ProxyHeaderParse {
    enum class State : std::uint8_t { incomplete, complete, refused } state = State::incomplete;
    ProxyHeaderFault fault = ProxyHeaderFault::none;   // why it is refused
    std::size_t size = 0;                              // bytes of a complete header; the client's own bytes follow
    ProxyHeader header = {};
};

/// Reads the beginning of a connection. Incomplete: all bytes belong to the header, and more are needed. A refusal never changes
/// with more bytes. Pure.
ProxyHeaderParse parse_proxy_header(std::string_view bytes);

/// True if a connection begins with the header of either version, and not with a request. False while too few bytes are known.
/// Pure.
bool begins_with_proxy_header(std::string_view bytes);

/// The header of a connection for this client; without `source`, of one without a client (UNKNOWN, LOCAL). Empty if `version` is
/// off. A `destination` of another address family than the source is left open. Pure.
std::string proxy_header(ProxyProtocol version, std::optional<IpEndpoint> const& source, IpEndpoint destination);

}   // namespace garner::net
