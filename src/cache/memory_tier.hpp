// The memory tier: objects in shards, one budget for all, and room for what comes at the cost of what is worth less.
#pragma once
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/disk_tier.hpp"
#include "cache/key.hpp"
#include "cache/negative.hpp"
#include "cache/options.hpp"
#include "cache/shard.hpp"
#include "store/budget.hpp"
#include "store/object.hpp"
#include "util/mutex.hpp"

namespace garner::cache {

struct Stats {
    Bytes capacity = 0;
    std::string policy;          // as it was asked for
    Bytes used = 0;              // everything charged
    Bytes cached = 0;            // in the index
    Bytes filling = 0;           // bodies being received
    Bytes pinned = 0;            // see MemoryTier::pinned()
    std::uint64_t objects = 0;
    std::uint64_t fills = 0;
    std::uint64_t followers = 0;          // requests that wait for those fills or read them
    std::uint64_t evictions = 0;
    std::uint64_t refused_for_room = 0;   // objects and bodies the budget had no room for
    std::uint64_t not_admitted = 0;       // objects that the policy held worth less than what would have left for them
    Bytes metadata = 0;          // index, policy, marks, remembered failures
    std::uint64_t failures = 0;           // of fetches, remembered
};

/// Thread-safe. What needs a shard's mutex says so; nothing takes two of them.
class MemoryTier {
public:
    /// `behind`: takes what is evicted.
    MemoryTier(Options const& options, DiskTier& behind);
    ~MemoryTier();

    Key key(std::string_view text) const { return {text, fingerprint_of(text)}; }
    Fingerprint fingerprint_of(std::string_view key) const { return fingerprint(key, seed_); }
    /// Of all keys of the URL with this fingerprint.
    Shard& shard(Fingerprint primary) const { return *shards_[number(primary)]; }
    Shard::Found find(Shard const& shard, std::string_view key) const REQUIRES(shard.mutex) {
        return shard.find(fingerprint_of(key), key);
    }
    /// The object with exactly this key, of a URL with this fingerprint; nullptr when there is none.
    store::ObjectPtr find(std::string_view key, Fingerprint primary) const;
    /// Removes the parts of a URL without variants; nullptr when there are none.
    store::ObjectPtr drop_parts(Shard& shard, std::string_view url, policy::Left why) const REQUIRES(shard.mutex);

    // ---- room: eviction.cpp ----
    enum class Purpose : std::uint8_t {
        storing,
        window   // the buffer of a body that is passed on to several readers: without it all of them would be cut off
    };
    /// Takes bytes from the budget, evicting as needed. False when they cannot be had; nothing is taken then.
    bool reserve(Bytes bytes, Fingerprint near, Purpose purpose = Purpose::storing);
    /// The same for a growing body, within the fill share.
    bool reserve_growing(Bytes bytes, Fingerprint near);
    /// False when it is longer than object_max, or the cache is full and the policy holds the newcomer worth less than what
    /// would have to leave for it. To be asked before it takes anything; `growing` bytes of a body are still to come.
    bool admits(store::Object::Parts const&, Fingerprint primary, Bytes growing = 0);
    /// A charged object, or nullptr when the budget has no room for it.
    store::ObjectPtr make_object(store::Object::Parts parts, Fingerprint primary);
    /// A body that may grow within the fill share.
    store::BodyPtr make_body(std::optional<Bytes> expected);
    /// Room in a growing body; empty when the fill share or the budget is used up. One whose source takes what it has, which
    /// makes room again, leaves half of the share to those that have none yet, unless it is alone.
    std::span<char> room(store::Body& body, Fingerprint near);
    /// Bytes that are neither stored nor being received: nearly all belong to objects that have left and are still read.
    Bytes pinned() const;
    /// True when newcomers are refused because readers hold memory, and this object is neither stored nor about to be: its reader
    /// should let it go. Costs a load while memory is not short.
    bool wants_back(store::Object const& object);
    /// What was done under a shard's lock, of this URL, may have changed its bytes, its index, its policy or its marks. What
    /// they took is charged before anything else is; where that needs room, others leave for it, and the lock is let go of
    /// meanwhile.
    void settle(Shard& shard, Fingerprint primary) REQUIRES(shard.mutex);
    /// The same where only objects left.
    void note_bytes(Shard& shard, Fingerprint primary) REQUIRES(shard.mutex);

    /// Somebody has been given a newer response of its URL, which may not be stored yet.
    bool is_over(Shard const& shard, store::Object const& object) const REQUIRES(shard.mutex);

    // ---- operation ----
    Bytes object_max() const { return object_max_.load(std::memory_order_relaxed); }
    store::Budget& budget() { return budget_; }
    NegativeCache& failures() { return failures_; }
    NegativeCache const& failures() const { return failures_; }
    Stats stats() const;

    /// Where walk() is. A walk costs no list of all objects.
    struct Walk {
        std::size_t shard = 0;
        policy::Slot slot = 0;
    };
    static constexpr policy::Slot walk_step = 128;
    /// Adds the objects of the next `walk_step` places to `into`, markers and parts among them; false at the end. One
    /// shard's mutex is held meanwhile. What comes, leaves or moves during a walk may be met once, twice or not at all.
    bool walk(Walk&, std::vector<store::ObjectPtr>& into) const;
    /// The primary keys of what is being fetched now, one or more times each.
    std::vector<std::string> fetches() const;

    /// A reload may not give less: the shards, made at the start, would take it all for themselves.
    Bytes least_size() const;
    /// New limits and another policy for a running cache; contents stay. The number of shards does not change.
    void reconfigure(Options const& options);

private:
    static constexpr unsigned number_shift = 52;   // the upper bits choose the shard, for 4,096 of them
    std::size_t number(Fingerprint primary) const { return (primary >> number_shift) % shards_.size(); }
    Fingerprint primary_of(store::Object const&) const;
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
    std::unique_ptr<std::atomic<Bytes>[]> shard_bytes_;   // a copy for choosing the fullest without its lock
    std::atomic<Bytes> metadata_{0};      // the sum of Shard::charged
    std::atomic<bool> memory_is_short_{false};   // a newcomer was refused because readers hold memory
    std::atomic<std::uint64_t> evictions_{0};
    std::atomic<std::uint64_t> refused_for_room_{0};
    std::atomic<std::uint64_t> not_admitted_{0};
    mutable Mutex policy_mutex_;
    std::string policy_ GUARDED_BY(policy_mutex_);
    NegativeCache failures_;
};

}  // namespace garner::cache
