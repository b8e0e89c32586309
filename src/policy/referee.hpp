// Is a rule better than LRU for this traffic? Two small copies of the cache, over a sample of the keys, tell.
#pragma once
#include <cstdint>
#include <vector>

#include "policy/worth_order.hpp"

namespace garner::policy {

/// A cache of few objects that counts what it misses. Room for all of them is taken at once: request() never allocates.
class MiniCache {
public:
    static constexpr Slot most_objects = 256;

    MiniCache(WorthOrder::Rule, Bytes capacity);

    /// `tag` is the key; `uses` as for WorthOrder::insert().
    void request(std::uint32_t tag, std::uint32_t uses, Bytes size);
    bool full() const { return free_.empty(); }

    void forget(double share) { misses *= 1 - share, missed_bytes *= 1 - share; }
    double misses = 0, missed_bytes = 0;

    Bytes metadata_bytes() const;

private:
    struct Object {
        std::uint32_t tag;
        Bytes size;
    };
    using Place = std::uint16_t;   // holds any slot
    static constexpr Place no_place = UINT16_MAX;
    static constexpr std::size_t places = 4 * most_objects;

    /// Where in the table the tag's slot stands, or the empty place where it would.
    std::size_t find(std::uint32_t tag) const;
    void evict(Slot);

    WorthOrder order_;
    Bytes capacity_, occupied_ = 0;
    std::vector<Object> objects_;       // by slot
    std::vector<Slot> free_;
    std::vector<Place> table_;          // slots by tag, open addressing
};

/// Keys are sampled by their hash (Waldspurger et al. 2015) at a rate that falls as the copies fill up.
class Referee {
public:
    /// What a miss and its bytes weigh, as shares of LRU's.
    struct Aim {
        double objects = 1, bytes = 0;
    };

    /// Of no known capacity: samples nothing.
    Referee(WorthOrder::Rule, Aim, Bytes capacity);

    bool wants(Fingerprint fingerprint) const {
        return capacity_ > 0 && (fingerprint * 0x9e37'79b9'7f4a'7c15 >> 8 & sample_) == 0;
    }
    /// One that is wanted.
    void request(std::uint32_t tag, std::uint32_t uses, Bytes size);
    bool prefers_recency() const { return prefers_recency_; }
    /// Begins anew.
    void set_capacity(Bytes);
    Bytes metadata_bytes() const { return rule_cache_.metadata_bytes() + recency_cache_.metadata_bytes(); }

private:
    void begin();
    void judge();

    WorthOrder::Rule const rule_;
    Aim const aim_;
    Bytes capacity_;
    std::uint64_t sample_ = 0;   // bits of the hash that must be 0
    MiniCache rule_cache_, recency_cache_;
    std::uint32_t requests_ = 0;   // since the last judgement
    bool prefers_recency_ = false;
};

}  // namespace garner::policy
