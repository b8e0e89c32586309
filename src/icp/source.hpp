// The source of a response, and the reason for it: Squid's hierarchy codes, for the access log and Cache-Status.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>

namespace garner::icp {

class Peer;

enum class Hierarchy : std::uint8_t {
    none,
    direct,
    sibling_hit,
    parent_hit,
    default_parent,
    single_parent,   // the domain is bound to it
    firstup_parent,
    first_parent_miss,
    closest_parent_miss,
    closest_direct,
    no_direct_fail,
    source_fastest,   // the origin is nearer than the peers that have it
    roundrobin_parent,
    cd_parent_hit,
    cd_sibling_hit,
    carp,
    any_old_parent,
    group_parent,   // the member above this one in the tree of an offered object
    count_
};
std::string_view name_of(Hierarchy);

/// One source of a response.
struct Source {
    std::shared_ptr<Peer> peer;   // null: the origin itself
    Hierarchy why = Hierarchy::direct;
    /// The peer replied that it has the response; another answer is a false hit.
    bool promised() const {
        return why == Hierarchy::sibling_hit || why == Hierarchy::parent_hit || why == Hierarchy::cd_sibling_hit ||
               why == Hierarchy::cd_parent_hit;
    }
};

}   // namespace garner::icp
