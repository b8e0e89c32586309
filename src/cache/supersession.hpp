// Supersession: once a newer response was sent, older ones in memory, on disk or in progress are not served. The
// guarantees are in docs/design/consistency.md.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cache/fill.hpp"
#include "cache/memory_tier.hpp"

namespace garner::cache {

/// Thread-safe. Functions that need the mutex of the URL's shard are annotated.
class Supersession {
public:
    Supersession(MemoryTier& memory, DiskTier& disk) : memory_(memory), disk_(disk) {}

    // ---- numbers ----

    /// Numbers events, fetches and responses in their order.
    /// A thread that draws a higher number sees what the thread with a lower one had done before.
    std::uint64_t next() { return number_.fetch_add(1, std::memory_order_acq_rel) + 1; }
    std::uint64_t last() const { return number_.load(std::memory_order_relaxed); }
    /// Makes all further numbers higher than those of the disk's records.
    void begin_behind(store::DiskStore const& disk);
    /// Makes all further numbers higher than this one.
    void begin_behind(std::uint64_t number);

    // ---- events ----

    /// Call before `response` (under the key of its whole), fetched by `by` and possibly stored later, is sent to a
    /// client. Removes from disk the responses it replaces under the URL: whole, parts, and with another Vary the
    /// variants. `known_parts`: the parts on disk, if the response is a part itself. True when a record may have
    /// existed: see DiskStore::settled().
    bool give(Fill& by, store::Object::Parts const& response, http::VaryNames const& vary, store::ObjectPtr const& known_parts);
    /// Like give(), but in memory only, for a response that will not be stored; a fetch begun before cannot restore
    /// the removed ones.
    void give_unstored(Fill& by, store::Object const& newer, http::VaryNames const& vary);
    /// A HEAD response was sent, under the key of the variant that it selects. Fetches in progress of another
    /// representation under the URL are not stored, and no request joins them. `by`: the fetch that received it, if
    /// any.
    void tell(Key const&, store::Object const& head, http::VaryNames const& vary, Fill const* by);
    /// Removes the URL with all its variants and its negative entry, and prevents fetches in progress from being
    /// stored. True when anything was removed. `but` is the fetch that caused the purge: it may be stored.
    bool purge(Key const&, Fill const* but);
    /// Removes this object unless it was replaced already; the URL's other variants stay.
    void forget(Key const&, store::Object const&);
    /// Removes an object that a hard invalidation has outdated.
    void discard(Shard& shard, Fingerprint primary, Shard::Found there, std::vector<store::ObjectPtr>& gone) REQUIRES(shard.mutex);
    /// A fetch ends with a truncated response, part of which may have been sent. Older objects are then served
    /// without validation only if the origin is unreachable.
    void outdate_older(Fill const& fill);
    /// A fetch received a head that contradicts a HEAD response sent meanwhile. Their order is unknown, so no request
    /// joins the fetch, and older objects are removed.
    void detach_contradicted(Fill&);

    // ---- disk reads of a fetch ----

    /// Marks the start of a disk read; is_overtaken() then reports whether the URL was purged or replaced since.
    void begin_to_read(Fill& fill);
    bool is_overtaken(Fill const& fill) const;

    // ---- under the lock ----

    /// A response under `text`, the key of the whole; `names`: the names of its Vary, as http::to_string.
    struct Newcomer {
        Fill const& by;
        store::Object const& newer;
        std::string_view text;
        std::string names;
        store::ObjectPtr known_parts = nullptr;   // the parts on disk; nullptr: none, or unknown
        UrlHistory::Response response() const { return {newer, text, names}; }
    };
    /// Removes older responses from memory, and detaches older fetches.
    void drop_older(Shard& shard, Newcomer const&, std::vector<store::ObjectPtr>& gone) REQUIRES(shard.mutex);
    /// Detaches fetches begun before: they are not stored, and no request joins them. Followers continue to read.
    static void detach_older(Shard& shard, Newcomer const&) REQUIRES(shard.mutex);
    /// Whether the fetch may store its response.
    static bool may_store(Shard const& shard, Fill const&) REQUIRES(shard.mutex);
    static bool contradicts_told(Shard const& shard, Newcomer const&) REQUIRES(shard.mutex);
    static bool contradicts_given(Shard const& shard, Newcomer const&) REQUIRES(shard.mutex);
    static bool is_unmarked(Shard const& shard, Fill const&) REQUIRES(shard.mutex);
    /// The record of the URL on disk changed: a disk read in progress has read an outdated one.
    void note_change_on_disk(Shard& shard, Fingerprint primary) REQUIRES(shard.mutex);
    bool is_overtaken(Shard const& shard, Fill const& fill) const REQUIRES(shard.mutex);

private:
    template <class IsSuperseded>
    static bool detach_if(Shard& shard, Fingerprint primary, IsSuperseded is_superseded) REQUIRES(shard.mutex);
    void drop_different(Shard& shard, store::Object const&, std::vector<store::ObjectPtr>& gone) REQUIRES(shard.mutex);
    bool forget_older(Shard& shard, Newcomer const&) REQUIRES(shard.mutex);
    void outdate(std::string_view text, Fingerprint primary, store::Object const& newer);
    void drop_other_variants(Fill const&, store::Object const& newer);

    MemoryTier& memory_;
    DiskTier& disk_;
    std::atomic<std::uint64_t> number_{0};
};

}   // namespace garner::cache
