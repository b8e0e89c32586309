// Selects the best rule for the traffic: small simulated caches, one for each rule, on a sample of the keys.
#pragma once
#include <cstdint>
#include <vector>

#include "policy/worth_order.hpp"

namespace garner::policy {

/// A small simulated cache that counts its misses. Memory is allocated at construction: request() never allocates.
class MiniCache {
public:
    /// `slots`: its capacity in objects, at least 1 and below 255.
    MiniCache(WorthOrder::Rule, Bytes capacity, Slot slots);

    /// `tag` is the key; `uses` as for WorthOrder::insert().
    void request(std::uint32_t tag, std::uint32_t uses, Bytes size);
    /// Clears contents and counts.
    void begin_anew(Bytes capacity);
    bool full() const { return free_.empty(); }

    void forget(double share) { misses *= 1 - share, missed_bytes *= 1 - share; }
    double misses = 0, missed_bytes = 0;

    Bytes metadata_bytes() const;

private:
    struct Object {
        std::uint32_t tag;
        float size;
    };
    using ShortSlot = std::uint8_t;
    static constexpr ShortSlot no_short_slot = UINT8_MAX;

    /// The table place of the tag's slot, or the empty place for it.
    std::size_t find(std::uint32_t tag) const;
    void evict(Slot);

    WorthOrder order_;
    Bytes capacity_;
    double occupied_ = 0;
    std::vector<Object> objects_;    // by slot
    std::vector<ShortSlot> free_;    // slots
    std::vector<ShortSlot> table_;   // slots by tag, open addressing
};

/// Keys are sampled by their hash (Waldspurger et al. 2015) at a rate that falls as the simulated caches fill up.
class Referee {
public:
    /// The weights of a miss and of its bytes, relative to the last rule's.
    struct Aim {
        double objects = 1, bytes = 0;
    };

    /// Begins with the first rule. The simulated caches hold at most 125 objects each, and fewer if the capacity is
    /// small, so that they take a few hundredths of it. Below 256 KiB, or with 0 for unknown, the first rule stays.
    Referee(std::vector<WorthOrder::Rule>, Aim, Bytes capacity);

    bool wants(Fingerprint fingerprint) const { return (fingerprint * 0x9e37'79b9'7f4a'7c15 >> 8 & sample_) == 0; }
    /// `tag` must be of a key that wants() accepts.
    void request(std::uint32_t tag, std::uint32_t uses, Bytes size);
    WorthOrder::Rule rule() const { return rules_[best_]; }
    /// Clears the simulated caches; the current rule stays.
    void set_capacity(Bytes);
    Bytes metadata_bytes() const;

private:
    static constexpr std::uint64_t nobody = UINT64_MAX;   // a mask that only one hash in 2^56 passes, which request() ignores

    void begin();
    void halve_sample();
    void judge();
    double cost(MiniCache const&) const;

    std::vector<WorthOrder::Rule> const rules_;
    Aim const aim_;
    Bytes capacity_;
    std::uint64_t sample_ = nobody;   // bits of the hash that must be 0
    std::vector<MiniCache> caches_;   // by rule
    std::uint32_t requests_ = 0;      // since the last judgement
    std::size_t best_ = 0;
};

}   // namespace garner::policy
