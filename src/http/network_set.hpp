// Networks of a rule.
#pragma once
#include <initializer_list>
#include <utility>
#include <vector>

#include "http/interval_set.hpp"
#include "util/ip.hpp"

namespace garner::http {

using WideNumber = unsigned __int128;

/// The address as a number, its first bits highest.
constexpr WideNumber number_of(IpAddress const& address) {
    auto const halves = address.halves();
    return WideNumber{halves[0]} << 64 | halves[1];
}

/// Networks in the configured order. Look-ups take logarithmic time. Immutable after construction.
class NetworkSet {
public:
    NetworkSet() = default;
    NetworkSet(std::vector<IpNetwork> all);
    NetworkSet(std::initializer_list<IpNetwork> all) : NetworkSet(std::vector<IpNetwork>(all)) {}

    bool contains(IpAddress const& address) const {
        return all_.size() <= few ? is_among(address, all_) : intervals_.contains(number_of(address));
    }

    bool empty() const { return all_.empty(); }
    std::size_t size() const { return all_.size(); }
    auto begin() const { return all_.begin(); }
    auto end() const { return all_.end(); }
    IntervalSet<WideNumber> const& intervals() const { return intervals_; }

private:
    static constexpr std::size_t few = 4;

    std::vector<IpNetwork> all_;
    IntervalSet<WideNumber> intervals_;
};

}   // namespace garner::http
