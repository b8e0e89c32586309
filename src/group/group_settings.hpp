// The settings of a group that its members and voters use.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "group/group_message.hpp"
#include "group/times.hpp"

namespace garner::group {

inline constexpr std::size_t voters_max = 5;

struct Settings {
    Identity identity = {};
    Times times = {};
    std::size_t voters = 1;    // an odd number
    std::string member = {};   // this and the rest describe the member to the voters
    std::string address = {};
    std::string domain = {};
    std::uint64_t uplink = 0, downlink = 0;

    std::size_t majority() const { return voters / 2 + 1; }
};

}   // namespace garner::group
