#include "proxy/listen_plan.hpp"

namespace garner::proxy {

namespace {

bool includes(IpAddress const& all, IpAddress const& one) { return all.is_unspecified() && (!all.is_v4() || one.is_v4()); }

}   // namespace

ListenPlan plan_listening(std::span<IpEndpoint const> open, std::span<IpEndpoint const> wanted) {
    ListenPlan plan;
    std::vector<bool> is_kept(open.size());
    for (auto const& endpoint : wanted) {
        std::size_t at = 0;
        while (at < open.size() && (is_kept[at] || open[at] != endpoint)) ++at;
        bool const is_open = at < open.size();
        if (is_open) is_kept[at] = true;
        plan.wanted.push_back(is_open ? at : ListenPlan::opened);
    }
    for (std::size_t i = 0; i < open.size(); ++i)
        if (!is_kept[i]) plan.closed.push_back(i);
    return plan;
}

bool overlap(IpEndpoint const& one, IpEndpoint const& other) {
    if (one.port != other.port) return false;
    return one.address == other.address || includes(one.address, other.address) || includes(other.address, one.address);
}

}   // namespace garner::proxy
