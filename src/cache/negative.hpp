// Fetches that failed, remembered for a while: the origin is not asked again, and its clients are told at once.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "cache/fill.hpp"
#include "cache/key.hpp"
#include "store/budget.hpp"
#include "util/clock.hpp"
#include "util/hash.hpp"
#include "util/ip.hpp"
#include "util/mutex.hpp"

namespace garner::cache {

/// How long failures are remembered. Flat when both are the same.
struct NegativeTerms {
    milliseconds first{5'000};     // the first time; doubled with each failure in a row, up to …
    milliseconds most{300'000};    // … this; 0: not at all
};

/// The time for the `failures`th failure in a row, from 1.
milliseconds remembered_for(NegativeTerms const& terms, std::uint32_t failures);

struct KnownFailure {
    FetchFailure failure;          // its reason cut at 256 bytes
    bool of_head_only = false;     // seen by HEAD: it may be that method which the origin cannot take
    milliseconds left{0};          // how long it will be remembered yet; above 0
    std::optional<Witness> only_for;     // given: this client's own request met it, and no second client has
};

/// Thread-safe. Costs a load while nothing is remembered, else a short lock. Holds at most `entries_max` failures, each of
/// bounded size; when they crowd, those that end first are forgotten.
class NegativeCache {
public:
    static constexpr std::size_t entries_default = 8'192;
    /// What it holds is charged to `budget`, where there is one; what finds no room there is not remembered.
    explicit NegativeCache(std::size_t entries_max = entries_default, store::Budget* budget = nullptr);

    bool empty() const { return size() == 0; }

    /// `asker`: is told of its own failure, too.
    std::optional<KnownFailure> find(Key const& key, SteadyTime now, std::optional<Witness> const& asker = {});

    /// The failure that is remembered for any request. Leaves no trace.
    std::optional<KnownFailure> peek(Key const& key, SteadyTime now) const;

    /// A failure while the last one is still remembered was on its way already and is none more in a row. One that comes
    /// more than `terms.most` after the last was over begins anew.
    ///
    /// `witness`: given where the request itself may have caused the failure. find() tells other requests of such a failure
    /// only after a second client has met it while the first failure was remembered; one client's failures do not count as failures
    /// in a row. A witness never renews a failure that is remembered. True when other requests are told of the failure.
    bool remember(Key const& key, FetchFailure const& failure, bool of_head_only, NegativeTerms const& terms,
                  SteadyTime now, std::optional<Witness> const& witness = {});

    /// The next failure is the first again. True when one was remembered for any request.
    bool forget(Key const& key, SteadyTime now);

    /// What remember() may take from the budget for this failure.
    Bytes most_growth(Key const& key, FetchFailure const& failure) const;
    /// All that it has taken from the heap.
    Bytes bytes() const { return bytes_.load(std::memory_order_relaxed); }

    /// Failures held; those that are over but would count for the next one in a row are among them.
    std::size_t size() const { return size_.load(std::memory_order_relaxed); }

private:
    // Whole keys may have 16 KiB each: two independent fingerprints stand for one, so that a entry has a fixed size.
    struct Identity {
        Fingerprint primary = 0;
        Fingerprint second = 0;
        friend bool operator==(Identity const&, Identity const&) = default;
    };
    struct Entry {
        Identity key;
        bool taken = false;
        std::uint32_t failures = 0;    // in a row that counted for all requests
        bool of_head_only = false;
        std::optional<Witness> only_witness;   // given: no second client has met the failure
        SteadyTime until{};            // remembered so long
        SteadyTime counts_until{};     // a failure before this is one more in a row
        FetchFailure failure;
    };
    struct Shard {
        Mutex mutex;
        std::vector<Entry> entries GUARDED_BY(mutex);     // made with the first failure
    };
    static constexpr std::size_t shards_max = 16;
    static constexpr std::size_t entries_per_set = 8;
    static constexpr std::size_t reason_max = 256;

    Identity identity(Key const& key) const;
    Shard& shard_of(Identity const& key) const { return shards_[(key.primary >> 48) % shards_max]; }
    Entry* set_of(Shard& shard, Identity const& key) const REQUIRES(shard.mutex);
    Entry* entry_of(Shard& shard, Identity const& key) const REQUIRES(shard.mutex);
    static std::optional<KnownFailure> known(Entry const* entry, SteadyTime now);
    Entry* find_entry(Shard& shard, Identity const& key, SteadyTime now) REQUIRES(shard.mutex);
    Entry* take_entry(Shard& shard, Identity const& key, std::optional<Witness> const& witness, SteadyTime now)
        REQUIRES(shard.mutex);
    void release(Entry& entry);
    void keep_words(Entry& entry, std::string const& reason);
    bool take(Bytes bytes);
    void give_back(Bytes bytes);
    Bytes bytes_of_entries() const { return heap_block(sets_ * entries_per_set * sizeof(Entry)); }

    std::uint64_t seed_;
    std::size_t sets_;                 // of each shard
    store::Budget* budget_;
    std::atomic<std::size_t> size_{0};
    std::atomic<Bytes> bytes_{0};
    std::unique_ptr<Shard[]> shards_;
};

}  // namespace garner::cache
