// The fetches in progress: how one begins, what becomes of it without a response to store, and who leads it next.
#pragma once
#include <cstdint>
#include <string>

#include "cache/fill.hpp"
#include "cache/supersession.hpp"

namespace garner::cache {

enum class Came : std::uint8_t { fetched, from_disk };

/// What a fetch has brought, or nothing.
struct Brought {
    store::ObjectPtr const& object;
    http::VaryNames const& vary;
    std::string const& variant;
    Came came;
    std::uint64_t marker;            // the sequence of the URL's Vary marker, where it varies
    store::DiskFill* on_disk;        // has the body already; or nullptr
};

/// Thread-safe.
class Fetches {
public:
    Fetches(MemoryTier& memory, DiskTier& disk) : memory_(memory), disk_(disk), supersession_(memory, disk) {}

    Supersession& supersession() { return supersession_; }
    DiskTier& disk() { return disk_; }

    FillLease start(Shard& shard, Key const&, store::ObjectPtr stale, bool leads_others) REQUIRES(shard.mutex);
    /// For a request that did not get a lease by lookup: stores if nothing newer came, leads nobody.
    FillLease start_alone(Key const&, store::ObjectPtr stale);
    /// It leaves nothing to keep. `reason`: why the URL is marked as one to pass for a while, a literal; null: it is not.
    void end(Fill&, char const* reason = nullptr);
    /// The next follower leads it, or it ends. True when somebody does.
    bool promote_or_end(Fill&);
    /// Nothing of it is stored, and no request joins it; it goes on for those who follow it.
    void stop_storing(Fill&, char const* reason);
    /// Stores what it has brought, in memory and, where it was fetched, on disk, and ends it: publication.cpp, the only place
    /// where a response comes into an index. True when it is kept.
    bool publish(Fill&, Brought const&);
    /// See Fill::remember_failure.
    bool remember_failure(Fill const&, FetchFailure const&, bool of_head_only, NegativeTerms const&,
                          std::optional<Witness> const& witness);

private:
    friend class Publication;
    static constexpr std::int64_t pass_seconds = 120;
    static constexpr std::int64_t refresh_pause_seconds = 5;   // after one that brought nothing
    void end_in_vain(Shard& shard, Fill&) REQUIRES(shard.mutex);

    MemoryTier& memory_;
    DiskTier& disk_;
    Supersession supersession_;
};

}  // namespace garner::cache
