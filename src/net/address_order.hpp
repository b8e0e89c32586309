// The order in which the addresses of a name are tried (RFC 6724).
#pragma once
#include <optional>
#include <vector>

#include "util/ip.hpp"

namespace garner::net {

struct Destination {
    IpAddress address;
    std::optional<IpAddress> source;   // of this machine for that address; nothing without a route
};

/// The rules 1, 2, 5, 6, 8, 9 and 10 of RFC 6724 6, with its default policy table. Pure.
void sort_destinations(std::vector<Destination>& all);

/// The sources that the kernel chooses. Sends nothing.
std::vector<Destination> with_sources(std::vector<IpAddress> const& addresses);

}   // namespace garner::net
