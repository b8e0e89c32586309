#include "proxy/rule_hits.hpp"

#include <algorithm>

namespace garner::proxy {

std::vector<std::uint64_t> RuleHits::sums() const {
    std::vector<std::uint64_t> sums(of_workers_.empty() ? 0 : of_workers_.front().size());
    for (auto const& counters : of_workers_)
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += counters[i].value();
    return sums;
}

bool are_same_rules(http::AccessRules const& some, http::AccessRules const& others) {
    auto const is_same = [](http::AccessRule const& one, http::AccessRule const& other) {
        return one.place == other.place && one.matchers == other.matchers && one.name == other.name;
    };
    return std::ranges::equal(some.rules(), others.rules(), is_same);
}

}   // namespace garner::proxy
