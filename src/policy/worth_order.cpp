#include "policy/worth_order.hpp"

#include <utility>

namespace garner::policy {

void WorthOrder::resize(Slot slot, Bytes size) {
    check(holds(slot));
    Object const before = std::exchange(objects_[slot], Object(objects_[slot].uses(), size));
    held_ += objects_[slot].size() - before.size();
    if (rule_.recency) return;
    Key const key = next_key(objects_[slot].uses(), whole_size(size));
    heap_.update(slot, [key](Entry& entry) { entry.key = key; });
}

void WorthOrder::change(Rule rule) {
    constexpr double time_begun = 1u << 20;
    auto const oldest = lowest() == no_slot ? 0 : heap_.entry(lowest()).key;
    heap_.change_all([&](Entry& entry) {
        auto uses = objects_[entry.slot].uses();
        auto size = objects_[entry.slot].size();
        double key = entry.key;
        double left = rule_.recency ? key - oldest : key - age_;
        double whole = rule_.recency ? std::max(double(age_) - oldest, 1.0) : std::max(worth(rule_, uses, size), 1.0);
        double share = std::clamp(left / whole, 0.0, 1.0);
        entry.key = static_cast<Key>(share * (rule.recency ? time_begun : worth(rule, uses, size)));
    });
    age_ = rule.recency ? static_cast<Key>(time_begun) : 0;
    rule_ = rule;
}

/// Multiplies all keys by `ratio`, for a unit that is smaller by it, and subtracts L. Keys below L become equal:
/// those objects are evicted next in any order.
void WorthOrder::begin_count_anew(double ratio) {
    constexpr std::uint32_t time_kept = 1u << 30;   // requests; older times are not distinguished
    Key const gone = rule_.recency ? age_ - std::min(age_, time_kept) : age_;
    heap_.change_all([&](Entry& entry) {
        double left = entry.key > gone ? entry.key - gone : 0;
        entry.key = static_cast<Key>(rule_.recency ? left : std::min(left * ratio, most_worth));
    });
    age_ -= gone;
}

void WorthOrder::adapt_unit(double mean) {
    begin_count_anew(units * mean / units_);
    units_ = units * mean;
}

}   // namespace garner::policy
