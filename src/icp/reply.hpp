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

/// What a peer replies about a URL (RFC 2186 5; HTCP and digests know HIT and MISS only).
enum class ReplyKind : std::uint8_t { nothing, hit, miss, miss_nofetch, denied, error };

/// How it was asked.
enum class Protocol : std::uint8_t { icp, htcp, digest };

std::string_view name_of(ReplyKind);
std::string_view name_of(Protocol);

/// One query to many peers. The view lives until ask() returns.
struct Query {
    std::uint32_t number = 0;        // never 0 (RFC 2186 2); unpredictable; its upper bits name the asking worker
    std::string_view url = {};       // absolute, in normal form, at most url_max bytes
};

struct Reply {
    std::uint32_t number = 0;        // the query's
    std::shared_ptr<Peer> peer;
    ReplyKind kind = ReplyKind::nothing;
    Protocol protocol = Protocol::icp;
    IpEndpoint from = {};            // where it came from
    std::optional<milliseconds> source_rtt = {};   // from the peer to the origin, measured by it
    std::optional<std::uint64_t> url = {};         // fingerprint of the URL that it is about, where the protocol tells
    std::optional<Bytes> size = {};                // of the object's body, where the protocol tells
};

}  // namespace garner::icp
