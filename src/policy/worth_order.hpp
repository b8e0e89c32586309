// The objects of a cache in the order of what they are worth to it, and whether a newcomer is worth what it would cost.
#pragma once
#include <cstdint>

#include "policy/lazy_heap.hpp"
#include "policy/policy.hpp"

namespace garner::policy {

/// Key = L + f * (1 / size + byte_weight / mean size of a request), L the highest key that has left: Greedy-Dual-Size
/// with frequency (Cao and Irani 1997; Cherkasova 1998) where a miss costs 1 for the request and `byte_weight` for each
/// mean request's worth of bytes. By `recency` the key is the time of use instead, which is LRU, and all are admitted.
///
/// hit() is O(1), the others O(log n). 20 bytes a slot. f counts to 255, sizes are kept to 16 bits of mantissa.
class WorthOrder {
public:
    struct Rule {
        double byte_weight = 0;
        bool recency = false;
        bool operator==(Rule const&) const = default;
    };

    explicit WorthOrder(Rule rule) : rule_(rule) {}

    /// As LazyHeap's.
    void reserve(Slot slots) { heap_.reserve(slots); }
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
    bool keeps(Slot slot) const { return holds(slot) && (rule_.recency || heap_.key(slot) > age_); }
    Bytes metadata_bytes() const { return heap_.metadata_bytes(); }

private:
    double key_of(std::uint32_t word);
    double worth(Rule const&, std::uint32_t word) const;
    void requested(Bytes size);

    Rule rule_;
    LazyHeap heap_;      // with f and the size as its word
    double age_ = 0;     // L, or the time
    double requests_ = 0, bytes_ = 0;   // of late
};

}  // namespace garner::policy
