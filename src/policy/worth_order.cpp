#include "policy/worth_order.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "util/check.hpp"

namespace garner::policy {
namespace {

// Stored per object: f in 8 bits, above them the size as an unsigned float with 6 bits of exponent and 2 of mantissa.
// The size is only used for the room that a victim frees, and for a change of the rule.
constexpr std::uint32_t most_uses = 255;
constexpr std::uint32_t bits_of_one = 0x3f80'0000, bits_dropped = 21;

std::uint16_t pack(std::uint32_t uses, Bytes size) {
    auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::max<Bytes>(size, 1))) - bits_of_one;
    auto rounded = std::min((bits + (1u << (bits_dropped - 1))) >> bits_dropped, 255u);
    return static_cast<std::uint16_t>(rounded << 8 | std::min(uses, most_uses));
}
std::uint32_t uses_of(std::uint16_t object) { return object & most_uses; }
double size_of(std::uint16_t object) { return std::bit_cast<float>((std::uint32_t{object} >> 8 << bits_dropped) + bits_of_one); }
double whole_size(Bytes size) { return static_cast<double>(std::max<Bytes>(size, 1)); }

// Keys stay below 2^32: L is subtracted from all of them when it reaches highest_age, and worths are limited to
// most_worth.
constexpr std::uint32_t highest_age = 1u << 31;
constexpr double most_worth = 1u << 30;
constexpr double units = 4096;                  // per request for the mean size
constexpr std::uint32_t time_kept = 1u << 30;   // requests; older times are not distinguished

/// Comparing more victims than this costs more than a wrong choice.
constexpr int most_victims_compared = 128;

}   // namespace

void WorthOrder::insert(Slot slot, std::uint32_t uses, Bytes size) {
    requested(size);
    look_at_mean();
    objects_.cover(slot);
    objects_[slot] = pack(uses, size);
    held_ += size_of(objects_[slot]);
    heap_.push({next_key(uses_of(objects_[slot]), whole_size(size)), slot, 0});
}

void WorthOrder::hit(Slot slot, Bytes size) {
    requested(size);
    check(holds(slot));
    Object& object = objects_[slot];
    set(object, uses_of(object) + 1, size);
    Key const key = next_key(uses_of(object), whole_size(size));
    // The mean size moves: an object must not lose by being used.
    Entry& entry = heap_.raise(slot);
    entry.key = std::max(entry.key, key);
}

void WorthOrder::resize(Slot slot, Bytes size) {
    check(holds(slot));
    Object& object = objects_[slot];
    set(object, uses_of(object), size);
    if (rule_.recency) return;
    Key const key = next_key(uses_of(object), whole_size(size));
    heap_.update(slot, [key](Entry& entry) { entry.key = key; });
}

void WorthOrder::remove(Slot slot, Left why) {
    // L never decreases: an eviction out of order must not put newcomers below the objects that are held.
    if (why == Left::evicted && !rule_.recency) age_ = std::max(age_, heap_.entry(slot).key);
    heap_.remove(slot);
    held_ -= size_of(objects_[slot]);
}

double WorthOrder::size(Slot slot) const { return size_of(objects_[slot]); }

bool WorthOrder::admits(std::uint32_t uses, Bytes size, Bytes need) {
    if (rule_.recency) return true;
    Key const key = next_key(std::min(uses, most_uses), whole_size(size));
    double freed = 0;
    int compared = 0;
    bool worth_it = true;
    heap_.ascend([&](Entry const& victim) {
        worth_it = victim.key <= key;
        freed += size_of(objects_[victim.slot]);
        return worth_it && freed < static_cast<double>(need) && ++compared < most_victims_compared;
    });
    if (worth_it) return true;
    age_ = std::max(age_, key);
    requested(size);
    look_at_mean();
    return false;
}

void WorthOrder::change(Rule rule) {
    constexpr double time_begun = 1u << 20;
    auto const oldest = lowest() == no_slot ? 0 : heap_.entry(lowest()).key;
    heap_.change_all([&](Entry& entry) {
        auto uses = uses_of(objects_[entry.slot]);
        auto size = size_of(objects_[entry.slot]);
        double key = entry.key;
        double left = rule_.recency ? key - oldest : key - age_;
        double whole = rule_.recency ? std::max(double(age_) - oldest, 1.0) : std::max(worth(rule_, uses, size), 1.0);
        double share = std::clamp(left / whole, 0.0, 1.0);
        entry.key = static_cast<Key>(share * (rule.recency ? time_begun : worth(rule, uses, size)));
    });
    age_ = rule.recency ? static_cast<Key>(time_begun) : 0;
    rule_ = rule;
}

/// The key of an object requested now.
WorthOrder::Key WorthOrder::next_key(std::uint32_t uses, double size) {
    if (age_ >= highest_age) [[unlikely]]
        begin_count_anew(1);
    return rule_.recency ? ++age_ : age_ + static_cast<Key>(worth(rule_, uses, size));
}

/// Saved misses per byte of the object, in units.
double WorthOrder::worth(Rule const& rule, std::uint32_t uses, double size) const {
    return std::min(uses * (units_ / size + rule.byte_weight * units_a_byte_) + rule.recency_weight * units_a_byte_, most_worth);
}

/// Multiplies all keys by `ratio`, for a unit that is smaller by it, and subtracts L. Keys below L become equal:
/// those objects are evicted next in any order.
void WorthOrder::begin_count_anew(double ratio) {
    Key const gone = rule_.recency ? age_ - std::min(age_, time_kept) : age_;
    heap_.change_all([&](Entry& entry) {
        double left = entry.key > gone ? entry.key - gone : 0;
        entry.key = static_cast<Key>(rule_.recency ? left : std::min(left * ratio, most_worth));
    });
    age_ -= gone;
}

void WorthOrder::set(Object& object, std::uint32_t uses, Bytes size) {
    Object const before = std::exchange(object, pack(uses, size));
    if ((before ^ object) >> 8) held_ += size_of(object) - size_of(before);
}

/// The mean size of roughly the last hundred thousand requests.
void WorthOrder::requested(Bytes size) {
    requests_ += 1;
    bytes_ += whole_size(size);
    if (requests_ < 1 << 17) return;
    requests_ /= 2;
    bytes_ /= 2;
}

/// Adapts the unit when it has become too coarse, or so fine that worths reach their limit.
void WorthOrder::look_at_mean() {
    double const mean = bytes_ / requests_;
    if (double const in_units = units_ / mean; in_units < units / 4 || in_units > units * 4) {
        begin_count_anew(units * mean / units_);
        units_ = units * mean;
    }
    units_a_byte_ = units_ / mean;
}

}   // namespace garner::policy
