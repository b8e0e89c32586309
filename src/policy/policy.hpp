// The interface of replacement policies.
#pragma once
#include <cstdint>

#include "util/bytes.hpp"
#include "util/hash.hpp"

namespace garner::policy {

/// A place in the index, allocated by it: dense, reused after removed(). Policies keep their state in arrays by slot.
using Slot = std::uint32_t;
inline constexpr Slot no_slot = UINT32_MAX;

/// Why a slot was freed.
enum class Left : std::uint8_t { evicted, replaced, purged };

/// Chooses the next victim. One instance per shard, under its lock: no thread safety, no I/O, no clock. Deterministic
/// for a seed and a sequence of calls. Sizes are the objects' cost to the tier in bytes.
class ReplacementPolicy {
public:
    virtual ~ReplacementPolicy() = default;

    /// Called for every cacheable lookup, hit or miss, before its result is known (sketches; CPBAD's C_total).
    virtual void requested(Fingerprint) {}
    /// False when the newcomer is worth less than its victims. `need` bytes would have to be evicted.
    virtual bool admits(Fingerprint, Bytes size, Bytes need) {
        (void)size;
        (void)need;
        return true;
    }
    virtual void inserted(Slot, Fingerprint, Bytes size) = 0;
    /// `size`: the size last given to inserted() or resized(), so that a policy that weighs sizes need not store
    /// them.
    virtual void hit(Slot, Bytes size) = 0;
    /// A use caused by a request for another object, such as a variant of this Vary marker: a use, but not a request.
    virtual void used_along(Slot slot, Bytes size) { hit(slot, size); }
    /// The object in this slot now costs `size` bytes (a new head, sparse growth).
    virtual void resized(Slot, Bytes size) = 0;
    virtual void removed(Slot, Left) = 0;
    /// The next victim, or no_slot when empty. It stays held until removed() is called for it.
    virtual Slot victim() = 0;
    /// Whether to rewrite the object in this slot when its disk segment is reclaimed.
    virtual bool keeps(Slot) const = 0;
    /// Changes the tier's budget. Objects are held until victims are requested.
    virtual void set_capacity(Bytes) {}
    /// Heap memory and the size of the instance itself.
    virtual Bytes metadata_bytes() const = 0;
};

}   // namespace garner::policy
