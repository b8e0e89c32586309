#include "group/distribution_tree.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace garner::group {

namespace {

constexpr std::size_t none = SIZE_MAX;

std::uint64_t downlink_of(PlanMember const& member) { return member.downlink == 0 ? plan_downlink_default : member.downlink; }

/// Places the members for one limit of what is reserved.
class Planner {
public:
    /// `most`: no more of a line is reserved for one member.
    Planner(std::span<PlanMember const> members, bool is_small, std::uint64_t most)
        : members_(members), is_small_(is_small), most_(most), places_(members.size()) {}

    std::vector<std::optional<std::size_t>> run(std::uint64_t root) {
        std::vector<std::optional<std::size_t>> tree(members_.size());
        auto order = by_uplink();
        if (order.empty()) return tree;
        auto const first = std::ranges::find(order, root, [&](std::size_t at) { return members_[at].member; });
        std::rotate(order.begin(), first == order.end() ? order.begin() : first, first == order.end() ? order.begin() : first + 1);
        begin(order.front());
        auto const entries_end = entries_first(order);
        for (auto at = order.begin() + 1; at != order.end(); ++at) {
            auto const parent = parent_of(*at, at < entries_end);
            if (parent == none) {
                begin(*at);   // the root cannot serve: this member asks the origin, too
                continue;
            }
            tree[*at] = parent;
            place(*at, parent);
        }
        return tree;
    }
    /// The lowest rate of a member that could receive more. One whose own line is slower says nothing about the tree.
    std::uint64_t level() const {
        auto level = UINT64_MAX;
        for (std::size_t at = 0; at < places_.size(); ++at)
            if (places_[at].rate < downlink(at)) level = std::min(level, places_[at].rate);
        return level;
    }

private:
    struct Place {
        std::uint64_t rate = 0;    // at which it receives
        std::uint64_t spare = 0;   // of its uplink
        std::size_t children = 0, depth = 0;
    };
    using Order = std::vector<std::size_t>;

    std::uint64_t uplink(std::size_t at) const { return members_[at].uplink == 0 ? plan_uplink_default : members_[at].uplink; }
    std::uint64_t downlink(std::size_t at) const { return downlink_of(members_[at]); }

    /// Members that can serve come first, then the fastest. The number decides between equals, not the place in the list.
    Order by_uplink() const {
        Order order(members_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
            auto const rank = [&](std::size_t at) {
                return std::tuple(members_[at].can_serve ? 0 : 1, ~uplink(at), ~downlink(at), members_[at].member);
            };
            return rank(a) < rank(b);
        });
        return order;
    }

    /// The fastest member of each other domain goes directly behind the root. The end of these.
    Order::iterator entries_first(Order& order) const {
        std::set<std::string_view> entered{members_[order.front()].domain};
        return std::stable_partition(order.begin() + 1, order.end(),
                                     [&](std::size_t at) { return entered.insert(members_[at].domain).second; });
    }

    void begin(std::size_t root) {
        places_[root] = {.rate = UINT64_MAX, .spare = uplink(root), .children = 0, .depth = 0};
        if (members_[root].can_serve) placed_.push_back(root);
    }

    std::size_t parent_of(std::size_t at, bool is_entry) const {
        auto best = none;
        for (auto const candidate : placed_) {
            bool const is_near = is_entry || members_[candidate].domain == members_[at].domain;
            if (!is_near || places_[candidate].children >= plan_children_max) continue;
            if (best == none || rank(candidate, at) < rank(best, at)) best = candidate;
        }
        return best != none || is_entry ? best : parent_of(at, true);   // no member of its own domain can serve
    }

    std::uint64_t rate_below(std::size_t parent, std::size_t at) const {
        return std::min({places_[parent].rate, places_[parent].spare, downlink(at), most_});
    }

    /// The lowest is the best parent. Between equal rates the shorter way, then the longer spare line.
    std::tuple<std::uint64_t, std::size_t, std::uint64_t, std::size_t, std::uint64_t> rank(std::size_t parent,
                                                                                           std::size_t at) const {
        auto const& place = places_[parent];
        auto const rate = is_small_ ? 0 : ~rate_below(parent, at);
        return {rate, place.depth, ~place.spare, place.children, members_[parent].member};
    }

    void place(std::size_t at, std::size_t parent) {
        auto& above = places_[parent];
        auto const rate = rate_below(parent, at);
        places_[at] = {.rate = rate, .spare = uplink(at), .children = 0, .depth = above.depth + 1};
        above.spare -= std::min(rate, above.spare);
        ++above.children;
        if (members_[at].can_serve) placed_.push_back(at);
    }

    std::span<PlanMember const> members_;
    bool const is_small_;
    std::uint64_t const most_;
    std::vector<Place> places_;
    Order placed_;
};

/// Some of the downlinks, fastest first.
std::vector<std::uint64_t> limits_to_try(std::span<PlanMember const> members) {
    constexpr std::size_t tries_max = 8;
    std::set<std::uint64_t, std::greater<>> lines;
    for (auto const& member : members) lines.insert(downlink_of(member));
    std::vector<std::uint64_t> all(lines.begin(), lines.end()), some;
    auto const tries = std::min(all.size(), tries_max);
    for (std::size_t i = 0; i < tries; ++i) some.push_back(all[tries == 1 ? 0 : i * (all.size() - 1) / (tries - 1)]);
    return some;
}

}   // namespace

/// If the uplinks do not suffice for all downlinks, fast members that reserve their whole downlink starve the last ones. So several
/// limits are tried: the highest counts whose level is about as high as that of any other.
std::vector<std::optional<std::size_t>> plan(std::span<PlanMember const> members, std::uint64_t root, std::uint64_t length) {
    constexpr double about = 1.05;
    bool const is_small = length != 0 && length <= plan_small_bytes;
    if (is_small || members.empty()) return Planner(members, true, UINT64_MAX).run(root);
    std::vector<std::optional<std::size_t>> best;
    double level = -1;
    for (auto const most : limits_to_try(members)) {
        Planner planner(members, false, most);
        auto tree = planner.run(root);
        auto const reached = static_cast<double>(planner.level());
        if (reached <= level * about && !best.empty()) continue;
        level = reached;
        best = std::move(tree);
    }
    return best;
}

std::vector<std::size_t> above(std::span<std::optional<std::size_t> const> tree, std::size_t member, std::size_t most) {
    std::vector<std::size_t> parents;
    for (auto at = tree[member]; at; at = tree[*at]) parents.push_back(*at);
    // The root has the object in any case, the others next to it may not have it yet.
    if (parents.size() > most && most > 0)
        parents.erase(parents.begin() + static_cast<std::ptrdiff_t>(most) - 1, parents.end() - 1);
    return parents;
}

}   // namespace garner::group
