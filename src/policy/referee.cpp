#include "policy/referee.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace garner::policy {
namespace {

constexpr std::uint32_t requests_a_judgement = 1024;
constexpr double forgotten = 0.3;     // fraction of all counts dropped at each judgement
constexpr double margin = 1.03;       // minimum advantage for a change, to avoid pointless switches
constexpr double first_cost = 0.97;   // factor for the first rule's cost: a small sample errs, and the first rule is rarely wrong

constexpr Slot most_slots = 125, least_slots = 64;   // slots of a simulated cache; 125 fit in one chunk of its heap
constexpr Bytes capacity_a_slot = 4 * KiB;

}   // namespace

MiniCache::MiniCache(WorthOrder::Rule rule, Bytes capacity, Slot slots)
    : order_(rule), capacity_(capacity), objects_(slots), table_(std::bit_ceil(std::size_t{slots} * 2), no_short_slot) {
    for (Slot slot = slots; slot-- > 0;) free_.push_back(static_cast<ShortSlot>(slot));
    order_.reserve(slots);
}

void MiniCache::begin_anew(Bytes capacity) {
    while (order_.lowest() != no_slot) evict(order_.lowest());
    capacity_ = capacity;
    misses = missed_bytes = 0;
}

void MiniCache::request(std::uint32_t tag, std::uint32_t uses, Bytes size) {
    auto place = find(tag);
    if (table_[place] != no_short_slot) return order_.hit(table_[place], size);
    misses += 1;
    missed_bytes += static_cast<double>(size);
    if (size > capacity_ || full()) return;
    Object const object{tag, static_cast<float>(size)};
    auto need = [&] { return occupied_ + object.size - static_cast<double>(capacity_); };
    if (need() > 0 && !order_.admits(uses, size, static_cast<Bytes>(need()))) return;
    while (need() > 0 && order_.lowest() != no_slot) evict(order_.lowest());
    ShortSlot slot = free_.back();
    free_.pop_back();
    objects_[slot] = object;
    table_[find(tag)] = slot;
    occupied_ += object.size;
    order_.insert(slot, uses, size);
}

std::size_t MiniCache::find(std::uint32_t tag) const {
    auto const last = table_.size() - 1;
    auto place = tag * 0x9e37'79b9'7f4a'7c15 >> 32 & last;
    while (table_[place] != no_short_slot && objects_[table_[place]].tag != tag) place = (place + 1) & last;
    return place;
}

void MiniCache::evict(Slot slot) {
    auto hole = find(objects_[slot].tag);
    // Backward shift: slots displaced by the removed one move up.
    table_[hole] = no_short_slot;
    auto const last = table_.size() - 1;
    for (auto each = (hole + 1) & last; table_[each] != no_short_slot; each = (each + 1) & last) {
        ShortSlot moved = table_[each];
        table_[each] = no_short_slot;
        table_[find(objects_[moved].tag)] = moved;
    }
    order_.remove(slot, Left::evicted);
    occupied_ -= objects_[slot].size;
    free_.push_back(static_cast<ShortSlot>(slot));
}

Bytes MiniCache::metadata_bytes() const {
    return order_.metadata_bytes() + objects_.capacity() * sizeof(Object) + free_.capacity() * sizeof(ShortSlot) +
           table_.capacity() * sizeof(ShortSlot);
}

Referee::Referee(std::vector<WorthOrder::Rule> rules, Aim aim, Bytes capacity)
    : rules_(std::move(rules)), aim_(aim), capacity_(capacity) {
    begin();
}

void Referee::request(std::uint32_t tag, std::uint32_t uses, Bytes size) {
    if (caches_.empty()) return;
    bool full = false;
    for (auto& cache : caches_) {
        cache.request(tag, uses, size);
        full |= cache.full();
    }
    if (full)
        halve_sample();
    else if (++requests_ >= requests_a_judgement)
        judge();
}

void Referee::set_capacity(Bytes capacity) {
    if (capacity == capacity_) return;
    capacity_ = capacity;
    begin();
}

void Referee::begin() {
    caches_.clear();
    sample_ = nobody;
    requests_ = 0;
    auto slots = static_cast<Slot>(std::min<Bytes>(most_slots, capacity_ / capacity_a_slot));
    if (slots < least_slots) return;
    sample_ = 0;
    for (auto const& rule : rules_) caches_.emplace_back(rule, capacity_, slots);
}

void Referee::halve_sample() {
    sample_ = 2 * sample_ + 1;
    for (auto& cache : caches_) cache.begin_anew(capacity_ / (sample_ + 1));
    requests_ = 0;
}

void Referee::judge() {
    requests_ = 0;
    std::size_t best = 0;
    for (std::size_t i = 1; i < caches_.size(); ++i)
        if (cost(caches_[i]) < cost(caches_[best])) best = i;
    if (cost(caches_[best]) * margin < cost(caches_[best_])) best_ = best;
    for (auto& cache : caches_) cache.forget(forgotten);
}

double Referee::cost(MiniCache const& cache) const {
    auto const& base = caches_.back();
    double sum = aim_.objects * cache.misses / base.misses + aim_.bytes * cache.missed_bytes / base.missed_bytes;
    return &cache == &caches_.front() ? first_cost * sum : sum;
}

Bytes Referee::metadata_bytes() const {
    Bytes sum = rules_.capacity() * sizeof(WorthOrder::Rule) + caches_.capacity() * sizeof(MiniCache);
    for (auto const& cache : caches_) sum += cache.metadata_bytes();
    return sum;
}

}   // namespace garner::policy
