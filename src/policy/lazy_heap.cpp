#include "policy/lazy_heap.hpp"

#include <algorithm>
#include <vector>

namespace garner::policy {

/// The count of uses is at its end, after four thousand million: the held ones are numbered anew, in the same order.
void LazyHeap::renumber_uses() {
    std::vector<std::uint32_t> order;
    heap_.change_all([&](Entry& entry) { order.push_back(entry.used); });
    std::ranges::sort(order);
    heap_.change_all([&](Entry& entry) {
        entry.used = static_cast<std::uint32_t>(std::ranges::lower_bound(order, entry.used) - order.begin()) + 1;
    });
    uses_ = static_cast<std::uint32_t>(order.size());
}

}  // namespace garner::policy
