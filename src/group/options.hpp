// The section `group` of the configuration.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cache/options.hpp"
#include "util/clock.hpp"
#include "util/ip.hpp"

namespace garner::group {

struct Options {
    cache::InvalidationOptions cache = {};   // this part may change while the proxy runs
    std::string name = {};                   // empty: the group is this proxy alone, and nothing is shared
    std::string member = {};                 // empty: the name of the host
    IpEndpoint address = {};                 // of a voter: one of `voters`; port 0: this member is none
    std::vector<IpEndpoint> voters = {};
    std::string secret = {};
    milliseconds lease{2'000};
    std::string domain = {};                  // members in one domain have fast lines between them
    std::uint64_t uplink = 0, downlink = 0;   // bytes a second; 0: measured

    bool has_members() const { return !name.empty(); }
};

}   // namespace garner::group
