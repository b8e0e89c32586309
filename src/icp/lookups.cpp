// The table of ways to ask peers.
#include <array>

#include "icp/digest_lookup.hpp"
#include "icp/htcp_lookup.hpp"
#include "icp/icp_lookup.hpp"
#include "icp/peer_lookup.hpp"

namespace garner::icp {

namespace {

template <class Lookup>
std::unique_ptr<PeerLookup> make(LookupServices const& services) {
    return std::make_unique<Lookup>(services);
}

constexpr std::array rows{
    LookupRow{Protocol::digest, true, DigestLookup::make},
    LookupRow{Protocol::htcp, false, make<HtcpLookup>},
    LookupRow{Protocol::icp, false, make<IcpLookup>},
};

}  // namespace

std::span<LookupRow const> lookups() { return rows; }

}  // namespace garner::icp
