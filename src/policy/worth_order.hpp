// The objects of a cache in order of worth, and admission by worth.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

#include "policy/policy.hpp"
#include "policy/rising_heap.hpp"
#include "util/check.hpp"

namespace garner::policy {

/// Key = L + f * (1 / size + byte_weight / mean size of a request) + recency_weight / mean size, L the highest key evicted:
/// Greedy-Dual-Size with frequency (Cao and Irani 1997; Cherkasova 1998). A miss costs 1 for the request and `byte_weight` for as
/// many bytes as the mean request has. The last term does not depend on f: a byte used once now counts as much as one used often,
/// which is the order of LRU as the weight grows, except for objects much smaller than the mean. With `recency` the key is the
/// time of use instead, which is LRU, and every newcomer is admitted.
///
/// hit() is O(1), the others O(log n); a rare renumbering is O(n). 14 bytes a slot. Keys are integers in units of
/// 1/4096 of the worth of one request for an object of mean size. f counts to 255; sizes are stored to an eighth.
class WorthOrder {
public:
    struct Rule {
        double byte_weight = 0;
        double recency_weight = 0;
        bool recency = false;
        bool operator==(Rule const&) const = default;
    };

    explicit WorthOrder(Rule rule) : rule_(rule) {}

    /// See RisingHeap.
    void reserve(Slot slots) {
        heap_.reserve(slots);
        objects_.cover(slots - 1);
    }
    /// `uses`: the initial f, at least 1.
    void insert(Slot, std::uint32_t uses, Bytes size);
    /// `size`: the last one of this slot.
    void hit(Slot, Bytes size);
    void resize(Slot, Bytes size);
    void remove(Slot, Left);
    Slot lowest() { return heap_.lowest(); }
    /// True when each of the victims for `need` bytes is worth less than the newcomer. Otherwise the newcomer counts
    /// as evicted at once, so that held objects age and cannot stay forever.
    bool admits(std::uint32_t uses, Bytes size, Bytes need);

    /// Changes the rule. Each object keeps the share of its worth that has not aged away. O(n).
    void change(Rule);
    Rule const& rule() const { return rule_; }

    bool holds(Slot slot) const { return heap_.contains(slot); }
    /// The size of a held object, and the sum of all, each to an eighth.
    double size(Slot slot) const { return objects_[slot].size(); }
    double held() const { return held_; }
    /// Worth more than the last evicted one; by recency, any held one.
    bool keeps(Slot slot) const { return holds(slot) && (rule_.recency || heap_.entry(slot).key > age_); }
    Bytes metadata_bytes() const { return heap_.metadata_bytes() + objects_.metadata_bytes(); }

private:
    using Key = std::uint32_t;
    struct Entry {
        Key key;
        Slot slot : 31;
        std::uint32_t risen : 1;
        bool below(Entry const& other) const { return key < other.key; }
    };
    static_assert(sizeof(Entry) == 8);
    /// f in 8 bits, above them the size as an unsigned float with 6 bits of exponent and 2 of mantissa. The size is only used for the
    /// room that a victim frees, and for a change of the rule.
    class Object {
    public:
        static constexpr std::uint32_t most_uses = 255;

        Object() = default;
        Object(std::uint32_t uses, Bytes size) {
            auto const bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::max<Bytes>(size, 1))) - bits_of_one;
            auto const rounded = std::min((bits + (1u << (bits_dropped - 1))) >> bits_dropped, 255u);
            bits_ = static_cast<std::uint16_t>(rounded << 8 | std::min(uses, most_uses));
        }
        std::uint32_t uses() const { return bits_ & most_uses; }
        double size() const { return std::bit_cast<float>((std::uint32_t{bits_} >> 8 << bits_dropped) + bits_of_one); }
        void count_use() {
            if (uses() < most_uses) ++bits_;
        }

    private:
        static constexpr std::uint32_t bits_of_one = 0x3f80'0000, bits_dropped = 21;
        std::uint16_t bits_ = 0;
    };
    static_assert(sizeof(Object) == 2);

    // Keys stay below 2^32: L is subtracted from all of them when it reaches highest_age, and worths are limited to
    // most_worth.
    static constexpr std::uint32_t highest_age = 1u << 31;
    static constexpr double most_worth = 1u << 30;
    static constexpr double units = 4096;   // per request for the mean size
    /// Comparing more victims than this costs more than a wrong choice.
    static constexpr int most_victims_compared = 128;

    static double whole_size(Bytes size) { return static_cast<double>(std::max<Bytes>(size, 1)); }
    /// The key of an object requested now.
    Key next_key(std::uint32_t uses, double size) {
        if (age_ >= highest_age) [[unlikely]]
            begin_count_anew(1);
        return rule_.recency ? ++age_ : age_ + static_cast<Key>(worth(rule_, uses, size));
    }
    /// Saved misses per byte of the object, in units.
    double worth(Rule const& rule, std::uint32_t uses, double size) const {
        auto const by_uses = uses * (units_ / size + rule.byte_weight * units_a_byte_);
        return std::min(by_uses + rule.recency_weight * units_a_byte_, most_worth);
    }
    void begin_count_anew(double ratio);
    void requested(Bytes size);
    void look_at_mean();
    void adapt_unit(double mean);

    Rule rule_;
    RisingHeap<Entry> heap_;
    SlotArray<Object> objects_;
    double held_ = 0;                   // bytes
    Key age_ = 0;                       // L, or the time
    double requests_ = 0, bytes_ = 0;   // recent totals
    double units_ = 1;                  // the worth of one miss
    double units_a_byte_ = 0;           // by the mean size, at the last miss
};

// ---- inline: called for each request ----

inline void WorthOrder::insert(Slot slot, std::uint32_t uses, Bytes size) {
    requested(size);
    look_at_mean();
    objects_.cover(slot);
    objects_[slot] = Object(uses, size);
    held_ += objects_[slot].size();
    heap_.push({next_key(objects_[slot].uses(), whole_size(size)), slot, 0});
}

inline void WorthOrder::hit(Slot slot, Bytes size) {
    requested(size);
    check(holds(slot));
    objects_[slot].count_use();
    Key const key = next_key(objects_[slot].uses(), whole_size(size));
    // The mean size moves: an object must not lose by being used.
    Entry& entry = heap_.raise(slot);
    entry.key = std::max(entry.key, key);
}

inline void WorthOrder::remove(Slot slot, Left why) {
    // L never decreases: an eviction out of order must not put newcomers below the objects that are held.
    if (why == Left::evicted && !rule_.recency) age_ = std::max(age_, heap_.entry(slot).key);
    heap_.remove(slot);
    held_ -= objects_[slot].size();
}

inline bool WorthOrder::admits(std::uint32_t uses, Bytes size, Bytes need) {
    if (rule_.recency) return true;
    Key const key = next_key(std::min(uses, Object::most_uses), whole_size(size));
    double freed = 0;
    int compared = 0;
    bool worth_it = true;
    heap_.ascend([&](Entry const& victim) {
        worth_it = victim.key <= key;
        freed += objects_[victim.slot].size();
        return worth_it && freed < static_cast<double>(need) && ++compared < most_victims_compared;
    });
    if (worth_it) return true;
    age_ = std::max(age_, key);
    requested(size);
    look_at_mean();
    return false;
}

/// The mean size of roughly the last hundred thousand requests.
inline void WorthOrder::requested(Bytes size) {
    requests_ += 1;
    bytes_ += whole_size(size);
    if (requests_ < 1 << 17) return;
    requests_ /= 2;
    bytes_ /= 2;
}

/// Adapts the unit when it has become too coarse, or so fine that worths reach their limit.
inline void WorthOrder::look_at_mean() {
    double const mean = bytes_ / requests_;
    double const in_units = units_ / mean;
    if (in_units < units / 4 || in_units > units * 4) [[unlikely]] {
        adapt_unit(mean);
        units_a_byte_ = units_ / mean;
    } else {
        units_a_byte_ = in_units;
    }
}

}   // namespace garner::policy
