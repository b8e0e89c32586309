// The servers of a service that DNS names (RFC 2782), read from a DNS message.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/clock.hpp"

namespace garner::net {

struct SrvTarget {
    std::uint16_t priority = 0;   // the least that can be reached is used
    std::uint16_t weight = 0;     // its share among those of equal priority
    std::uint16_t port = 0;
    std::string host = {};   // in lower case, without the final dot
    friend auto operator<=>(SrvTarget const&, SrvTarget const&) = default;
};

struct SrvAnswer {
    std::vector<SrvTarget> targets;   // sorted, without duplicates; empty: the service is not offered (target ".")
    seconds ttl{0};                   // the shortest of all records involved
    friend bool operator==(SrvAnswer const&, SrvAnswer const&) = default;
};

/// More targets are dropped, those of the highest priority values first.
inline constexpr std::size_t srv_targets_max = 64;

/// Nothing if the message is malformed, or has no SRV record.
std::optional<SrvAnswer> parse_srv_answer(std::string_view message);

}   // namespace garner::net
