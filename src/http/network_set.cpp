#include "http/network_set.hpp"

namespace garner::http {
namespace {

IntervalSet<WideNumber> intervals_of(std::vector<IpNetwork> const& networks) {
    std::vector<IntervalSet<WideNumber>::Interval> all;
    all.reserve(networks.size());
    for (auto const& network : networks) {
        auto const first = number_of(network.address);
        auto const others = network.prefix == 0 ? ~WideNumber{0} : (WideNumber{1} << (128 - network.prefix)) - 1;
        all.push_back({first, first | others});
    }
    return IntervalSet<WideNumber>(std::move(all));
}

}   // namespace

NetworkSet::NetworkSet(std::vector<IpNetwork> all) : all_(std::move(all)), intervals_(intervals_of(all_)) {}

}   // namespace garner::http
