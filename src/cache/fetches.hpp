// Fetches in progress: start, end without a storable response, and promotion of the next leader.
#pragma once
#include <cstdint>
#include <string>

#include "cache/fill.hpp"
#include "cache/supersession.hpp"

namespace garner::cache {

enum class ResultFrom : std::uint8_t { origin, disk };

/// The result of a fetch, possibly empty.
struct FetchResult {
    store::ObjectPtr const& object;
    http::VaryNames const& vary;
    std::string const& variant;
    ResultFrom from;
    std::uint64_t marker;       // the sequence of the URL's Vary marker, if it has one
    store::DiskFill* on_disk;   // has the body already; or nullptr
};

/// Thread-safe.
class Fetches {
public:
    Fetches(MemoryTier& memory, DiskTier& disk) : memory_(memory), disk_(disk), supersession_(memory, disk) {}

    MemoryTier& memory() { return memory_; }
    Supersession& supersession() { return supersession_; }
    Supersession const& supersession() const { return supersession_; }
    DiskTier& disk() { return disk_; }

    FillLease start(Shard& shard, Key const&, store::ObjectPtr stale, bool leads_others) REQUIRES(shard.mutex);
    /// For a request whose lookup gave no lease: stores if nothing newer was received; other requests do not join.
    FillLease start_alone(Key const&, store::ObjectPtr stale);
    /// Ends a fetch without a stored response. `reason`: a literal that marks the URL as hit-for-pass for a while;
    /// null: no mark.
    void end(Fill&, char const* reason = nullptr);
    /// Promotes the next follower to leader, or ends the fetch. True when a follower was promoted.
    bool promote_or_end(Fill&);
    /// Stops storing: no request joins any more; the fetch continues for its followers.
    void stop_storing(Fill&, char const* reason);
    /// Stores the fetched response in memory and, if it was fetched, on disk, and ends the fetch. Its code in
    /// publication.cpp is the only place that puts responses into an index. True when it is stored.
    bool publish(Fill&, FetchResult const&);
    /// See Fill::remember_failure.
    bool remember_failure(Fill const&, FetchFailure const&, bool of_head_only, NegativeTerms const&,
                          std::optional<Witness> const& witness);

private:
    friend class Publication;
    static constexpr std::int64_t pass_seconds = 120;
    static constexpr std::int64_t refresh_pause_seconds = 5;   // after an unsuccessful one
    void end_in_vain(Shard& shard, Fill&) REQUIRES(shard.mutex);

    MemoryTier& memory_;
    DiskTier& disk_;
    Supersession supersession_;
};

}   // namespace garner::cache
