// The table of query protocols.
#include <algorithm>
#include <array>

#include "icp/options.hpp"
#include "icp/peer_lookup.hpp"

namespace garner::icp {
namespace {

LookupRow const& row_of(Protocol protocol) { return *std::ranges::find(lookups(), protocol, &LookupRow::protocol); }

}   // namespace

std::span<LookupRow const> lookups() {
    static constexpr std::array rows{
        LookupRow{Protocol::digest, "digest", nullptr, true, make_digest_lookup},
        LookupRow{Protocol::htcp, "HTCP", &PeerOptions::htcp, false, make_htcp_lookup},
        LookupRow{Protocol::icp, "ICP", &PeerOptions::icp, false, make_icp_lookup},
    };
    return rows;
}

std::string_view name_of(Protocol protocol) { return row_of(protocol).name; }

bool replies_at_once(Protocol protocol) { return row_of(protocol).at_once; }

std::uint16_t port_of(PeerOptions const& peer, Protocol protocol) {
    auto const port = row_of(protocol).port;
    return port ? peer.*port : 0;
}

bool has_query_port(PeerOptions const& peer) {
    return std::ranges::any_of(lookups(), [&](LookupRow const& row) { return port_of(peer, row.protocol) != 0; });
}

}   // namespace garner::icp
