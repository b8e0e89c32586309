// The memory tier: one coherent cache for all workers.
#pragma once
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/fill.hpp"
#include "cache/key.hpp"
#include "cache/negative.hpp"
#include "cache/options.hpp"
#include "cache/shard.hpp"
#include "http/cache_control.hpp"
#include "http/freshness.hpp"
#include "http/message.hpp"
#include "store/budget.hpp"
#include "store/disk_store.hpp"
#include "store/object.hpp"
#include "util/mutex.hpp"

namespace garner::store {
class DiskStore;
}

namespace garner::cache {

/// A cache key's text and its keyed fingerprint. Made by Cache::key; the text is borrowed.
struct Key {
    std::string_view text;         // partition and normalised URI
    Fingerprint fingerprint = 0;
};

struct Lookup {
    enum class Kind : std::uint8_t {
        fresh,    // `object` may be sent; see `answer`
        refresh,  // `object` may be sent while it is validated (RFC 5861 3): with `lead` by us, else somebody does it already
        stale,    // `object` must be validated: with `lead` by us, with `follow` somebody does it already
        busy,     // `follow` a fetch in progress
        absent,   // `lead` is ours when we may lead
        pass      // absent, and the last answers were not for sharing: fetch beside the others, `lead` is not exclusive
    };
    Kind kind = Kind::absent;
    store::ObjectPtr object;
    http::ReuseAnswer answer;
    bool variant_missing = false;  // absent: the URL is known, but no variant is selected
    bool part_missing = false;     // absent: parts are stored, but not what is asked for
    FillPtr follow;
    FillLease lead;
    bool from_disk = false;        // `object` was not in memory
};

/// What a lookup would find, for people: see Cache::peek.
struct Peek {
    Lookup::Kind kind = Lookup::Kind::absent;
    store::ObjectPtr object;
    http::ReuseAnswer answer;
    std::string vary;                     // the names of a URL with variants, as http::to_string; empty: it has none
    std::string selected;                 // of these, what the request says (http::variant_key)
    std::vector<std::string> variants;    // the same of each stored variant, the oldest first
    FillPtr follow;                       // the fetch it would wait for
    store::ObjectPtr parts;               // where the whole is not stored: the parts of it that are; `object`, if they answer
    bool part_missing = false;            // they do not, though a range is asked for
    std::vector<FillPtr> fetches;         // all in progress for the URL
    std::int64_t passes_until = 0;        // unix seconds: till then its answers are taken for not to be shared; or 0
    char const* pass_reason = "";         // why the last of them was not
    std::optional<KnownFailure> failure;  // whoever asks
    bool from_disk = false;               // `object` or `parts` was not in memory
    bool variant_missing() const { return !vary.empty() && !object; }
};

/// What a request may do with fetches in progress.
enum class Collapse : std::uint8_t {
    lead_and_follow,
    alone            // Range, Authorization: neither leads others nor waits for them
};

struct Stats {
    Bytes capacity = 0;
    std::string policy;          // as it was asked for
    Bytes used = 0;              // everything charged
    Bytes cached = 0;            // in the index
    Bytes filling = 0;           // bodies being received
    Bytes pinned = 0;            // see Cache::pinned()
    std::uint64_t objects = 0;
    std::uint64_t fills = 0;
    std::uint64_t followers = 0;          // requests that wait for those fills or read them
    std::uint64_t evictions = 0;
    std::uint64_t refused_for_room = 0;   // objects and bodies the budget had no room for
    std::uint64_t not_admitted = 0;       // objects that the policy held worth less than what would have left for them
    Bytes metadata = 0;          // index, policy, marks, remembered failures
    std::uint64_t failures = 0;           // of fetches, remembered
};

/// Thread-safe. A lookup holds one shard's mutex for a probe and a policy's hit; it allocates nothing on a hit of a URL
/// without variants.
class Cache {
public:
    explicit Cache(Options options);
    ~Cache();

    Key key(std::string_view text) const { return {text, fingerprint(text, seed_)}; }

    Lookup lookup(Key const&, http::RequestHead const&, http::RequestCacheControl const&, WallTime now, Collapse);

    /// After a lookup that found nothing: stored parts that answer this GET with Range, fresh or stale; else absent.
    Lookup lookup_parts(Key const&, http::RequestHead const&, http::RequestCacheControl const&, WallTime now);

    /// What lookup() would find, with all that is known of the URL. Leads nothing, and moves nothing in the replacement
    /// order.
    Peek peek(Key const&, http::RequestHead const&, http::RequestCacheControl const&, WallTime now, Collapse) const;
    /// Adds to `absent`, which peek() gave, what the disk has. Reads it on this thread, not a worker's; counts as no use.
    void peek_on_disk(Peek& absent, Key const&, http::RequestHead const&, http::RequestCacheControl const&, WallTime now) const;

    /// True when a fresh object is there. Moves nothing in the replacement order.
    bool contains_fresh(Key const&, http::RequestHead const&, WallTime now) const;

    /// Whether a plain GET, one without any field, would get this URL fresh for `margin` more: a whole answer that is no
    /// error. Of a URL whose answers vary, only where they vary on Accept-Encoding alone, and then of any variant: whoever
    /// asks for others does not say what they accept. Moves nothing in the replacement order; allocates nothing for a URL
    /// without variants.
    bool would_serve(Key const&, WallTime now, milliseconds margin) const;

    /// Removes the URL with all its variants and its remembered failure, and keeps what is being fetched from being
    /// stored. True when something was there. `but` is the fetch that the purge is the consequence of: it may be stored.
    bool purge(Key const&, Fill const* but = nullptr);
    /// The same of a URL in normal form, in every partition.
    bool purge_url(std::string_view url);

    /// Somebody is about to be given `newer`, which `by` has fetched and may still store: what it replaces under the URL,
    /// the whole or the parts, with other Vary the variants, is not found on disk any more. `known_parts`: what the disk
    /// has of them, where `newer` is a part itself. True when something may have been there: see DiskStore::settled().
    bool supersede_on_disk(Fill& by, store::Object const& newer, http::VaryNames const& vary,
                           store::ObjectPtr const& known_parts);
    /// Somebody was given this head as the answer to a HEAD, under the key of the variant that it selects: what is being
    /// fetched under the URL, and is or turns out to be of another representation, is not stored, and nobody joins it.
    /// `by`: the fetch that brought it, if it is one.
    void heard(Key const&, store::ObjectPtr const& head, http::VaryNames const& vary, Fill const* by);
    /// As supersede_on_disk() in memory, of what will not be stored; nor does a fetch that began before bring it back.
    void supersede_in_memory(Fill& by, store::Object const& newer, http::VaryNames const& vary);

    /// Removes this object, unless something else has taken its place already; the URL's other variants stay.
    void forget(Key const&, store::Object const&);

    /// A lease for a request that did not get one by lookup: stores if nothing newer came, leads nobody.
    FillLease lease_alone(Key const&, store::ObjectPtr stale);

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
    /// The stored parts of what this request selects, whatever their age; nullptr when there are none.
    store::ObjectPtr parts(Key const&, http::RequestHead const&) const;
    /// The same of parts that only the disk has and that lack one run of bytes, brought into memory where that has room for
    /// the whole.
    net::awaitable<store::ObjectPtr> parts_from_disk(Key const& key, http::RequestHead const& request, net::Executor executor);
    /// What the disk has of the parts of what has this key when it is whole.
    net::awaitable<store::ObjectPtr> parts_on_disk(std::string_view key, net::Executor executor);
    /// Who reads the disk for a fetch hears afterwards whether the URL was purged meanwhile, or something else stored.
    void begin_to_read(FillLease const& lease);
    bool is_overtaken(Fill const& fill) const;
    /// The object with exactly this key, of a URL with this fingerprint; nullptr when there is none.
    store::ObjectPtr find(std::string_view key, Fingerprint primary) const;
    /// How far a walk over all that is stored has come; a new one stands at the beginning.
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
    /// A body that may grow within the fill share.
    store::BodyPtr make_body(std::optional<Bytes> expected);
    /// Room in a growing body; empty when the fill share or the budget is used up. One whose source takes what it has, which
    /// makes room again, leaves half of the share to those that have none yet, unless it is alone.
    std::span<char> room(store::Body& body, Fingerprint near);

    /// The tier behind memory, or nullptr. Set before the workers run; outlives them.
    void set_disk(store::DiskStore* disk);
    store::DiskStore* disk() const { return disk_; }
    /// Longer ones neither memory nor disk would keep.
    Bytes longest_body() const { return std::max(object_max(), disk_ ? disk_->options().object_max : 0); }
    /// Memory answered with this object: the disk hears of the use, and takes it where it wants it now.
    void tell_disk(Key const& key, store::Object const& object);
    /// By the disk's index alone, of what a lookup found absent.
    bool may_be_on_disk(Lookup const& found, Key const& key, http::RequestHead const& request) const;
    /// What may_be_on_disk() said yes to: where it is there, it is brought into memory, where that has room for it, and those
    /// who wait for `found.lead` look again. Else `found` stays as it is. Of `found.object` from disk alone, `lead` is kept
    /// where it must be validated. False: the URL was purged, or something else stored under it, while the disk was read;
    /// the lookup is to be made again.
    net::awaitable<bool> look_on_disk(Lookup& found, Key const& key, http::RequestHead const& request,
                                      http::RequestCacheControl const& control, WallTime now, Collapse collapse,
                                      net::Executor executor);

    NegativeCache& failures() { return failures_; }
    /// Remembers what a fetch met, unless the URL was purged since that fetch began.
    /// `witness` and the result: see NegativeCache::remember().
    bool remember_failure(Fill const&, Key const&, FetchFailure const&, bool of_head_only, NegativeTerms const&,
                          std::optional<Witness> const& witness = {});
    Bytes object_max() const { return object_max_.load(std::memory_order_relaxed); }
    std::uint64_t next_sequence() { return sequence_.fetch_add(1, std::memory_order_relaxed) + 1; }
    store::Budget& budget() { return budget_; }
    Stats stats() const;

    /// Bytes that are neither stored nor being received: nearly all belong to objects that have left and are still read.
    Bytes pinned() const;
    /// True when newcomers are refused because readers hold memory, and this object is neither stored nor about to be: its reader
    /// should let it go. Costs a load while memory is not short.
    bool wants_back(store::Object const& object);
    /// A reload may not give less: the shards, made at the start, would take it all for themselves.
    Bytes least_size() const;
    /// New limits and another policy for a running cache; contents stay. The number of shards does not change.
    void reconfigure(Options const& options);

private:
    friend class FillLease;
    static constexpr std::int64_t pass_seconds = 120;
    static constexpr std::int64_t refresh_pause_seconds = 5;   // after one that brought nothing

    static constexpr unsigned number_shift = 52;   // the upper bits choose the shard, for 4,096 of them
    std::size_t number(Fingerprint primary) const { return (primary >> number_shift) % shards_.size(); }
    Shard& shard(Fingerprint primary) const { return *shards_[number(primary)]; }
    struct Selected {
        Shard::Found found;     // the response that the request selects
        Shard::Found marker;    // of a URL with variants
        std::string variant;    // the key that the marker selects; empty without one
    };
    Selected select(Shard const& shard, Key const&, http::RequestHead const&) const REQUIRES(shard.mutex);
    static Lookup::Kind kind_of(http::Reuse);
    static FillPtr validation_of(Shard const& shard, Key const&, store::ObjectPtr const& stale) REQUIRES(shard.mutex);
    static FillPtr fetch_of(Shard const& shard, Key const&, http::RequestHead const&, http::RequestCacheControl const&, WallTime,
                            std::string_view variant) REQUIRES(shard.mutex);
    Shard::Found find_parts(Shard const& shard, Key const&, http::RequestHead const&) const REQUIRES(shard.mutex);
    Lookup answer_from(Shard& shard, Shard::Found, Key const&, http::RequestCacheControl const&, WallTime, Collapse,
                       bool may_refresh) REQUIRES(shard.mutex);
    static http::ReuseAnswer may_reuse_parts(store::Object const&, http::RequestCacheControl const&, WallTime);
    void lead_refresh(Lookup&, Shard& shard, Key const&, WallTime) REQUIRES(shard.mutex);
    Lookup lookup_absent(Shard& shard, Key const&, http::RequestHead const&, http::RequestCacheControl const&, WallTime, Collapse,
                         std::string_view variant) REQUIRES(shard.mutex);
    FillLease start_fill(Shard& shard, Key const&, store::ObjectPtr stale, bool leads_others) REQUIRES(shard.mutex);
    enum class Came : std::uint8_t { fetched, from_disk };
    /// On disk, too, where it was fetched: the object alone, where `on_disk` has its body already. True when it is kept.
    bool publish(Fill&, store::ObjectPtr const&, http::VaryNames const&, std::string const& variant, Came came,
                 store::DiskFill* on_disk, std::uint64_t marker_sequence);
    struct Arrival;
    Arrival arrival_of(Fill&, store::ObjectPtr const&, http::VaryNames const& vary, std::string const& variant, Came came,
                       std::uint64_t marker_sequence);
    static void look_around(Shard const& shard, Arrival&) REQUIRES(shard.mutex);
    bool is_outdone(Shard const& shard, Arrival const&) const REQUIRES(shard.mutex);
    void put_in_memory(Shard& shard, Arrival const&, std::vector<store::ObjectPtr>& gone) REQUIRES(shard.mutex);
    bool put_on_disk(Arrival const&, store::DiskFill* on_disk);
    bool keep_on_disk(store::Object const& object, std::string_view rival, store::DiskFill* on_disk);
    /// A response under `text`, the key of the whole; `names`: of its Vary, as http::to_string.
    struct Newcomer {
        Fill const& by;
        store::Object const& newer;
        std::string_view text;
        std::string names;
        store::ObjectPtr known_parts;   // the parts that the disk has; nullptr: none, or not known
    };
    void drop_older(Shard& shard, Newcomer const&, std::vector<store::ObjectPtr>& gone) REQUIRES(shard.mutex);
    /// Of the URL's fetches those that are over: who follows one reads on, nothing of it is stored, and nobody joins it any
    /// more. How many there were.
    template <class IsOver>
    static std::size_t detach_if(Shard& shard, Fingerprint primary, IsOver is_over) REQUIRES(shard.mutex) {
        std::size_t detached = 0;
        for (auto [at, last] = shard.fills.equal_range(primary); at != last;) {
            auto const here = at++;
            if (!is_over(*here->second)) continue;
            here->second->in_shard(shard.mutex).attached = false;
            shard.fills.erase(here);
            ++detached;
        }
        return detached;
    }
    void detach_older(Shard& shard, Newcomer const&) REQUIRES(shard.mutex);
    void outdate_older(Fill const&);
    void outdate(std::string_view text, Fingerprint primary, store::Object const& newer);
    void drop_other_variants(Fill const&, store::Object const& newer);
    bool forget_older(Shard& shard, Newcomer const&) REQUIRES(shard.mutex);
    void drop_different(Shard& shard, store::Object const&, std::vector<store::ObjectPtr>& gone) REQUIRES(shard.mutex);
    static void note_rival(Shard& shard, Fill const& by, store::Object const& object, std::string const& names) REQUIRES(shard.mutex);
    static bool contradicts_rival(Shard const& shard, Fill const&, store::Object const&, std::string_view text,
                                  std::string_view names) REQUIRES(shard.mutex);
    static bool contradicts_heard(Shard const& shard, Fill const&, store::Object const&, std::string_view text,
                                  std::string_view names) REQUIRES(shard.mutex);
    static void hear(std::vector<Fill::Given>& heard, Fill::Given told);
    void detach_contradicted(Fill&);
    static void unmark(Shard& shard, Key const& key) REQUIRES(shard.mutex);
    static void overtake(Shard& shard, Key const& key) REQUIRES(shard.mutex);
    bool forget_on_disk(Key const& key);
    struct OnDisk {
        store::ObjectPtr object;
        store::ObjectPtr marker;    // of a URL with variants
        std::string variant;        // http::variant_key
    };
    net::awaitable<store::ObjectPtr> load(std::string_view key, net::Executor executor);
    net::awaitable<OnDisk> find_on_disk(Key const& key, http::RequestHead const& request, bool variant_missing, WallTime now,
                                        net::Executor executor);
    net::awaitable<store::ObjectPtr> into_memory(Key const& key, OnDisk& loaded, net::Executor executor);
    void keep_marker(Key const& key, store::Object const& marker, Fill const& by);
    Lookup look_again(Key const& key, http::RequestHead const&, http::RequestCacheControl const&, WallTime, Collapse);
    store::ObjectPtr make_marker(Key const& key, http::VaryNames const& vary, std::uint64_t sequence);
    static bool grows_newer(Shard const& shard, store::Object const&, Key const&) REQUIRES(shard.mutex);
    store::ObjectPtr drop_parts(Shard& shard, Key const&, policy::Left why) REQUIRES(shard.mutex);
    /// `reason`: why the URL is marked as one to pass for a while, a literal; null: it is not.
    void detach(Fill&, char const* reason = nullptr);
    bool promote_or_detach(Fill&);
    void stop_storing(Fill&, char const* reason);
    bool holds(Shard const& shard, store::Object const&, Key const&) const REQUIRES(shard.mutex);
    void unregister(Shard& shard, Fill&) REQUIRES(shard.mutex);
    void end_in_vain(Shard& shard, Fill&) REQUIRES(shard.mutex);
    Fingerprint primary_of(store::Object const&) const;
    bool is_pinned_full() const;
    bool is_filling_full() const;
    std::size_t shard_to_shrink(Fingerprint near) const;
    bool evict_one(Fingerprint near, Shard::Held held);
    bool evict_from(std::size_t index, Shard::Held held);
    bool is_over(Shard const& shard, store::Object const&) const REQUIRES(shard.mutex);
    void note_bytes(Shard& shard, Fingerprint primary) REQUIRES(shard.mutex);
    void settle(Shard& shard, Fingerprint primary) REQUIRES(shard.mutex);
    bool charge_metadata(Shard& shard) REQUIRES(shard.mutex);
    void set_charged(Shard& shard, Bytes) REQUIRES(shard.mutex);

    std::uint64_t seed_;
    std::atomic<Bytes> object_max_;
    store::Budget budget_;
    std::vector<std::unique_ptr<Shard>> shards_;
    std::unique_ptr<std::atomic<Bytes>[]> shard_bytes_;   // a copy for choosing the fullest without its lock
    std::atomic<Bytes> metadata_{0};      // the sum of Shard::charged
    std::atomic<bool> memory_is_short_{false};   // a newcomer was refused because readers hold memory
    std::atomic<std::uint64_t> sequence_{0};
    std::atomic<std::uint64_t> evictions_{0};
    std::atomic<std::uint64_t> refused_for_room_{0};
    std::atomic<std::uint64_t> not_admitted_{0};
    store::DiskStore* disk_ = nullptr;
    mutable Mutex policy_mutex_;
    std::string policy_ GUARDED_BY(policy_mutex_);
    NegativeCache failures_;
};

}  // namespace garner::cache
