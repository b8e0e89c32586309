// Which rule suits this traffic best? Small copies of the cache, one for each rule, over a sample of the keys, tell.
#pragma once
#include <cstdint>
#include <vector>

#include "policy/worth_order.hpp"

namespace garner::policy {

/// A cache of few objects that counts what it misses. Room for all of them is taken at once: request() never allocates.
class MiniCache {
public:
    /// `slots`: objects it can hold, at least 1 and below 255.
    MiniCache(WorthOrder::Rule, Bytes capacity, Slot slots);

    /// `tag` is the key; `uses` as for WorthOrder::insert().
    void request(std::uint32_t tag, std::uint32_t uses, Bytes size);
    /// Empty, with nothing counted.
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

    /// Where in the table the tag's slot stands, or the empty place where it would.
    std::size_t find(std::uint32_t tag) const;
    void evict(Slot);

    WorthOrder order_;
    Bytes capacity_;
    double occupied_ = 0;
    std::vector<Object> objects_;       // by slot
    std::vector<ShortSlot> free_;           // slots
    std::vector<ShortSlot> table_;          // slots by tag, open addressing
};

/// Keys are sampled by their hash (Waldspurger et al. 2015) at a rate that falls as the copies fill up.
class Referee {
public:
    /// What a miss and its bytes weigh, as shares of the last rule's.
    struct Aim {
        double objects = 1, bytes = 0;
    };

    /// Begins with the first rule. Its copies hold at most 125 objects each, and so few of them where the capacity is
    /// small that they take some hundredths of it; below 256 KiB, or when it is 0 for unknown, the first rule stays.
    Referee(std::vector<WorthOrder::Rule>, Aim, Bytes capacity);

    bool wants(Fingerprint fingerprint) const { return (fingerprint * 0x9e37'79b9'7f4a'7c15 >> 8 & sample_) == 0; }
    /// One that is wanted.
    void request(std::uint32_t tag, std::uint32_t uses, Bytes size);
    WorthOrder::Rule rule() const { return rules_[best_]; }
    /// Begins anew, with the rule in force.
    void set_capacity(Bytes);
    Bytes metadata_bytes() const;

private:
    static constexpr std::uint64_t nobody = UINT64_MAX;   // but one hash in 2^56, which request() passes over

    void begin();
    void halve_sample();
    void judge();
    double cost(MiniCache const&) const;

    std::vector<WorthOrder::Rule> const rules_;
    Aim const aim_;
    Bytes capacity_;
    std::uint64_t sample_ = nobody;    // bits of the hash that must be 0
    std::vector<MiniCache> caches_;    // by rule
    std::uint32_t requests_ = 0;       // since the last judgement
    std::size_t best_ = 0;
};

}  // namespace garner::policy
