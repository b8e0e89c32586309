// The objects of a cache in order of worth, and admission by worth.
#pragma once
#include <cstdint>

#include "policy/policy.hpp"
#include "policy/rising_heap.hpp"

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
    double size(Slot) const;
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
    using Object = std::uint16_t;   // f and size

    Key next_key(std::uint32_t uses, double size);
    double worth(Rule const&, std::uint32_t uses, double size) const;
    void set(Object&, std::uint32_t uses, Bytes size);
    void begin_count_anew(double ratio);
    void requested(Bytes size);
    void look_at_mean();

    Rule rule_;
    RisingHeap<Entry> heap_;
    SlotArray<Object> objects_;
    double held_ = 0;                   // bytes
    Key age_ = 0;                       // L, or the time
    double requests_ = 0, bytes_ = 0;   // recent totals
    double units_ = 1;                  // the worth of one miss
    double units_a_byte_ = 0;           // by the mean size, at the last miss
};

}   // namespace garner::policy
