// What must not come back: tombstones, and those that found no room in the log yet.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "util/hash.hpp"

namespace garner::store::disk {

/// A tombstone that the log has no room for is owed until it has. Thread-safe.
class Graves {
public:
    /// Writes a tombstone at the end of the log; false: no room.
    using Append = std::function<bool(Fingerprint)>;
    /// Whether the index has something under a hash: that came since, and says itself that nothing older counts.
    using Has = std::function<bool(Fingerprint)>;

    /// How far the log goes, and how much of that is in the file, in bytes of all that was ever appended.
    using Position = std::function<std::uint64_t()>;

    Graves(Append append, Has has, Position end, Position written)
        : append_(std::move(append)), has_(std::move(has)), end_(std::move(end)), written_(std::move(written)) {}

    void bury(Fingerprint hash);
    void owe(std::span<Fingerprint const> hashes);
    /// Writes what is owed. True when nothing is owed any more.
    bool pay();
    /// Nothing is owed: every tombstone until now is in the log.
    bool is_clear() const;
    /// A tombstone of it may not be in the file yet: a kill would bring back what it is for. Costs a load for most.
    bool is_open(Fingerprint hash);

private:
    using Place = std::atomic<std::uint64_t>;
    Place& place_of(Fingerprint hash) { return places_[hash % places_.size()]; }

    Append const append_;
    Has const has_;
    Position const end_, written_;
    // By hash, several to a place: where the log ended behind the last tombstone. 0: in the file.
    static constexpr std::uint64_t not_in_log = UINT64_MAX;
    std::array<Place, 4096> places_{};
    std::mutex paying_;               // held by who pays: what is on the way counts as owed
    mutable std::mutex mutex_;
    // What is owed was in the index before, or was asked for by somebody: it needs no bound of its own.
    std::vector<Fingerprint> owed_;
};

}  // namespace garner::store::disk
