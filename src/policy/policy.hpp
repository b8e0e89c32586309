// The seam for replacement policies: who leaves next.
#pragma once
#include <cstdint>

#include "util/bytes.hpp"
#include "util/hash.hpp"

namespace garner::policy {

/// A place in the index, handed out by it: dense, reused after removed(). Policies keep their state in arrays by slot.
using Slot = std::uint32_t;
inline constexpr Slot no_slot = UINT32_MAX;

/// Why a slot was given back.
enum class Left : std::uint8_t { evicted, replaced, purged };

/// Decides which object leaves next. One instance per shard, under its lock: no thread-safety of its own, no I/O, no
/// clock. Deterministic for a seed and a sequence of calls. Sizes are what the object costs its tier in bytes.
class ReplacementPolicy {
public:
    virtual ~ReplacementPolicy() = default;

    /// Every cacheable lookup, hit or miss, before its outcome is known (sketches; CPBAD's C_total).
    virtual void requested(Fingerprint) {}
    /// False when the newcomer is worth less than what it would push out. `need` bytes would have to be evicted.
    virtual bool admits(Fingerprint, Bytes size, Bytes need) {
        (void)size;
        (void)need;
        return true;
    }
    virtual void inserted(Slot, Fingerprint, Bytes size) = 0;
    /// `size`: what inserted() or resized() was told last, so that a policy that weighs sizes need not keep them.
    virtual void hit(Slot, Bytes size) = 0;
    /// Used because another one was asked for, as a URL's Vary marker is: a use, and no request.
    virtual void used_along(Slot slot, Bytes size) { hit(slot, size); }
    /// The object in this slot now costs `size` bytes (a new head, sparse growth).
    virtual void resized(Slot, Bytes size) = 0;
    virtual void removed(Slot, Left) = 0;
    /// The next to leave, or no_slot when empty. It stays held until removed() is called for it.
    virtual Slot victim() = 0;
    /// Would a compaction that meets this slot write it again?
    virtual bool keeps(Slot) const = 0;
    /// The tier's budget is another one from now on. What is held stays until victims are asked for.
    virtual void set_capacity(Bytes) {}
    /// All that this instance has taken from the heap, and itself.
    virtual Bytes metadata_bytes() const = 0;
};

}  // namespace garner::policy
