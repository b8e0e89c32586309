// Negative cache: failed fetches are remembered for a while, so that clients get an error without a request to the
// origin.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cache/fill.hpp"
#include "cache/key.hpp"
#include "store/budget.hpp"
#include "util/clock.hpp"
#include "util/hash.hpp"
#include "util/ip.hpp"
#include "util/mutex.hpp"

namespace garner::cache {

/// How long failures are remembered; constant if both are equal.
struct NegativeTerms {
    milliseconds first{5'000};    // after the first failure; doubled with each failure in a row
    milliseconds most{300'000};   // upper limit; 0: disabled
};

/// The time for the `failures`th failure in a row, counted from 1.
milliseconds remembered_for(NegativeTerms const& terms, std::uint32_t failures);

struct KnownFailure {
    FetchFailure failure;              // its reason is cut at 256 bytes
    bool of_head_only = false;         // met by a HEAD request: the origin may not support that method
    milliseconds left{0};              // remaining time of the entry; above 0
    std::optional<Witness> only_for;   // set: only this client's own request met it, and no second client has
};

/// Thread-safe. Costs an atomic load while empty, otherwise a short lock. Holds at most `entries_max` failures of
/// bounded size; when full, the entries that expire first are replaced.
class NegativeCache {
public:
    static constexpr std::size_t entries_default = 8'192;
    /// Memory is charged to `budget`, if given; a failure without room is not remembered.
    explicit NegativeCache(std::size_t entries_max = entries_default, store::Budget* budget = nullptr);

    bool empty() const { return size() == 0; }

    /// `asker`: also gets its own failure.
    std::optional<KnownFailure> find(Key const& key, SteadyTime now, std::optional<Witness> const& asker = {});

    /// The failure that applies to every request. Changes nothing.
    std::optional<KnownFailure> peek(Key const& key, SteadyTime now) const;

    /// A failure reported while an entry exists belongs to a concurrent fetch, and does not count as one more in a
    /// row. A failure more than `terms.most` after the last entry's expiry starts a new row.
    /// `witness`: set if the request itself may have caused the failure. find() reports such a failure to other
    /// requests only after a second client has met it during the first one's entry; failures of one client do not
    /// count as failures in a row. A witness never renews an existing entry. True when the failure applies to other
    /// requests.
    bool remember(Key const& key, FetchFailure const& failure, bool of_head_only, NegativeTerms const& terms, SteadyTime now,
                  std::optional<Witness> const& witness = {});

    /// The next failure counts as the first again. True when an entry applied to every request.
    bool forget(Key const& key, SteadyTime now);
    void clear();

    /// A failure for another process. Those that one client's own request may have caused are left out.
    struct Handed {
        std::uint64_t key = 0, second = 0;   // fingerprints under the seeds
        std::uint32_t failures = 0;          // in a row
        bool of_head_only = false;
        milliseconds left{0}, counts_left{0};   // until it expires, and until the row ends
        FetchFailure failure = {};
    };
    using Seeds = std::array<std::uint64_t, 2>;
    Seeds const& seeds() const { return seeds_; }
    std::vector<Handed> handed(SteadyTime now) const;
    /// While no other thread uses it: the failures of another process, and its seeds.
    void adopt(Seeds const& seeds, std::span<Handed const> failures, SteadyTime now);

    /// The most that remember() may take from the budget for this failure.
    Bytes most_growth(Key const& key, FetchFailure const& failure) const;
    /// Its heap memory.
    Bytes bytes() const { return bytes_.load(std::memory_order_relaxed); }

    /// The number of entries, including expired ones that still count for failures in a row.
    std::size_t size() const { return size_.load(std::memory_order_relaxed); }

private:
    // A key may have 16 KiB: two independent fingerprints replace it, so that an entry has a fixed size.
    struct Identity {
        Fingerprint primary = 0;
        Fingerprint second = 0;
        friend bool operator==(Identity const&, Identity const&) = default;
    };
    struct Entry {
        Identity key;
        bool taken = false;
        std::uint32_t failures = 0;   // in a row, counting for all requests
        bool of_head_only = false;
        std::optional<Witness> only_witness;   // set: no second client has met the failure
        SteadyTime until{};                    // expiry of the entry
        SteadyTime counts_until{};             // a failure before this time is one more in a row
        FetchFailure failure;
    };
    struct Shard {
        Mutex mutex;
        std::vector<Entry> entries GUARDED_BY(mutex);   // allocated with the first failure
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

    Seeds seeds_;
    std::size_t sets_;   // per shard
    store::Budget* budget_;
    std::atomic<std::size_t> size_{0};
    std::atomic<Bytes> bytes_{0};
    std::unique_ptr<Shard[]> shards_;
};

}   // namespace garner::cache
