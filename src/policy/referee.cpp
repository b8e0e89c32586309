#include "policy/referee.hpp"

#include <bit>

namespace garner::policy {
namespace {

constexpr std::uint32_t requests_a_judgement = 1024;
constexpr double forgotten = 0.3;   // of all counts at each judgement
constexpr double margin = 1.03;     // the other must be so much better: no change for nothing

}  // namespace

MiniCache::MiniCache(WorthOrder::Rule rule, Bytes capacity)
    : order_(rule), capacity_(capacity), objects_(most_objects), table_(places, no_place) {
    for (Slot slot = most_objects; slot-- > 0;) free_.push_back(slot);
    // The order takes its memory now.
    for (Slot slot = 0; slot < most_objects; ++slot) order_.insert(slot, 1, 1);
    for (Slot slot = 0; slot < most_objects; ++slot) order_.remove(slot, Left::purged);
}

void MiniCache::request(std::uint32_t tag, std::uint32_t uses, Bytes size) {
    auto place = find(tag);
    if (table_[place] != no_place) return order_.hit(table_[place], objects_[table_[place]].size);
    misses += 1;
    missed_bytes += static_cast<double>(size);
    if (size > capacity_ || full()) return;
    if (occupied_ + size > capacity_ && !order_.admits(uses, size, occupied_ + size - capacity_)) return;
    while (occupied_ + size > capacity_) evict(order_.lowest());
    Slot slot = free_.back();
    free_.pop_back();
    objects_[slot] = {tag, size};
    table_[find(tag)] = static_cast<Place>(slot);
    occupied_ += size;
    order_.insert(slot, uses, size);
}

std::size_t MiniCache::find(std::uint32_t tag) const {
    auto place = tag * 0x9e37'79b9u >> (32 - std::countr_zero(places));
    while (table_[place] != no_place && objects_[table_[place]].tag != tag) place = (place + 1) % places;
    return place;
}

void MiniCache::evict(Slot slot) {
    auto hole = find(objects_[slot].tag);
    // Those that stand behind the hole because their own place was taken move up.
    table_[hole] = no_place;
    for (auto each = (hole + 1) % places; table_[each] != no_place; each = (each + 1) % places) {
        Place moved = table_[each];
        table_[each] = no_place;
        table_[find(objects_[moved].tag)] = moved;
    }
    order_.remove(slot, Left::evicted);
    occupied_ -= objects_[slot].size;
    free_.push_back(slot);
}

Bytes MiniCache::metadata_bytes() const {
    return order_.metadata_bytes() + objects_.capacity() * sizeof(Object) + free_.capacity() * sizeof(Slot) +
           table_.capacity() * sizeof(Place);
}

Referee::Referee(WorthOrder::Rule rule, Aim aim, Bytes capacity)
    : rule_(rule), aim_(aim), capacity_(capacity), rule_cache_(rule, capacity), recency_cache_({.recency = true}, capacity) {}

void Referee::request(std::uint32_t tag, std::uint32_t uses, Bytes size) {
    rule_cache_.request(tag, uses, size);
    recency_cache_.request(tag, uses, size);
    if (rule_cache_.full() || recency_cache_.full()) {
        sample_ = 2 * sample_ + 1;
        return begin();
    }
    if (++requests_ >= requests_a_judgement) judge();
}

void Referee::set_capacity(Bytes capacity) {
    if (capacity == capacity_) return;
    capacity_ = capacity;
    sample_ = 0;
    begin();
}

void Referee::begin() {
    auto share = capacity_ / (sample_ + 1);
    rule_cache_ = MiniCache(rule_, share);
    recency_cache_ = MiniCache({.recency = true}, share);
    requests_ = 0;
}

void Referee::judge() {
    requests_ = 0;
    // Both compared as shares of LRU's misses, of which LRU has the whole.
    double rule = aim_.objects * rule_cache_.misses / recency_cache_.misses +
                  aim_.bytes * rule_cache_.missed_bytes / recency_cache_.missed_bytes;
    double recency = aim_.objects + aim_.bytes;
    if (prefers_recency_ ? rule * margin < recency : rule > recency * margin) prefers_recency_ = !prefers_recency_;
    rule_cache_.forget(forgotten);
    recency_cache_.forget(forgotten);
}

}  // namespace garner::policy
