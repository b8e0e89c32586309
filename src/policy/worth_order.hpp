// The objects of a cache in the order of what they are worth to it, and whether a newcomer is worth what it would cost.
#pragma once
#include <cstdint>

#include "policy/policy.hpp"
#include "policy/rising_heap.hpp"

namespace garner::policy {

/// Key = L + f * (1 / size + byte_weight / mean size of a request), L the highest key that has left: Greedy-Dual-Size
/// with frequency (Cao and Irani 1997; Cherkasova 1998) where a miss costs 1 for the request and `byte_weight` for each
/// mean request's worth of bytes. By `recency` the key is the time of use instead, which is LRU, and all are admitted.
///
/// hit() is O(1), the others O(log n); O(n) where the count begins anew, seldom. 14 bytes a slot: keys are whole
/// numbers of a unit, one 4096th of the worth that a request for an object of the mean size has; f counts to 255, sizes
/// are remembered to an eighth.
class WorthOrder {
public:
    struct Rule {
        double byte_weight = 0;
        bool recency = false;
        bool operator==(Rule const&) const = default;
    };

    explicit WorthOrder(Rule rule) : rule_(rule) {}

    /// As RisingHeap's.
    void reserve(Slot slots) {
        heap_.reserve(slots);
        objects_.cover(slots - 1);
    }
    /// `uses`: f to begin with, at least 1.
    void insert(Slot, std::uint32_t uses, Bytes size);
    void hit(Slot, Bytes size);
    void resize(Slot, Bytes size);
    void remove(Slot, Left);
    Slot lowest() { return heap_.lowest(); }
    /// True when each of those that would make room of `need` bytes is worth less than the newcomer. When it is not
    /// the newcomer counts as one that has left at once, so that what is held ages and cannot stay for ever.
    bool admits(std::uint32_t uses, Bytes size, Bytes need);

    /// From now on by another rule. Each object keeps the share of its worth that has not aged away. O(n).
    void change(Rule);
    Rule rule() const { return rule_; }

    bool holds(Slot slot) const { return heap_.contains(slot); }
    /// Worth more than what left last; by recency, held at all.
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
    using Object = std::uint16_t;   // f and size

    Key next_key(std::uint32_t uses, double size);
    double worth(Rule const&, std::uint32_t uses, double size) const;
    void begin_count_anew(double ratio);
    void requested(Bytes size);
    void look_at_mean();

    Rule rule_;
    RisingHeap<Entry> heap_;
    SlotArray<Object> objects_;
    Key age_ = 0;                       // L, or the time
    double requests_ = 0, bytes_ = 0;   // of late
    double units_ = 1;                  // that one miss is worth
    double units_a_byte_ = 0;           // of the mean size, at the last miss
};

}  // namespace garner::policy
