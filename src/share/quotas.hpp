// All quotas and their subjects.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "share/bounded_table.hpp"
#include "share/cap.hpp"
#include "share/ledger.hpp"
#include "share/quota.hpp"
#include "util/hash.hpp"
#include "util/mutex.hpp"

namespace garner::share {

class Quotas;

/// The use of one quota by one subject. Thread-safe.
class QuotaSubject : public TableEntry {
public:
    /// Counts one request, unless the quota is used up.
    QuotaState begin(WallTime now);
    /// Counts bytes that have moved.
    QuotaState charge(Bytes bytes, WallTime now);
    /// The state for transfers that have begun.
    QuotaState state(WallTime now);
    /// The slow lane of the subject. nullptr if the quota has none any more.
    std::shared_ptr<Cap> lane();
    QuotaStanding standing(WallTime now);

private:
    friend class Quotas;
    Quotas* home_ = nullptr;
    // Guarded by the mutex of its shard:
    Usage usage_;
    bool changed_ = false;   // since the ledger was written
};
using QuotaRef = Kept<QuotaSubject>;

/// The ledger, as its keeper last found it.
struct LedgerFigures {
    std::uint64_t rows = 0;   // written since the start
    std::uint64_t rewrites = 0;
    std::uint64_t failures = 0;   // of writes
    std::uint64_t damaged = 0;    // rows that the start has dropped, and torn ends
    std::string path = {};
    std::string trouble = {};   // why it cannot be written now; empty: it can
};

/// One rule since the start.
struct QuotaTotals {
    std::string name;
    Bytes bytes = 0;
    std::uint64_t requests = 0, refused = 0;
};

struct QuotasFigures {
    std::vector<QuotaTotals> rules;   // in their order
    std::size_t subjects = 0;
    Bytes memory = 0;   // with the slow lanes
    LedgerFigures ledger;
};

/// Thread-safe.
class Quotas {
public:
    static constexpr std::size_t most = 100'000;    // subjects
    static constexpr Bytes memory_max = 20 * MiB;   // of all subjects
    static constexpr Bytes bytes_each = 184;        // with its part of the table

    /// The use so far stays, by the name of the rule.
    void configure(std::vector<QuotaRule> rules);
    /// `whose`: subject_key(); empty: all clients of the rule. Makes a missing one. Empty if there is no such rule.
    QuotaRef find(std::string_view rule, std::string_view whose);
    /// Creates nothing.
    std::optional<QuotaStanding> look_up(std::string_view rule, std::string_view whose, WallTime now) const;

    enum class Reset : std::uint8_t { done, no_rule, no_subject, ambiguous };
    /// Forgets what was used. Without `whose`: by all subjects of the rule. `whose`: see quota_subject_keys_of(); `ambiguous` if
    /// a user and a network have that name.
    Reset reset(std::string_view rule, std::optional<std::string_view> whose, WallTime now);

    QuotasFigures figures() const;
    /// The `most` subjects that have used most of a limit.
    std::vector<QuotaStanding> largest(std::size_t most, WallTime now) const;

    // ---- for the ledger and a takeover ----

    /// Counts of the ledger or of another process: one row for each subject.
    void add(std::vector<LedgerRow> const& rows);
    /// The rows that have changed since the last call.
    std::vector<LedgerRow> take_changes(WallTime now);
    /// Those that were taken are not written: take_changes() gives all of them again.
    void mark_all();
    /// All rows of windows that have not ended. They count as taken.
    std::vector<LedgerRow> all_rows(WallTime now);
    /// Later calls of take_counted() give what is counted from now on. The result: all that is counted so far.
    std::vector<LedgerRow> begin_counting(WallTime now);
    std::vector<LedgerRow> take_counted();
    void end_counting();
    void note_ledger(LedgerFigures figures);

private:
    friend class QuotaSubject;
    using Id = std::uint16_t;
    using Rules = std::vector<std::shared_ptr<QuotaRule const>>;   // by id; nullptr: it was removed
    struct Totals {
        Bytes bytes = 0;
        std::uint64_t requests = 0, refused = 0;
    };
    static constexpr std::size_t shard_count = 16;
    struct Shard {
        mutable Mutex mutex;
        BoundedTable<QuotaSubject> table GUARDED_BY(mutex){{most / shard_count, memory_max / shard_count, bytes_each}};
        Rules rules GUARDED_BY(mutex);
        mutable std::array<Window, 3> windows GUARDED_BY(mutex){};   // by Per, as they were last needed
        std::vector<Totals> totals GUARDED_BY(mutex);                // by id
        std::unordered_map<std::string, Usage> counted GUARDED_BY(mutex);
        bool counts GUARDED_BY(mutex) = false;
    };

    Shard& shard_of(std::string_view key) { return shards_[hash_(key) % shard_count]; }
    Shard const& shard_of(std::string_view key) const { return shards_[hash_(key) % shard_count]; }
    std::optional<Id> id_of(std::string_view rule) const;
    bool has_subject(Id id, std::string_view whose) const;
    Id id_for(std::string_view rule) REQUIRES(mutex_);
    std::string name_of(std::string_view key) const;
    static QuotaRule const* rule_of(Shard const& shard, std::string_view key) REQUIRES(shard.mutex);
    static Window const& window(Shard const& shard, Per per, std::int64_t now) REQUIRES(shard.mutex);
    QuotaSubject& entry(Shard& shard, std::string_view key) REQUIRES(shard.mutex);
    static bool is_live(Shard const& shard, QuotaSubject const& subject, std::int64_t now) REQUIRES(shard.mutex);
    LedgerRow row_of(std::string_view key, Usage const& usage) const;
    static void note_counted(Shard& shard, QuotaSubject const& subject, Usage const& more) REQUIRES(shard.mutex);
    static QuotaStanding standing_of(QuotaRule const& rule, std::string_view key, Usage usage, Window const& window,
                                     std::int64_t now);
    QuotaState judge(QuotaSubject& subject, WallTime now, Asks asks, Bytes moved, bool counts_request);
    std::shared_ptr<Cap> lane_of(QuotaSubject const& subject);
    QuotaStanding standing(QuotaSubject const& subject, WallTime now) const;

    KeyedHash const hash_;
    std::array<Shard, shard_count> shards_;
    Caps lanes_;
    mutable Mutex mutex_;                                 // before that of a shard
    std::vector<std::string> names_ GUARDED_BY(mutex_);   // by id
    std::vector<Id> order_ GUARDED_BY(mutex_);            // configured rules
    LedgerFigures ledger_ GUARDED_BY(mutex_);
};

}   // namespace garner::share
