// The cache: one for all workers, in memory and, where there is a disk, behind it.
#pragma once
#include <string_view>

#include "cache/disk_tier.hpp"
#include "cache/fetches.hpp"
#include "cache/lookup.hpp"
#include "cache/memory_tier.hpp"
#include "cache/options.hpp"
#include "cache/supersession.hpp"
#include "http/cacheability.hpp"
#include "net/asio.hpp"

namespace garner::cache {

/// Thread-safe. A lookup holds one shard's mutex for a probe and a policy's hit; it allocates nothing on a hit of a URL
/// without variants.
class Cache {
public:
    explicit Cache(Options const& options) : memory_(options, disk_), fetches_(memory_, disk_) {}
    /// The disk behind memory, or nullptr. Before the workers run; outlives them.
    void set_disk(store::DiskStore* disk);

    Key key(std::string_view text) const { return memory_.key(text); }

    /// In memory: the whole object, else, for a range, parts that answer it.
    Lookup lookup(Query const&);
    /// Where the lookup says that it may be on disk: what is there is brought into memory, where that has room for it, and those
    /// who wait for `found.lead` look again. Else `found` stays as it is. Of `found.object` from disk alone, `lead` is kept
    /// where it must be validated. An object that is replaced while the disk is read is looked for anew, a few times.
    net::awaitable<void> look_on_disk(Lookup& found, Query const&, net::Executor);
    /// What lookup() would find, with all that is known of the URL; leads nothing, and counts as no use. On disk, too, where
    /// memory has nothing and nothing is being fetched: that is read on this thread, not a worker's.
    Peek peek(Query const&, bool on_disk = false) const;
    /// Whether a plain GET, one without any field, would get this URL fresh for `margin` more: a whole answer that is no
    /// error. Of a URL whose answers vary, only where they vary on Accept-Encoding alone, and then of any variant: whoever
    /// asks for others does not say what they accept. Counts as no use; allocates nothing for a URL without variants.
    bool would_serve(Key const&, WallTime now, milliseconds margin) const;
    /// The stored parts of what this request selects, whatever their age, in memory; nullptr when there are none.
    store::ObjectPtr parts(Query const&) const;
    /// The same of parts that only the disk has and that lack one run of bytes, brought into memory where that has room for the whole.
    net::awaitable<store::ObjectPtr> parts_from_disk(Query const&, net::Executor);

    /// For a request that did not get a lease by lookup: stores if nothing newer came, leads nobody.
    FillLease lease(Key const& key, store::ObjectPtr stale) { return fetches_.start_alone(key, std::move(stale)); }
    /// Removes the URL with all its variants and its remembered failure, and keeps what is being fetched from being
    /// stored. True when something was there. `but` is the fetch that the purge is the consequence of: it may be stored.
    bool purge(Key const& key, Fill const* but = nullptr) { return fetches_.supersession().purge(key, but); }
    /// The same of a URL in normal form, in every partition.
    bool purge(std::string_view url);
    /// Removes this object, unless something else has taken its place already; the URL's other variants stay.
    void forget(Key const& key, store::Object const& object) { fetches_.supersession().forget(key, object); }
    /// Somebody was given this head as the answer to a HEAD, under the key of the variant that it selects: see Supersession.
    void tell(Key const& key, store::Object const& head, http::VaryNames const& vary, Fill const* by) {
        fetches_.supersession().tell(key, head, vary, by);
    }
    /// Why memory did not admit a body of this length. One that is too large for memory is for the disk: if it is not there, the disk
    /// did not admit it.
    http::StoreRefusal refusal_of(Bytes body) const;
    /// Until what was removed or superseded before this call stays so, whatever becomes of this process (`power`: of the
    /// machine's power, too). False: the disk does not say so in time.
    net::awaitable<bool> settled(store::Survives what, net::Executor executor);

    MemoryTier& memory() { return memory_; }
    MemoryTier const& memory() const { return memory_; }
    DiskTier const& disk() const { return disk_; }
    /// New limits and another policy for a running cache; contents stay.
    void reconfigure(Options const& options);

private:
    friend class DiskLookup;
    friend class Writer;
    friend struct Scene;        // of the tests
    struct Selected {
        Shard::Found found;     // the response that the request selects
        Shard::Found marker;    // of a URL with variants
        std::string variant;    // the key that the marker selects; empty without one
    };
    Selected select(Shard const& shard, Key const&, http::RequestHead const&) const REQUIRES(shard.mutex);
    Shard::Found find_parts(Shard const& shard, Query const&) const REQUIRES(shard.mutex);
    Bytes longest_body() const;
    bool may_be_on_disk(Lookup const& found, Query const&) const;
    Lookup look_for_whole(Query const&);
    Lookup look_for_parts(Query const&);
    Lookup answer_from(Shard& shard, Shard::Found, Query const&) REQUIRES(shard.mutex);
    void lead_refresh(Lookup&, Shard& shard, Query const&) REQUIRES(shard.mutex);
    Lookup lookup_absent(Shard& shard, Query const&, std::string_view variant) REQUIRES(shard.mutex);
    void report_use(Query const&, store::Object const&);
    Peek peek_in_memory(Query const&) const;
    void peek_on_disk(Peek& absent, Query const&) const;

    DiskTier disk_;
    MemoryTier memory_;
    Fetches fetches_;
};

}  // namespace garner::cache
