// The table of ways to ask peers.
#include "icp/peer_lookup.hpp"

#include <array>

#include "icp/digest_lookup.hpp"

namespace garner::icp {

namespace {

constexpr std::array rows{
    LookupRow{.protocol = Protocol::digest, .at_once = true, .make = DigestLookup::make},
};

}  // namespace

std::span<LookupRow const> lookups() { return rows; }

}  // namespace garner::icp
