#include "policy/lazy_heap.hpp"

#include <algorithm>
#include <vector>

namespace garner::policy {

/// The count of uses is at its end, after four thousand million: the held ones are numbered anew, in the same order.
void LazyHeap::renumber_uses() {
    std::vector<std::uint32_t> order;
    auto const each = [this](auto change) {
        std::visit([&](auto& heap) { heap.change_all(change); }, heap_);
    };
    each([&](auto& entry) { order.push_back(entry.used); });
    std::ranges::sort(order);
    each([&](auto& entry) {
        entry.used = static_cast<std::uint32_t>(std::ranges::lower_bound(order, entry.used) - order.begin()) + 1;
    });
    uses_ = static_cast<std::uint32_t>(order.size());
}

}  // namespace garner::policy
