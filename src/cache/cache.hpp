// The cache, shared by all workers: a memory tier and an optional disk tier behind it.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>

#include "cache/disk_tier.hpp"
#include "cache/fetches.hpp"
#include "cache/lookup.hpp"
#include "cache/memory_tier.hpp"
#include "cache/options.hpp"
#include "cache/supersession.hpp"
#include "cache/wanted.hpp"
#include "http/cacheability.hpp"
#include "net/asio.hpp"

namespace garner::cache {

/// Thread-safe. A lookup holds one shard's mutex for a probe and the policy's hit update. It allocates nothing on a
/// hit of a URL without variants.
class Cache {
public:
    explicit Cache(Options const& options) : memory_(options, disk_, numbers, invalidations), fetches_(memory_, disk_) {}
    /// The disk tier, or nullptr. Another one may follow at any time. Afterwards no thread works on the former one under the lock
    /// of a shard: it gets no more removals. Coroutines that read from it, and fills that it has, keep it. Waits for each lock for
    /// a moment.
    void set_disk(std::shared_ptr<store::DiskStore> disk);
    Key key(std::string_view text) const { return memory_.key(text); }

    /// Looks in memory: the whole object, or for a range request also parts that can answer it.
    Lookup lookup(Query const&);
    /// Continues a lookup whose result may be on disk, or still with a former process. Loads the object into memory if there is
    /// room; followers of `found.lead` then repeat the lookup. If the disk has nothing, `found` is unchanged. For an object served
    /// from disk only, `lead` is kept if it must be validated. If the object is replaced during the read, the lookup is repeated a
    /// few times.
    net::awaitable<void> look_on_disk(Lookup& found, Query const&, net::Executor);
    /// The result that lookup() would give, with all that is known about the URL; takes no lease and counts no use.
    /// With `on_disk` it also reads the disk if memory has nothing and no fetch is in progress. That read blocks, so
    /// never call it on a worker.
    Peek peek(Query const&, bool on_disk = false) const;
    /// Whether a plain GET without header fields would get this URL fresh for at least `margin`: a complete response
    /// that is no error. A URL whose responses vary counts only if they vary on Accept-Encoding alone, and then any
    /// variant counts: the query does not say which encodings are accepted. Counts no use; allocates nothing for a
    /// URL without variants.
    bool would_serve(Key const&, WallTime now, milliseconds margin) const;
    /// The stored parts selected by this request, whatever their age, in memory; nullptr when there are none.
    store::ObjectPtr parts(Query const&) const;
    /// Parts that only the disk has and that lack one run of bytes. Loads them into memory if there is room for the
    /// whole.
    net::awaitable<store::ObjectPtr> parts_from_disk(Query const&, net::Executor);

    /// A lease for a request whose lookup gave none: stores if nothing newer was received; other requests do not
    /// join.
    FillLease lease(Key const& key, store::ObjectPtr stale) { return fetches_.start_alone(key, std::move(stale)); }
    /// Removes the URL with all its variants and its negative entry, and prevents fetches in progress from being
    /// stored. True when anything was removed. `but` is the fetch that caused the purge: it may be stored. For an
    /// accelerator, with and without TLS.
    bool purge(Key const& key, Fill const* but = nullptr);
    /// Purges a URL in normal form from every partition.
    bool purge(std::string_view url);
    /// Accepts an invalidation: later requests get none of the stored responses that it concerns, or get them as stale ones. Wait
    /// for the disk if it must survive the process: see DiskTier::settled().
    void invalidate(Invalidation const&);
    /// Removes this object unless it was replaced already; the URL's other variants stay.
    void forget(Key const& key, store::Object const& object) { fetches_.supersession().forget(key, object); }
    /// A HEAD response is being sent, under the key of the variant that it selects: see Supersession.
    void tell(Key const& key, store::Object const& head, http::VaryNames const& vary, Fill const* by) {
        fetches_.supersession().tell(key, head, vary, by);
    }

    Wanted wanted;
    Numbers numbers;
    Invalidations invalidations{numbers};
    MemoryTier& memory() { return memory_; }
    MemoryTier const& memory() const { return memory_; }
    DiskTier& disk() { return disk_; }
    DiskTier const& disk() const { return disk_; }

private:
    friend class DiskLookup;
    friend class Restoration;
    friend class Writer;
    friend struct Scene;   // for the tests
    struct Selected {
        Shard::Found found;    // the response that the request selects
        Shard::Found marker;   // for a URL with variants
        std::string variant;   // the key that the marker selects; empty without a marker
    };
    Selected select(Shard const& shard, Key const&, http::RequestHead const&) const REQUIRES(shard.mutex);
    Shard::Found find_parts(Shard const& shard, Query const&) const REQUIRES(shard.mutex);
    bool may_be_elsewhere(Lookup const& found, Query const&) const;
    Lookup look_for_whole(Query const&);
    Lookup look_for_parts(Query const&);
    Lookup answer_from(Shard& shard, Shard::Found, Query const&) REQUIRES(shard.mutex);
    void lead_refresh(Lookup&, Shard& shard, Query const&) REQUIRES(shard.mutex);
    Lookup lookup_absent(Shard& shard, Query const&, std::string_view variant) REQUIRES(shard.mutex);
    void report_use(Query const&, store::Object const&);
    void note(Noted const&);
    void restore_invalidations(store::DiskStore const& disk);
    std::optional<http::ReuseReason> discard_if_invalidated(Shard& shard, Shard::Found&, Query const&,
                                                            std::vector<store::ObjectPtr>& gone) REQUIRES(shard.mutex);
    Peek peek_in_memory(Query const&) const;
    void peek_on_disk(Peek& absent, Query const&) const;

    DiskTier disk_;
    MemoryTier memory_;
    Fetches fetches_;
};

/// Whether, and why, the object with these terms may answer the query.
http::ReuseAnswer answer_for(Invalidations const&, store::Object const&, http::Terms const&, Query const&);
/// Neither memory nor disk stores longer bodies.
Bytes longest_body(Cache const&);
/// Why memory did not admit a body of this length. A body too large for memory can only be stored on disk, so a missing
/// one was rejected by the disk.
http::StoreRefusal refusal_of(Cache const&, Bytes body);

}   // namespace garner::cache
