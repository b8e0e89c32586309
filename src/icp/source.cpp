#include "icp/source.hpp"

#include <array>

namespace garner::icp {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Hierarchy::count_)> hierarchy_names{
    "HIER_NONE",         "HIER_DIRECT",       "SIBLING_HIT",         "PARENT_HIT",     "DEFAULT_PARENT", "SINGLE_PARENT",
    "FIRSTUP_PARENT",    "FIRST_PARENT_MISS", "CLOSEST_PARENT_MISS", "CLOSEST_DIRECT", "NO_DIRECT_FAIL", "SOURCE_FASTEST",
    "ROUNDROBIN_PARENT", "CD_PARENT_HIT",     "CD_SIBLING_HIT",      "CARP",           "ANY_OLD_PARENT", "GROUP_PARENT",
};
static_assert(!hierarchy_names.back().empty());

}   // namespace

std::string_view name_of(Hierarchy hierarchy) { return hierarchy_names[static_cast<std::size_t>(hierarchy)]; }

}   // namespace garner::icp
