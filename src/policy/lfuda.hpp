// LFUDA, LFU with dynamic ageing: keeps what is often asked for, and forgets with time.
#pragma once
#include <array>
#include <bit>

#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/queues.hpp"

namespace garner::policy {

/// The lowest L + f leaves, with f the hits since insertion plus one and L the key of the last one evicted, in integers
/// (Arlitt et al. 2000). Ties: the least recently used leaves. A hit is O(1); victim() too but for what those before it
/// left to it, in all O(log of the span of keys) a use. 20 bytes a slot. f counts up to 2^32 - 1.
///
/// How: no new key is below those that leave, so a radix heap holds them (Ahuja, Mehlhorn, Orlin, Tarjan 1990). Band b
/// has the keys whose highest bit that differs from `base_` is bit b - 1, in order of use. The base is never above L,
/// nor above any key. When it moves, only the band that it moves into is dealt out, in the same order, to bands that
/// are empty; so band 0, all of one key, is a queue by use.
class Lfuda final : public ReplacementPolicy {
public:
    explicit Lfuda(Options const&) {}

    void inserted(Slot, Fingerprint, Bytes size) override;
    void hit(Slot, Bytes size) override;
    void resized(Slot, Bytes size) override;
    /// Left::evicted moves L to this object's key.
    void removed(Slot, Left) override;
    Slot victim() override;
    /// True while it is worth more than the last one evicted.
    bool keeps(Slot) const override;
    Bytes metadata_bytes() const override;

private:
    using Key = std::uint64_t;
    Queue& band_of(Key key) { return bands_[static_cast<std::size_t>(std::bit_width(key ^ base_))]; }
    Slot lowest_in(Queue const&) const;
    void move_base(Key);

    Queues queues_;
    std::array<Queue, 65> bands_;
    SlotArray<Key> keys_;
    SlotArray<std::uint32_t> hits_;   // f
    Key age_ = 0;                     // L
    Key base_ = 0;
};

}  // namespace garner::policy
