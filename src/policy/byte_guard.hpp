// Keeps a cache from missing more bytes than LRU would: gives recency more weight while it does.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "policy/sampled_lru.hpp"
#include "policy/worth_order.hpp"

namespace garner::policy {

/// The debt is the bytes that the cache missed beyond those that LRU would have missed; it is limited in both directions. When it
/// has grown by a step, the next of a list of rules is used, from the one that suits the aim to LRU; when it has halved, the
/// former one. It starts inside the list, with the debt that leads there: a cache whose contents are replaced only ten times
/// cannot learn enough from its own misses. So the excess over LRU is at most about two capacities, for ever, as long as the last
/// rule is as good as LRU. Pure and without a clock.
class ByteGuard {
public:
    struct Terms {
        double allowed = 0;      // the accepted excess of missed bytes, as a share of LRU's
        double step = 0;         // growth of the debt under a rule until the next one is used, as a share of the capacity
        std::size_t begin = 0;   // the number of the rule to begin with
    };

    /// `rules` must outlive this. Below a capacity of 64 KiB, or with 0 for unknown, the first rule is used always.
    ByteGuard(std::span<WorthOrder::Rule const> rules, Terms, Bytes capacity);

    bool wants(Fingerprint fingerprint, Bytes size) const { return lru_ && lru_->wants(fingerprint, size); }
    /// A request that wants() accepts, and whether the cache missed it. `held`: the bytes in the cache.
    void request(std::uint32_t tag, Bytes size, bool missed, double held);
    /// This many bytes left the cache for another reason than its policy: misses of as many bytes are not counted.
    void excuse(double bytes) { excused_ += bytes; }

    WorthOrder::Rule const& rule() const { return rules_[level_]; }
    /// Begins anew.
    void set_capacity(Bytes);
    Bytes metadata_bytes() const { return lru_ ? lru_->metadata_bytes() : 0; }

private:
    void begin();
    void judge();

    std::span<WorthOrder::Rule const> const rules_;
    Terms const terms_;
    Bytes capacity_;
    std::optional<SampledLru> lru_;
    double room_ = 0;       // the bytes that the cache really has
    double unjudged_ = 0;   // bytes that the LRU must miss before it has filled up
    double excused_ = 0;
    double debt_ = 0;
    double debt_before_ = 0;   // when the present rule was chosen, at least 0
    std::size_t level_ = 0;
};

}   // namespace garner::policy
