// One shard of the memory tier: an index from keys to objects, their replacement policy, and the fetches in progress.
#pragma once
#include <array>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cache/fill.hpp"
#include "policy/policy.hpp"
#include "store/object.hpp"

namespace garner::cache {

/// Open addressing over dense slots. Not thread-safe: `mutex` is held around every call, for one lookup or one
/// eviction step, never together with another shard's.
class Shard {
public:
    Shard(std::unique_ptr<policy::ReplacementPolicy> policy, std::uint32_t variants_per_url)
        : policy_(std::move(policy)), variants_max_(variants_per_url), table_(16, policy::no_slot) {}

    std::mutex mutex;

    struct Found {
        policy::Slot slot = policy::no_slot;
        store::Object const* object = nullptr;
        explicit operator bool() const { return object != nullptr; }
    };
    /// The object with exactly this key. Moves nothing in the replacement order.
    Found find(Fingerprint, std::string_view key) const;

    policy::ReplacementPolicy& policy() { return *policy_; }
    void set_policy(std::unique_ptr<policy::ReplacementPolicy> policy);

    /// Puts the object in place of the one with its key, if any; that one is returned.
    store::ObjectPtr put(Fingerprint, store::ObjectPtr object);
    /// The same object with a new head: keeps its place in the replacement order.
    store::ObjectPtr freshen(policy::Slot, store::ObjectPtr object);
    store::ObjectPtr remove(policy::Slot, policy::Left);
    /// Removes the next to leave; nullptr when empty.
    store::ObjectPtr evict();

    /// Notes that `variant` is one of the URL's; the oldest leaves beyond the limit and is returned.
    store::ObjectPtr add_variant(Fingerprint primary, Fingerprint variant);
    /// Removes all variants of the URL.
    void drop_variants(Fingerprint primary, std::vector<store::ObjectPtr>& dropped);
    std::size_t variants(Fingerprint primary) const;
    /// Those of them that are there still, the oldest first.
    std::vector<store::Object const*> variants_of(Fingerprint primary) const;

    void mark_pass(Fingerprint primary, std::int64_t until_seconds);
    void clear_pass(Fingerprint primary);
    bool passes(Fingerprint primary, std::int64_t now_seconds) const { return passes_until(primary) > now_seconds; }
    /// Unix seconds; 0 without a mark.
    std::int64_t passes_until(Fingerprint primary) const;

    /// No refresh of the URL begins before.
    void pause_refresh(Fingerprint primary, std::int64_t until_seconds);
    bool refresh_pauses(Fingerprint primary, std::int64_t now_seconds) const;

    /// Fetches in progress by primary fingerprint.
    std::unordered_multimap<Fingerprint, FillPtr> fills;

    Bytes bytes() const { return bytes_; }
    std::size_t objects() const { return objects_; }
    Bytes metadata_bytes() const;
    /// What an entry costs beside its object: a slot, two table places, and the policy's arrays.
    static constexpr Bytes entry_cost = 16 + 2 * 4 + 24;

private:
    struct Entry {
        Fingerprint fingerprint = 0;
        store::ObjectPtr object;
    };
    struct PassMark {
        Fingerprint primary = 0;
        std::int64_t until = 0;
    };
    static constexpr std::size_t chunk = 256;
    Entry& entry(policy::Slot slot) { return chunks_[slot / chunk][slot % chunk]; }
    Entry const& entry(policy::Slot slot) const { return chunks_[slot / chunk][slot % chunk]; }
    std::size_t home(Fingerprint fingerprint) const { return (fingerprint >> 8) & (table_.size() - 1); }
    policy::Slot find_fingerprint(Fingerprint) const;
    policy::Slot take_slot();
    void insert_in_table(policy::Slot);
    void erase_from_table(policy::Slot);
    void grow_table();

    std::unique_ptr<policy::ReplacementPolicy> policy_;
    std::uint32_t variants_max_;
    std::vector<policy::Slot> table_;
    std::vector<std::unique_ptr<Entry[]>> chunks_;
    std::vector<policy::Slot> free_;
    policy::Slot used_slots_ = 0;
    std::size_t objects_ = 0;
    Bytes bytes_ = 0;
    std::unordered_map<Fingerprint, std::vector<Fingerprint>> variants_;
    std::array<PassMark, 256> pass_marks_{};
    std::array<PassMark, 256> refresh_marks_{};
};

}  // namespace garner::cache
