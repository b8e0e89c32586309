// What a file has from earlier, found again: by the footers of its segments, newest first.
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

/// The footer of a segment as it lies in the file; nothing when there is none, or a damaged one.
std::optional<Footer> read_footer(io::File const& file, StoreHeader const& header, std::uint32_t segment);
/// What it would say: by the records themselves, over what is damaged or cannot be read, to the last one of this
/// generation.
struct Walked : Footer {
    Bytes end = segment_head_bytes;        // of the last record
    bool whole = true;                     // all of the segment could be read
};
Walked walk(io::File const& file, StoreHeader const& header, std::uint32_t segment, SegmentHead const& head);
/// An entry of what was walked for a record that cannot be read any more: nothing older may take its place.
inline bool is_lost(FooterEntry const& entry) { return entry.kind == RecordKind::tombstone && entry.offset == 0; }
/// What a closed segment has: by its footer where there is one of this generation, else by the records.
struct Contents : Footer {
    bool walked = false;                   // by the records
};
Contents read_contents(io::File const& file, StoreHeader const& header, std::uint32_t segment, SegmentHead const& head);
/// What the index has in a segment that has lost its footer, and none of the records that are left there are: it was cut off,
/// or written over. Goes over all of the index then, which is rare.
std::vector<Index::Known> unseen_in(Index const& index, StoreHeader const& header, std::uint32_t segment,
                                    Contents const& contents);

/// Runs on a thread of its own while the store works already; the newest record of a hash is the one that counts.
class Recovery {
public:
    /// Told of the bytes of the records that were found.
    using Came = std::function<void(LiveBytes::Sum const&)>;

    /// Told of each object whose body lies in pieces.
    using InPieces = std::function<void(Fingerprint, Index::Entry const&)>;

    Recovery(io::File const& file, Log& log, Index& index, Order& order, Came came, InPieces in_pieces)
        : file_(file), log_(log), index_(index), order_(order), came_(std::move(came)), in_pieces_(std::move(in_pieces)) {}

    /// Finds the segments and lets the log begin behind the newest; then puts their records into the index. Until it is
    /// over, nothing that was forgotten since may come back: see bury().
    void run();
    /// After that, what need not be known before anything is found: what the order wants to hear, and InPieces.
    void tell();
    void stop() { stopping_.store(true); }
    bool is_over() const { return over_.load(std::memory_order_acquire); }
    /// It is over, and nothing was there that could not be read. Else more may be there than the index knows, now or after
    /// the next start.
    bool has_all() const { return is_over() && !missed_.load(std::memory_order_relaxed); }
    /// It is over, and the order knows of all that was there. Until then it cannot tell what is wanted.
    bool order_is_told() const { return order_told_.load(std::memory_order_acquire); }
    std::uint32_t segments_done() const { return done_.load(std::memory_order_relaxed); }

    /// What lies under this hash from before now is not put into the index any more. Does nothing when all is over.
    void bury(Fingerprint hash);

private:
    struct Found {
        std::uint32_t segment;
        std::uint64_t generation;
        WallTime opened;
    };
    /// A segment without a good head.
    struct Doubtful {
        std::uint32_t segment;
        bool readable;             // where its head should be
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
    std::vector<Found> found_;             // until tell()
    std::vector<Found> with_pieces_;       // those with heads whose bodies lie in pieces; the same
    std::uint64_t wiped_ = 0;              // of all heads the highest
    Bytes footer_ = 0;                     // of a segment, about
    std::atomic<bool> stopping_{false};
    std::atomic<bool> over_{false};
    std::atomic<bool> order_told_{false};
    std::atomic<bool> missed_{false};      // something could not be read
    std::atomic<std::uint32_t> done_{0};
    Mutex mutex_;
    // As the index knows them. What is not among them is put into the index under mutex_, too.
    std::unordered_set<Fingerprint> buried_ GUARDED_BY(mutex_);
};

}  // namespace garner::store::disk
