// Rebuilds the index from the file: reads the footers of its segments, newest first.
#pragma once
#include <atomic>
#include <functional>
#include <unordered_set>
#include <vector>

#include "io/file.hpp"
#include "store/disk_index.hpp"
#include "store/disk_live.hpp"
#include "store/disk_log.hpp"
#include "store/disk_order.hpp"
#include "util/mutex.hpp"

namespace garner::store::disk {

/// The footer of a segment as stored in the file; nothing when it is missing or damaged.
std::optional<Footer> read_footer(io::File const& file, StoreHeader const& header, std::uint32_t segment);
/// A footer rebuilt from the records of a segment, skipping damaged and unreadable parts, up to the last record of
/// this generation.
struct Walked : Footer {
    Bytes end = segment_head_bytes;   // end of the last record
    bool whole = true;                // the whole segment was readable
};
Walked walk(io::File const& file, StoreHeader const& header, std::uint32_t segment, SegmentHead const& head);
/// True for an entry of a walked segment whose record is unreadable: no older record may replace it.
inline bool is_lost(FooterEntry const& entry) { return entry.kind == RecordKind::tombstone && entry.offset == 0; }
/// The contents of a closed segment: from the footer if it has this generation, otherwise from the records.
struct Contents : Footer {
    bool walked = false;   // from the records
};
Contents read_contents(io::File const& file, StoreHeader const& header, std::uint32_t segment, SegmentHead const& head);
/// Index entries in a segment that has no footer and no readable record for them: the file was truncated or
/// overwritten. Scans the whole index; this is rare.
std::vector<Index::Known> unseen_in(Index const& index, StoreHeader const& header, std::uint32_t segment, Contents const& contents);

/// Runs on a thread of its own while the store already works; the newest record of a hash wins.
class Recovery {
public:
    /// Called with the bytes of the records found.
    using Came = std::function<void(LiveBytes::Sum const&)>;

    /// Called for each object whose body is in pieces.
    using InPieces = std::function<void(Fingerprint, Index::Entry const&)>;

    Recovery(io::File const& file, Log& log, Index& index, Order& order, Came came, InPieces in_pieces)
        : file_(file), log_(log), index_(index), order_(order), came_(std::move(came)), in_pieces_(std::move(in_pieces)) {}

    /// Finds the segments and calls Log::begin() with the one after the newest; then puts their records into the
    /// index. Records removed meanwhile are not restored: see note_removed().
    void run();
    /// Call after run(). Does the work that lookups do not need: reports records to the order, and calls InPieces.
    void tell();
    void stop() { stopping_.store(true); }
    bool is_over() const { return over_.load(std::memory_order_acquire); }
    /// True when recovery is over and everything was readable. Otherwise the file may have records unknown to the
    /// index, now or after the next start.
    bool has_all() const { return is_over() && !missed_.load(std::memory_order_relaxed); }
    /// True when recovery is over and the order knows all records. Until then the order cannot choose records to
    /// keep.
    bool order_is_told() const { return order_told_.load(std::memory_order_acquire); }
    std::uint32_t segments_done() const { return done_.load(std::memory_order_relaxed); }

    /// Excludes older records of this hash from the index. Does nothing when recovery is over.
    void note_removed(Fingerprint hash);

private:
    struct Found {
        std::uint32_t segment;
        std::uint64_t generation;
        WallTime opened;
    };
    /// A segment without a valid head.
    struct Doubtful {
        std::uint32_t segment;
        bool readable;   // the location of its head
        bool blank;
    };
    std::vector<Found> find_segments();
    std::vector<Doubtful> read_heads(std::vector<Found>& found);
    void leave_out_wiped(std::vector<Found>& found);
    bool holds_nothing(std::uint64_t generation) const {
        return generation == 0 || generation < log_.header().least_generation || generation <= wiped_;
    }
    std::optional<Found> look_closer(Doubtful const& doubtful, std::uint64_t newest, bool was_used);
    double entries_of_each(std::vector<Found> const& found) const;
    void ask_for_footer(std::vector<Found> const& found, std::size_t number) const;
    std::optional<Footer> contents_of(Found const& found);
    void leave_footer(std::uint32_t segment, Walked const& walked) const;
    void tell_order();
    void tell_in_pieces();
    void take(std::uint32_t segment, Footer const& footer);

    io::File const& file_;
    Log& log_;
    Index& index_;
    Order& order_;
    Came const came_;
    InPieces const in_pieces_;
    std::vector<Found> found_;         // until tell()
    std::vector<Found> with_pieces_;   // segments with heads of bodies in pieces; also until tell()
    std::uint64_t wiped_ = 0;          // the highest value in any segment head
    Bytes footer_ = 0;                 // typical footer size of a segment
    std::atomic<bool> stopping_{false};
    std::atomic<bool> over_{false};
    std::atomic<bool> order_told_{false};
    std::atomic<bool> missed_{false};   // a part was unreadable
    std::atomic<std::uint32_t> done_{0};
    Mutex mutex_;
    // In the index's form (known_bits). Records of other hashes are put into the index under mutex_, too.
    std::unordered_set<Fingerprint> buried_ GUARDED_BY(mutex_);
};

}   // namespace garner::store::disk
