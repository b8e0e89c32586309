// The memory tier: sharded objects with a common budget, admission and eviction.
#pragma once
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/disk_tier.hpp"
#include "cache/invalidations.hpp"
#include "cache/key.hpp"
#include "cache/negative.hpp"
#include "cache/event_numbers.hpp"
#include "cache/options.hpp"
#include "cache/shard.hpp"
#include "store/budget.hpp"
#include "store/object.hpp"
#include "util/mutex.hpp"

namespace garner::cache {

struct Stats {
    Bytes capacity = 0;
    std::string policy;   // as configured
    Bytes used = 0;       // everything charged
    Bytes cached = 0;     // in the index
    Bytes filling = 0;    // bodies being received
    Bytes filling_capacity = 0;
    Bytes pinned = 0;   // see MemoryTier::pinned()
    std::uint64_t objects = 0;
    std::uint64_t fills = 0;
    std::uint64_t followers = 0;   // requests that wait for those fills or read them
    std::uint64_t evictions = 0;
    std::uint64_t refused_for_room = 0;   // objects and bodies for which the budget had no room
    std::uint64_t not_admitted = 0;       // objects that the policy rated lower than their victims
    Bytes metadata = 0;                   // index, policy, marks, negative entries
    std::uint64_t failures = 0;           // negative entries
};

/// Thread-safe. Functions that need a shard's mutex are annotated; none takes two of them.
class MemoryTier {
public:
    /// `behind`: receives evicted objects.
    MemoryTier(Options const& options, DiskTier& behind, Numbers& all_numbers, Invalidations& all_invalidations);
    ~MemoryTier();

    Key key(std::string_view text) const { return {text, fingerprint_of(text)}; }
    Fingerprint fingerprint_of(std::string_view key) const { return fingerprint(key, seed_); }
    /// The shard of all keys of the URL with this fingerprint.
    Shard& shard(Fingerprint primary) const { return *shards_[number(primary)]; }
    Shard::Found find(Shard const& shard, std::string_view key) const REQUIRES(shard.mutex) {
        if (is_parts_text(key) && !shard.has_parts()) return {};   // spares the fingerprint
        return shard.find(fingerprint_of(key), key);
    }
    /// The object with exactly this key, of a URL with this fingerprint; nullptr when there is none.
    store::ObjectPtr find(std::string_view key, Fingerprint primary) const;
    /// Removes the parts of a URL without variants; nullptr when there are none.
    store::ObjectPtr drop_parts(Shard& shard, std::string_view url, policy::Left why) const REQUIRES(shard.mutex);

    // ---- room: eviction.cpp ----
    enum class Purpose : std::uint8_t {
        storing,
        window   // the window of a body sent to several readers: without it all of them would be aborted
    };
    /// Takes bytes from the budget, evicting as needed. False when that fails; then nothing is taken.
    bool reserve(Bytes bytes, Fingerprint near, Purpose purpose = Purpose::storing);
    /// Takes bytes for a growing body, within the fill share.
    bool reserve_growing(Bytes bytes, Fingerprint near);
    /// False when it is longer than object_max, or when the cache is full and the policy rates it lower than its
    /// victims. Call before anything is reserved; `growing` body bytes are still to be received.
    bool admits(store::Object::Parts const&, Fingerprint primary, Bytes growing = 0);
    /// A charged object, or nullptr when the budget has no room for it.
    store::ObjectPtr make_object(store::Object::Parts const& parts, Fingerprint primary);
    /// A body that may grow within the fill share.
    store::BodyPtr make_body(std::optional<Bytes> expected);
    /// Room in a growing body; empty when the fill share or the budget is used up. A body whose source takes its
    /// bytes, which frees them again, leaves half of the fill share to other bodies, unless it is alone.
    std::span<char> room(store::Body& body, Fingerprint near);
    /// Bytes neither stored nor being received: nearly all belong to evicted objects that are still being read.
    Bytes pinned() const;
    /// True when newcomers are rejected because readers hold memory, and this object is neither stored nor about to
    /// be: its reader should release it. Costs an atomic load while memory is not short.
    bool wants_back(store::Object const& object);
    /// Call after an operation under the lock of this URL's shard: bytes, index, policy or marks may have changed.
    /// Growth is charged before anything else. If it needs room, objects are evicted, and the lock is released
    /// meanwhile.
    void settle(Shard& shard, Fingerprint primary) REQUIRES(shard.mutex);
    /// settle() for operations that only removed objects.
    void note_bytes(Shard& shard, Fingerprint primary) REQUIRES(shard.mutex);

    /// True when a client was sent a newer response of its URL, which may not be stored yet.
    bool is_superseded(Shard const& shard, store::Object const& object) const REQUIRES(shard.mutex);

    // ---- operation ----
    Bytes object_max() const { return object_max_.load(std::memory_order_relaxed); }
    store::Budget& budget() { return budget_; }
    NegativeCache& failures() { return failures_; }
    NegativeCache const& failures() const { return failures_; }
    Numbers& numbers;
    Invalidations& invalidations;
    Stats stats() const;

    /// The position of walk(), which needs no list of all objects.
    struct Walk {
        std::size_t shard = 0;
        policy::Slot slot = 0;
    };
    static constexpr policy::Slot walk_step = 128;
    /// Adds the objects of the next `walk_step` slots to `into`, including markers and parts; false at the end. Holds
    /// one shard's mutex meanwhile. Objects inserted, removed or moved during a walk may be returned once, twice or
    /// not at all.
    bool walk(Walk&, std::vector<store::ObjectPtr>& into) const;
    /// The primary keys of fetches in progress; a key may occur several times.
    std::vector<std::string> fetches() const;

    /// Returns when each thread that holds the mutex of a shard now has released it.
    void pass_locks() const;
    /// The minimum size for a reload: below it the shards, fixed at the start, would take all memory for themselves.
    Bytes least_size() const;
    /// Removes everything, also negative entries, and prevents fetches in progress from being stored: another process may have
    /// removed any of it. Holds each shard's mutex until the shard is empty.
    void forget_all();
    /// Applies new limits and another policy to a running cache; contents stay. The number of shards does not change.
    void reconfigure(Options const& options);

private:
    friend class Restoration;
    friend class ValueWalk;
    static constexpr unsigned number_shift = 52;   // the upper bits select the shard, for up to 4,096 of them
    std::size_t number(Fingerprint primary) const { return (primary >> number_shift) % shards_.size(); }
    Fingerprint primary_of(store::Object const&) const;
    /// Gives one shard a policy that knows its objects' order only: see Shard::set_policy().
    void renew_policy(std::size_t index, std::span<Fingerprint const> most_valuable = {});
    bool is_pinned_full() const;
    bool is_filling_full() const;
    std::size_t shard_to_shrink(Fingerprint near) const;
    bool evict_one(Fingerprint near, Shard::Held held);
    bool evict_from(std::size_t index, Shard::Held held);
    bool charge_metadata(Shard& shard) REQUIRES(shard.mutex);
    void set_charged(Shard& shard, Bytes) REQUIRES(shard.mutex);

    DiskTier& behind_;
    std::uint64_t seed_;
    std::atomic<Bytes> object_max_;
    store::Budget budget_;
    std::vector<std::unique_ptr<Shard>> shards_;
    std::unique_ptr<std::atomic<Bytes>[]> shard_bytes_;   // a copy, to find the fullest shard without its lock
    std::atomic<Bytes> metadata_{0};                      // the sum of Shard::charged
    std::atomic<bool> memory_is_short_{false};            // a newcomer was rejected because readers hold memory
    std::atomic<std::uint64_t> evictions_{0};
    std::atomic<std::uint64_t> refused_for_room_{0};
    std::atomic<std::uint64_t> not_admitted_{0};
    mutable Mutex policy_mutex_;
    std::string policy_ GUARDED_BY(policy_mutex_);
    NegativeCache failures_;
};

}   // namespace garner::cache
