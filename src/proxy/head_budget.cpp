#include "proxy/head_budget.hpp"

namespace garner::proxy {

bool HeadBudget::Part::resize(Bytes bytes) {
    budget_.used_.add(bytes - bytes_);
    bytes_ = bytes;
    if (!linked()) budget_.parts_.push_back(*this);
    while (budget_.used() > budget_.max) {
        auto& largest = budget_.largest(*this);
        if (&largest == this) return false;
        largest.give_way();
    }
    return true;
}

void HeadBudget::Part::give_way() {
    unlink();
    budget_.used_.add(0 - bytes_);
    bytes_ = 0;
    refused_ = true;
    refuse_(owner_);
}

/// Returns the largest part, the oldest of equal ones; `asking` only if it is larger than all others.
HeadBudget::Part& HeadBudget::largest(Part& asking) {
    auto* found = &asking;
    for (auto* part : parts_) {
        bool const replaces_asking = found == &asking && part->bytes_ == found->bytes_;
        if (part->bytes_ > found->bytes_ || replaces_asking) found = part;
    }
    return *found;
}

}   // namespace garner::proxy
