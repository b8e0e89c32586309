// Plans which listening addresses a change of the configuration keeps, opens and closes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "util/ip.hpp"

namespace garner::proxy {

struct ListenPlan {
    static constexpr std::size_t opened = SIZE_MAX;
    std::vector<std::size_t> wanted;   // index of each wanted address among the open ones, or `opened`
    std::vector<std::size_t> closed;   // indexes among the open ones
    friend bool operator==(ListenPlan const&, ListenPlan const&) = default;
};

/// Port 0 stands for a free port; each such address is another one.
ListenPlan plan_listening(std::span<IpEndpoint const> open, std::span<IpEndpoint const> wanted);

/// True if both get connections to some address: they are equal, or one is for all addresses of its family. "::" is also for
/// those of IPv4.
bool overlap(IpEndpoint const& one, IpEndpoint const& other);

}   // namespace garner::proxy
