// Queries to peers, and their replies.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "util/bytes.hpp"
#include "util/clock.hpp"
#include "util/ip.hpp"

namespace garner::icp {

class Peer;

/// A peer's reply about a URL (RFC 2186 5; HTCP and digests have only HIT and MISS).
enum class ReplyKind : std::uint8_t { nothing, hit, miss, miss_nofetch, denied, error };

/// The protocol of the query.
enum class Protocol : std::uint8_t { icp, htcp, digest };

std::string_view name_of(ReplyKind);
/// From the table of protocols, like the next one (icp/lookups.cpp).
std::string_view name_of(Protocol);
/// Looks up what is known here, without a query to a peer.
bool replies_at_once(Protocol);

/// One query to several peers. The view lives until ask() returns.
struct Query {
    std::uint32_t number = 0;    // never 0 (RFC 2186 2); unpredictable; the upper bits are the querying worker's number
    std::string_view url = {};   // absolute, in normal form, at most url_max bytes
};

struct Reply {
    std::uint32_t number = 0;   // the query's
    std::shared_ptr<Peer> peer;
    ReplyKind kind = ReplyKind::nothing;
    Protocol protocol = Protocol::icp;
    char const* why = "";                          // the reason for `denied`, a literal; empty: not known
    IpEndpoint from = {};                          // the source address
    std::optional<milliseconds> source_rtt = {};   // from the peer to the origin, measured by the peer
    std::optional<std::uint64_t> url = {};         // fingerprint of the reply's URL, if the protocol sends it
    std::optional<Bytes> size = {};                // size of the object's body, if the protocol sends it
};

}   // namespace garner::icp
