#include "papers/foresight.hpp"

#include <algorithm>
#include <numeric>

namespace garner::papers {

// The paper (section 5.1) reads the trace backwards. With the last position of each URL it can be read forwards as
// well.
bool Foresight::add(std::span<Fingerprint const> urls) {
    if (urls.size() > never - next_uses_.size() - 1) return false;
    for (auto url : urls) {
        auto const now = static_cast<Time>(next_uses_.size());
        auto& number = index_.at(url);
        if (number == FingerprintMap::none) {
            number = static_cast<std::uint32_t>(seen_.size());
            seen_.push_back({url, now, 1});
        } else {
            auto& seen = seen_[number];
            next_uses_[seen.last] = now;
            seen.last = now;
            ++seen.times;
        }
        next_uses_.push_back(never);
    }
    return true;
}

std::vector<Fingerprint> Foresight::most_popular(std::uint64_t count) const {
    std::vector<std::uint32_t> order(seen_.size());
    std::iota(order.begin(), order.end(), 0u);
    auto const wanted = std::min<std::uint64_t>(count, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(wanted), order.end(),
                      [&](std::uint32_t a, std::uint32_t b) {
                          return seen_[a].times != seen_[b].times ? seen_[a].times > seen_[b].times : a < b;
                      });
    std::vector<Fingerprint> popular;
    for (std::uint64_t i = 0; i < wanted; ++i) popular.push_back(seen_[order[i]].url);
    return popular;
}

}   // namespace garner::papers
