// The distribution tree of an object over the members of a group. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace garner::group {

/// The lines of one member.
struct PlanMember {
    std::uint64_t member = 0;     // a number of its own
    std::string domain = {};      // members in one domain have fast lines between them
    std::uint64_t uplink = 0;     // bytes a second; 0: unknown
    std::uint64_t downlink = 0;   // the same
    bool can_serve = true;        // the others can reach its proxy
};

inline constexpr std::size_t plan_children_max = 32;
/// Up to this length the number of hops counts, and not the lines.
inline constexpr std::uint64_t plan_small_bytes = 64 << 10;
/// For an unknown line. A member with unknown lines sends to four others at once.
inline constexpr std::uint64_t plan_downlink_default = 10'000'000, plan_uplink_default = 40'000'000;

/// For each member the index of the one that it asks; nothing: it asks the origin. `root`: the number of the member that has the
/// object; if it is none of them, the member with the fastest uplink that can serve takes its place. Into each domain the object goes once,
/// fastest uplink first. Each member is placed below the one where min(rate of that one, its spare uplink, own downlink) is largest.
/// Equal inputs in any order give an equal tree.
std::vector<std::optional<std::size_t>> plan(std::span<PlanMember const> members, std::uint64_t root, std::uint64_t length);

/// The parents of a member in that tree, nearest first, at most `most`: the last one is the root.
std::vector<std::size_t> above(std::span<std::optional<std::size_t> const> tree, std::size_t member, std::size_t most);

}   // namespace garner::group
