// What must not come back: tombstones, and those that found no room in the log yet.
#pragma once
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

    Graves(Append append, Has has) : append_(std::move(append)), has_(std::move(has)) {}

    void bury(Fingerprint hash);
    void owe(std::span<Fingerprint const> hashes);
    /// Writes what is owed. True when nothing is owed any more.
    bool pay();
    /// Nothing is owed: every tombstone until now is in the log.
    bool is_clear() const;

private:
    Append const append_;
    Has const has_;
    std::mutex paying_;               // held by who pays: what is on the way counts as owed
    mutable std::mutex mutex_;
    // What is owed was in the index before, or was asked for by somebody: it needs no bound of its own.
    std::vector<Fingerprint> owed_;
};

}  // namespace garner::store::disk
