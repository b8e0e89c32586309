// One shard of the memory tier: an index from keys to objects, their replacement policy, and the fetches in progress.
#pragma once
#include <array>
#include <boost/container/small_vector.hpp>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cache/fill.hpp"
#include "cache/key.hpp"
#include "cache/touched_urls.hpp"
#include "cache/url_history.hpp"
#include "policy/policy.hpp"
#include "store/object.hpp"
#include "util/mutex.hpp"
#include "util/recycled_memory.hpp"

namespace garner::cache {

/// Open addressing over dense slots. Callers hold `mutex` for one lookup or one eviction step, never together with
/// another shard's.
class Shard {
public:
    explicit Shard(std::unique_ptr<policy::ReplacementPolicy> policy)
        : policy_(std::move(policy)), table_(least_table, policy::no_slot) {}

    Mutex mutex;

    struct Found {
        policy::Slot slot = policy::no_slot;
        store::Object const* object = nullptr;
        explicit operator bool() const { return object != nullptr; }
    };
    /// The object with exactly this key. Does not change the replacement order.
    Found find(Fingerprint, std::string_view key) const REQUIRES(mutex);

    policy::ReplacementPolicy& policy() REQUIRES(mutex) { return *policy_; }
    /// Replaces the policy. The new one gets the objects in the eviction order of the old one: the next victim stays
    /// first, unless the new policy weighs more than recency. The index is shrunk to fit: afterwards the slots 0 to objects() - 1
    /// are in eviction order. `most_valuable`: these objects, the most valuable first, become the next victims, the last one first.
    void set_policy(std::unique_ptr<policy::ReplacementPolicy> policy, std::span<Fingerprint const> most_valuable = {})
        REQUIRES(mutex);

    /// Inserts the object, or replaces and returns the one with its key.
    store::ObjectPtr put(Fingerprint, store::ObjectPtr object) REQUIRES(mutex);
    /// Replaces an object by itself with a new head, at an unchanged place in the replacement order.
    store::ObjectPtr freshen(policy::Slot, store::ObjectPtr object) REQUIRES(mutex);
    store::ObjectPtr remove(policy::Slot, policy::Left) REQUIRES(mutex);
    /// How to treat a victim that is being read: its eviction frees no memory yet.
    enum class Held : std::uint8_t {
        evicted,
        spared   // counts as used, and the next victim is tried
    };
    /// Evicts the next victim; nullptr when the shard is empty, or the next 64 victims are spared.
    store::ObjectPtr evict(Held held = Held::evicted) REQUIRES(mutex);

    /// Adds the objects in these slots to `into`. False when there are no more slots after them.
    bool collect(policy::Slot first, policy::Slot count, std::vector<store::ObjectPtr>& into) const REQUIRES(mutex);

    /// Adds `variant` to the URL's list; beyond the limit the oldest one is removed and returned.
    store::ObjectPtr add_variant(Fingerprint primary, Fingerprint variant) REQUIRES(mutex);
    /// Removes all variants of the URL.
    void drop_variants(Fingerprint primary, std::vector<store::ObjectPtr>& dropped) REQUIRES(mutex);
    std::size_t variants(Fingerprint primary) const REQUIRES(mutex);
    /// The URL's variants still in the index, oldest first.
    std::vector<store::Object const*> variants_of(Fingerprint primary) const REQUIRES(mutex);

    /// `reason`: a literal. True when metadata_bytes() has grown.
    bool mark_hit_for_pass(Fingerprint primary, std::int64_t until_seconds, char const* reason) REQUIRES(mutex) {
        return hit_for_pass_marks_.set(primary, until_seconds, reason);
    }
    void clear_hit_for_pass(Fingerprint primary) REQUIRES(mutex) { hit_for_pass_marks_.clear(primary); }
    bool is_hit_for_pass(Fingerprint primary, std::int64_t now_seconds) const REQUIRES(mutex) {
        return hit_for_pass_until(primary) > now_seconds;
    }
    /// Unix seconds; 0 without a mark.
    std::int64_t hit_for_pass_until(Fingerprint primary) const REQUIRES(mutex) { return hit_for_pass_marks_.until(primary); }
    /// Why the URL was marked; empty without a mark.
    char const* hit_for_pass_reason(Fingerprint primary) const REQUIRES(mutex) { return hit_for_pass_marks_.reason(primary); }

    /// Blocks refreshes of the URL until then.
    void pause_refresh(Fingerprint primary, std::int64_t until_seconds) REQUIRES(mutex) {
        refresh_marks_.set(primary, until_seconds, "");
    }
    bool refresh_pauses(Fingerprint primary, std::int64_t now_seconds) const REQUIRES(mutex) {
        return refresh_marks_.until(primary) > now_seconds;
    }

    /// The fetches in progress for one URL, and the responses sent since the oldest of them began.
    struct Url {
        boost::container::small_vector<FillPtr, 2> fills;
        UrlHistory history;
    };
    using Urls = std::unordered_map<Fingerprint, Url, std::hash<Fingerprint>, std::equal_to<Fingerprint>,
                                    RecyclingAllocator<std::pair<Fingerprint const, Url>>>;
    /// By primary fingerprint; only URLs with fetches in progress.
    Urls urls GUARDED_BY(mutex);
    /// nullptr: no fetch in progress.
    Url* url(Fingerprint primary) REQUIRES(mutex) {
        auto const found = urls.find(primary);
        return found == urls.end() ? nullptr : &found->second;
    }
    Url const* url(Fingerprint primary) const REQUIRES(mutex) {
        auto const found = urls.find(primary);
        return found == urls.end() ? nullptr : &found->second;
    }
    void add_fill(FillPtr fill) REQUIRES(mutex);
    /// The last removal ends the URL's history. True when the fill was registered.
    bool remove_fill(Fill const& fill) REQUIRES(mutex);
    std::span<FillPtr const> fills(Fingerprint primary) const REQUIRES(mutex) {
        auto const* of_url = url(primary);
        return of_url ? std::span<FillPtr const>(of_url->fills) : std::span<FillPtr const>();
    }

    /// Most slots are free: set_policy() would release their memory.
    bool is_sparse() const REQUIRES(mutex) { return used_slots_ > 2 * objects_; }
    Bytes bytes() const REQUIRES(mutex) { return bytes_; }
    std::size_t objects() const REQUIRES(mutex) { return objects_; }
    /// False: a lookup of any parts_text() finds nothing.
    bool has_parts() const REQUIRES(mutex) { return parts_ > 0; }
    /// Heap memory except its objects, and the shard itself: index, policy, variant lists, marks.
    Bytes metadata_bytes() const REQUIRES(mutex);
    /// The part of metadata_bytes() charged to the budget.
    Bytes charged GUARDED_BY(mutex) = 0;
    TouchedUrls touched GUARDED_BY(mutex);   // see Restoration

private:
    struct Entry {
        Fingerprint fingerprint = 0;   // in a free slot: the next free one
        store::ObjectPtr object;
    };
    struct Mark {
        Fingerprint primary = 0;
        std::int64_t until = 0;
        char const* reason = "";
    };
    /// Allocated with the first mark. Each URL maps to one place, where another URL may overwrite its mark.
    struct Marks {
        using Places = std::array<Mark, 256>;
        std::unique_ptr<Places> places;
        /// True for the first one.
        bool set(Fingerprint primary, std::int64_t until_seconds, char const* reason);
        void clear(Fingerprint primary);
        /// 0 without a mark.
        std::int64_t until(Fingerprint primary) const;
        /// Empty without a mark.
        char const* reason(Fingerprint primary) const;
        Bytes bytes() const { return places ? heap_block(sizeof(Places)) : 0; }
    };
    using VariantLists = std::unordered_map<Fingerprint, std::vector<Fingerprint>>;
    static constexpr std::size_t chunk = 256;
    static constexpr std::size_t least_table = 16;
    static constexpr std::size_t variants_max = 64;   // of one URL
    Entry& entry(policy::Slot slot) REQUIRES(mutex) { return chunks_[slot / chunk][slot % chunk]; }
    Entry const& entry(policy::Slot slot) const REQUIRES(mutex) { return chunks_[slot / chunk][slot % chunk]; }
    std::size_t home(Fingerprint fingerprint) const REQUIRES(mutex) { return (fingerprint >> 8) & (table_.size() - 1); }
    policy::Slot find_fingerprint(Fingerprint) const REQUIRES(mutex);
    policy::Slot take_slot() REQUIRES(mutex);
    void insert_in_table(policy::Slot) REQUIRES(mutex);
    void erase_from_table(policy::Slot) REQUIRES(mutex);
    void grow_table() REQUIRES(mutex);
    static Bytes bytes_of(std::vector<Fingerprint> const& list);

    std::unique_ptr<policy::ReplacementPolicy> policy_ GUARDED_BY(mutex);
    std::vector<policy::Slot> table_ GUARDED_BY(mutex);
    std::vector<std::unique_ptr<Entry[]>> chunks_ GUARDED_BY(mutex);
    policy::Slot free_ GUARDED_BY(mutex) = policy::no_slot;   // head of the free list
    policy::Slot used_slots_ GUARDED_BY(mutex) = 0;
    std::size_t objects_ GUARDED_BY(mutex) = 0;
    std::size_t parts_ GUARDED_BY(mutex) = 0;   // the objects with a parts_text()
    Bytes bytes_ GUARDED_BY(mutex) = 0;
    VariantLists variants_ GUARDED_BY(mutex);
    Bytes variants_bytes_ GUARDED_BY(mutex) = 0;   // the lists and the map that holds them
    Marks hit_for_pass_marks_ GUARDED_BY(mutex);
    Marks refresh_marks_ GUARDED_BY(mutex);
};

}   // namespace garner::cache
