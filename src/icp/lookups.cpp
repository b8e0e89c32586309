// The table of query protocols.
#include <array>

#include "icp/peer_lookup.hpp"

namespace garner::icp {

std::span<LookupRow const> lookups() {
    static constexpr std::array rows{
        LookupRow{Protocol::digest, true, make_digest_lookup},
        LookupRow{Protocol::htcp, false, make_htcp_lookup},
        LookupRow{Protocol::icp, false, make_icp_lookup},
    };
    return rows;
}

}   // namespace garner::icp
