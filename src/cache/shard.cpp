#include "cache/shard.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace garner::cache {

namespace {

/// In eviction order. Afterwards the policy is empty.
std::vector<policy::Slot> victims_of(policy::ReplacementPolicy& policy) {
    std::vector<policy::Slot> order;
    for (auto slot = policy.victim(); slot != policy::no_slot; slot = policy.victim()) {
        policy.removed(slot, policy::Left::evicted);   // some policies derive the next victim from the last removed one
        order.push_back(slot);
    }
    return order;
}

/// Moves the slots of these objects to the front, the last object first. The order of the others stays.
template <class FingerprintIn>
void rank(std::vector<policy::Slot>& order, std::span<Fingerprint const> most_valuable, FingerprintIn fingerprint_in) {
    std::unordered_map<Fingerprint, std::size_t> ranks;
    for (std::size_t i = 0; i < most_valuable.size(); ++i) ranks[most_valuable[i]] = most_valuable.size() - i;
    std::vector<std::pair<std::size_t, policy::Slot>> ranked;
    for (auto const slot : order) {
        auto const found = ranks.find(fingerprint_in(slot));
        ranked.emplace_back(found == ranks.end() ? SIZE_MAX : found->second, slot);
    }
    std::ranges::stable_sort(ranked, {}, &std::pair<std::size_t, policy::Slot>::first);
    std::ranges::transform(ranked, order.begin(), &std::pair<std::size_t, policy::Slot>::second);
}

}   // namespace

Shard::Found Shard::find(Fingerprint fingerprint, std::string_view key) const {
    auto mask = table_.size() - 1;
    for (auto at = home(fingerprint); table_[at] != policy::no_slot; at = (at + 1) & mask) {
        auto const& candidate = entry(table_[at]);
        if (candidate.fingerprint == fingerprint && candidate.object->key() == key) return {table_[at], candidate.object.get()};
    }
    return {};
}

policy::Slot Shard::find_fingerprint(Fingerprint fingerprint) const {
    auto mask = table_.size() - 1;
    for (auto at = home(fingerprint); table_[at] != policy::no_slot; at = (at + 1) & mask)
        if (entry(table_[at]).fingerprint == fingerprint) return table_[at];
    return policy::no_slot;
}

void Shard::add_fill(FillPtr fill) {
    auto const primary = fill->primary();
    touched.add(primary);
    urls[primary].fills.push_back(std::move(fill));
}

bool Shard::remove_fill(Fill const& fill) {
    auto const found = urls.find(fill.primary());
    if (found == urls.end()) return false;
    auto& fills = found->second.fills;
    auto const at = std::ranges::find(fills, &fill, &FillPtr::get);
    if (at == fills.end()) return false;
    fills.erase(at);
    if (fills.empty()) urls.erase(found);
    return true;
}

store::ObjectPtr Shard::put(Fingerprint fingerprint, store::ObjectPtr object) {
    store::ObjectPtr old;
    if (auto found = find(fingerprint, object->key())) old = remove(found.slot, policy::Left::replaced);
    auto slot = take_slot();
    auto size = object->cost();
    parts_ += is_parts_text(object->key());
    entry(slot) = {fingerprint, std::move(object)};
    bytes_ += size;
    ++objects_;
    if (2 * objects_ > table_.size())
        grow_table();
    else
        insert_in_table(slot);
    policy_->inserted(slot, fingerprint, size);
    return old;
}

store::ObjectPtr Shard::freshen(policy::Slot slot, store::ObjectPtr object) {
    auto& place = entry(slot);
    bytes_ = bytes_ - place.object->cost() + object->cost();
    policy_->resized(slot, object->cost());
    std::swap(place.object, object);
    return object;
}

store::ObjectPtr Shard::remove(policy::Slot slot, policy::Left why) {
    policy_->removed(slot, why);
    erase_from_table(slot);
    auto& place = entry(slot);
    bytes_ -= place.object->cost();
    parts_ -= is_parts_text(place.object->key());
    --objects_;
    place.fingerprint = std::exchange(free_, slot);
    return std::exchange(place.object, nullptr);
}

store::ObjectPtr Shard::evict(Held held) {
    constexpr int tries = 64;
    for (int i = 0; i < tries; ++i) {
        auto const slot = policy_->victim();
        if (slot == policy::no_slot) return nullptr;
        auto const& object = *entry(slot).object;
        if (held == Held::evicted || !object.is_held()) return remove(slot, policy::Left::evicted);
        policy_->used_along(slot, object.cost());
    }
    return nullptr;
}

/// O(n log n) with the lock held, some milliseconds for ten thousand objects; both policies' arrays exist meanwhile.
void Shard::set_policy(std::unique_ptr<policy::ReplacementPolicy> policy, std::span<Fingerprint const> most_valuable) {
    auto const old = std::exchange(policy_, std::move(policy));
    auto const old_chunks = std::exchange(chunks_, {});
    used_slots_ = 0;
    free_ = policy::no_slot;
    table_ = std::vector<policy::Slot>(std::max(least_table, std::bit_ceil(2 * objects_)), policy::no_slot);
    auto order = victims_of(*old);
    auto const fingerprint_in = [&](policy::Slot from) { return old_chunks[from / chunk][from % chunk].fingerprint; };
    if (!most_valuable.empty()) rank(order, most_valuable, fingerprint_in);
    for (auto const from : order) {
        auto const slot = take_slot();
        auto& place = entry(slot);
        place = std::move(old_chunks[from / chunk][from % chunk]);
        insert_in_table(slot);
        policy_->inserted(slot, place.fingerprint, place.object->cost());
    }
    check(used_slots_ == objects_);
}

policy::Slot Shard::take_slot() {
    if (free_ != policy::no_slot) return std::exchange(free_, static_cast<policy::Slot>(entry(free_).fingerprint));
    if (used_slots_ == chunks_.size() * chunk) chunks_.push_back(std::make_unique<Entry[]>(chunk));
    return used_slots_++;
}

void Shard::insert_in_table(policy::Slot slot) {
    auto mask = table_.size() - 1;
    auto at = home(entry(slot).fingerprint);
    while (table_[at] != policy::no_slot) at = (at + 1) & mask;
    table_[at] = slot;
}

void Shard::erase_from_table(policy::Slot slot) {
    auto mask = table_.size() - 1;
    auto hole = home(entry(slot).fingerprint);
    while (table_[hole] != slot) hole = (hole + 1) & mask;
    // Backward shift: an entry moves into the hole when its home is at or before the hole.
    for (auto at = (hole + 1) & mask; table_[at] != policy::no_slot; at = (at + 1) & mask) {
        auto distance_to_home = (at - home(entry(table_[at]).fingerprint)) & mask;
        if (distance_to_home < ((at - hole) & mask)) continue;
        table_[hole] = table_[at];
        hole = at;
    }
    table_[hole] = policy::no_slot;
}

void Shard::grow_table() {
    table_.assign(table_.size() * 2, policy::no_slot);
    for (policy::Slot slot = 0; slot < used_slots_; ++slot)
        if (entry(slot).object) insert_in_table(slot);
}

store::ObjectPtr Shard::add_variant(Fingerprint primary, Fingerprint variant) {
    auto [place, is_new] = variants_.try_emplace(primary);
    auto& list = place->second;
    if (!is_new) variants_bytes_ -= bytes_of(list);
    // Removes evicted variants from the list, so that it stays within its bound.
    std::erase_if(
        list, [&](Fingerprint known) REQUIRES(mutex) { return known == variant || find_fingerprint(known) == policy::no_slot; });
    list.push_back(variant);
    variants_bytes_ += bytes_of(list);
    if (list.size() <= variants_max) return nullptr;
    auto oldest = find_fingerprint(list.front());
    list.erase(list.begin());
    return oldest == policy::no_slot ? nullptr : remove(oldest, policy::Left::replaced);
}

void Shard::drop_variants(Fingerprint primary, std::vector<store::ObjectPtr>& dropped) {
    auto list = variants_.find(primary);
    if (list == variants_.end()) return;
    for (auto variant : list->second)
        if (auto slot = find_fingerprint(variant); slot != policy::no_slot) dropped.push_back(remove(slot, policy::Left::purged));
    variants_bytes_ -= bytes_of(list->second);
    variants_.erase(list);
}

/// Includes the map node: a pointer to the next one, and the pair.
Bytes Shard::bytes_of(std::vector<Fingerprint> const& list) {
    auto const node = heap_block(sizeof(void*) + sizeof(VariantLists::value_type));
    return node + heap_block(list.capacity() * sizeof(Fingerprint));
}

std::size_t Shard::variants(Fingerprint primary) const {
    auto list = variants_.find(primary);
    return list == variants_.end() ? 0 : list->second.size();
}

std::vector<store::Object const*> Shard::variants_of(Fingerprint primary) const {
    std::vector<store::Object const*> there;
    auto list = variants_.find(primary);
    if (list == variants_.end()) return there;
    for (auto variant : list->second)
        if (auto slot = find_fingerprint(variant); slot != policy::no_slot) there.push_back(entry(slot).object.get());
    return there;
}

bool Shard::collect(policy::Slot first, policy::Slot count, std::vector<store::ObjectPtr>& into) const {
    auto const end = std::min(used_slots_, first + count);
    for (auto slot = first; slot < end; ++slot)
        if (auto const& object = entry(slot).object) into.push_back(object);
    return end < used_slots_;
}

bool Shard::Marks::set(Fingerprint primary, std::int64_t until_seconds, char const* reason) {
    bool const is_first = !places;
    if (is_first) places = std::make_unique<Places>();
    (*places)[primary % places->size()] = {primary, until_seconds, reason};
    return is_first;
}

void Shard::Marks::clear(Fingerprint primary) {
    if (until(primary) != 0) (*places)[primary % places->size()] = {};
}

std::int64_t Shard::Marks::until(Fingerprint primary) const {
    if (!places) return 0;
    auto const& mark = (*places)[primary % places->size()];
    return mark.primary == primary ? mark.until : 0;
}

char const* Shard::Marks::reason(Fingerprint primary) const {
    return until(primary) != 0 ? (*places)[primary % places->size()].reason : "";
}

Bytes Shard::metadata_bytes() const {
    auto const index = heap_block(table_.capacity() * sizeof(policy::Slot)) +
                       heap_block(chunks_.capacity() * sizeof(chunks_.front())) +
                       chunks_.size() * heap_block(chunk * sizeof(Entry));
    auto const variants = variants_.bucket_count() * sizeof(void*) + variants_bytes_;
    return heap_block(sizeof *this) + index + variants + hit_for_pass_marks_.bytes() + refresh_marks_.bytes() +
           policy_->metadata_bytes();
}

}   // namespace garner::cache
