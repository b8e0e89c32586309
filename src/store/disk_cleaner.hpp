// Frees the oldest segment; records worth keeping are rewritten first.
#pragma once
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "io/file.hpp"
#include "store/disk_complaints.hpp"
#include "store/disk_index.hpp"
#include "store/disk_log.hpp"

namespace garner::store::disk {

/// Runs on a thread of its own. Requests do not wait for it: while fewer than two segments are free behind the open
/// one, newcomers are not stored.
class Cleaner {
public:
    struct Figures {
        std::atomic<std::uint64_t> evicted{0};
        std::atomic<Bytes> reinserted{0};
        std::atomic<std::uint64_t> damaged{0};
    };
    /// Whether to rewrite the record with this hash and use count (0 to 3).
    using Keeps = std::function<bool(Fingerprint, unsigned uses)>;
    /// Called for each record that is evicted.
    using Gone = std::function<void(Fingerprint, Bytes)>;
    /// Rewrites a record and moves its index entry, if the entry is still at that place; false: no room.
    using Write = std::function<bool(Record const&, Location const&)>;
    /// Permanently invalidates all segments up to this generation; false: the write failed.
    using Void = std::function<bool(std::uint64_t generation)>;

    Cleaner(io::File const& file, Log& log, Index& index, double share, Keeps keeps, Gone gone, Write write, Void make_void)
        : file_(file), log_(log), index_(index), share_(share), keeps_(std::move(keeps)), gone_(std::move(gone)),
          write_(std::move(write)), void_(std::move(make_void)), allowance_(most_saved()) {}

    /// False when the segment is unchanged: the kept records or the wipe could not be written safely.
    bool clean(std::uint32_t segment);
    void stop() { stopping_.store(true); }
    Figures const& figures() const { return figures_; }

private:
    struct Live {
        Fingerprint hash;
        Bytes offset;
        Bytes bytes;
        unsigned uses;
    };
    std::vector<Live> live_of(std::uint32_t segment);
    Bytes most_saved() const;
    void grant_share(std::uint64_t generation);
    std::vector<bool> wanted(std::vector<Live> const& live);
    std::optional<std::vector<Live>> keep(std::uint32_t segment, std::vector<Live> const& live);
    bool wipe(std::uint32_t segment);
    enum class Again : std::uint8_t { written, damaged, no_room };
    Again unreadable(Bytes offset, std::string const& why);
    Again write_again(Location const& place, std::string_view bytes);
    void evict(Live const& record);

    io::File const& file_;
    Log& log_;
    Index& index_;
    double const share_;   // fraction of a segment to rewrite at most, on average: bounds write amplification
    Keeps const keeps_;
    Gone const gone_;
    Write const write_;
    Void const void_;
    Bytes allowance_;             // accumulated shares; starts at the maximum, as the first lap needs none
    SteadyTime short_since_{};    // since when newcomers have no room
    std::uint64_t granted_ = 0;   // the generation that was granted a share last
    Figures figures_;
    Complaints complaints_;
    std::atomic<bool> stopping_{false};
};

}   // namespace garner::store::disk
