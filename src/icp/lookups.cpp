// The table of ways to ask peers.
#include <array>

#include "icp/htcp_lookup.hpp"

namespace garner::icp {

namespace {

constexpr std::array rows{
    LookupRow{Protocol::htcp, false, HtcpLookup::make},
};

}  // namespace

std::span<LookupRow const> lookups() { return rows; }

}  // namespace garner::icp
