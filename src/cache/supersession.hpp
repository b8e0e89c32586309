// What a newer answer leaves of older ones: nothing that could answer in its place, in memory, on disk, or still on its way.
// docs/design/consistency.md has the promises.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cache/fill.hpp"
#include "cache/memory_tier.hpp"

namespace garner::cache {

/// Thread-safe. What needs the mutex of the URL's shard says so.
class Supersession {
public:
    Supersession(MemoryTier& memory, DiskTier& disk) : memory_(memory), disk_(disk) {}

    // ---- numbers ----

    /// Of events, fetches and responses, in their order.
    std::uint64_t next() { return number_.fetch_add(1, std::memory_order_relaxed) + 1; }
    /// What is numbered from now on is newer than all that the disk has.
    void begin_behind(store::DiskStore const& disk);

    // ---- events ----

    /// Somebody is about to be given `response`, under the key of its whole, which `by` has fetched and may still store: what it
    /// replaces under the URL, the whole or the parts, with other Vary the variants, is not found on disk any more.
    /// `known_parts`: what the disk has of them, where the response is a part itself. True when something may have been there: see
    /// DiskStore::settled().
    bool give(Fill& by, store::Object::Parts const& response, http::VaryNames const& vary, store::ObjectPtr const& known_parts);
    /// As give(), in memory, of what will not be stored; nor does a fetch that began before bring it back.
    void give_unstored(Fill& by, store::Object const& newer, http::VaryNames const& vary);
    /// Somebody was given this head as the answer to a HEAD, under the key of the variant that it selects: what is being
    /// fetched under the URL, and is or turns out to be of another representation, is not stored, and nobody joins it.
    /// `by`: the fetch that brought it, if it is one.
    void tell(Key const&, store::Object const& head, http::VaryNames const& vary, Fill const* by);
    /// Removes the URL with all its variants and its remembered failure, and keeps what is being fetched from being stored. True
    /// when something was there. `but` is the fetch that the purge is the consequence of: it may be stored.
    bool purge(Key const&, Fill const* but);
    /// Removes this object, unless something else has taken its place already; the URL's other variants stay.
    void forget(Key const&, store::Object const&);
    /// The fetch ends without a whole response, and somebody may have been given a beginning of it: what is older than that
    /// answers without the origin only on a day when there is no reaching it.
    void outdate_older(Fill const& fill);
    /// Its head has come, and what somebody was told by a HEAD meanwhile is of something else. Which of the two is newer nobody
    /// knows: neither that is joined, nor what is older than that stays.
    void detach_contradicted(Fill&);

    // ---- who reads the disk for a fetch ----

    /// They hear afterwards whether the URL was purged meanwhile, or something else stored.
    void begin_to_read(Fill& fill);
    bool is_overtaken(Fill const& fill) const;

    // ---- under the lock ----

    /// A response under `text`, the key of the whole; `names`: of its Vary, as http::to_string.
    struct Newcomer {
        Fill const& by;
        store::Object const& newer;
        std::string_view text;
        std::string names;
        store::ObjectPtr known_parts = nullptr;   // the parts that the disk has; nullptr: none, or not known
        UrlHistory::Response response() const { return {newer, text, names}; }
    };
    /// Older ones leave memory; and what is still on its way.
    void drop_older(Shard& shard, Newcomer const&, std::vector<store::ObjectPtr>& gone) REQUIRES(shard.mutex);
    /// Fetches that began before: they neither store nor lead anybody any more. Those who follow them read on.
    static void detach_older(Shard& shard, Newcomer const&) REQUIRES(shard.mutex);
    /// The fetch may store what it brings.
    static bool may_store(Shard const& shard, Fill const&) REQUIRES(shard.mutex);
    static bool contradicts_told(Shard const& shard, Newcomer const&) REQUIRES(shard.mutex);
    static bool contradicts_given(Shard const& shard, Newcomer const&) REQUIRES(shard.mutex);
    static bool is_unmarked(Shard const& shard, Fill const&) REQUIRES(shard.mutex);
    /// The disk has something else under the URL by now: who reads it meanwhile has read what is over.
    void note_change_on_disk(Shard& shard, Fingerprint primary) REQUIRES(shard.mutex);
    bool is_overtaken(Shard const& shard, Fill const& fill) const REQUIRES(shard.mutex);

private:
    template <class IsOver>
    static bool detach_if(Shard& shard, Fingerprint primary, IsOver is_over) REQUIRES(shard.mutex);
    void drop_different(Shard& shard, store::Object const&, std::vector<store::ObjectPtr>& gone) REQUIRES(shard.mutex);
    bool forget_older(Shard& shard, Newcomer const&) REQUIRES(shard.mutex);
    void outdate(std::string_view text, Fingerprint primary, store::Object const& newer);
    void drop_other_variants(Fill const&, store::Object const& newer);

    MemoryTier& memory_;
    DiskTier& disk_;
    std::atomic<std::uint64_t> number_{0};
};

}  // namespace garner::cache
