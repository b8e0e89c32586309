// What a file has from earlier, found again: by the footers of its segments, newest first.
#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "io/file.hpp"
#include "store/disk_index.hpp"
#include "store/disk_log.hpp"
#include "store/disk_order.hpp"

namespace garner::store::disk {

/// Runs on a thread of its own while the store works already; the newest record of a hash is the one that counts.
class Recovery {
public:
    /// Told of the bytes of each record that was found.
    using Came = std::function<void(Bytes)>;

    Recovery(io::File const& file, Log& log, Index& index, Order& order, Came came)
        : file_(file), log_(log), index_(index), order_(order), came_(std::move(came)) {}

    /// Finds the segments and lets the log begin behind the newest; then puts their records into the index. Until it is
    /// over, nothing that was forgotten since may come back: see bury().
    void run();
    void stop() { stopping_.store(true); }
    bool is_over() const { return over_.load(std::memory_order_acquire); }
    std::uint32_t segments_done() const { return done_.load(std::memory_order_relaxed); }

    /// What lies under this hash from before now is not put into the index any more. Does nothing when all is over.
    void bury(Fingerprint hash);

private:
    struct Found {
        std::uint32_t segment;
        std::uint64_t generation;
    };
    std::vector<Found> find_segments();
    std::optional<SegmentHead> head_of(std::uint32_t segment) const;
    std::optional<SegmentHead> head_by_records(std::uint32_t segment) const;
    void leave_footer(std::uint32_t segment, Footer const& footer) const;
    void tell_order(std::vector<Found> const& found);
    void take(std::uint32_t segment, Footer const& footer);

    io::File const& file_;
    Log& log_;
    Index& index_;
    Order& order_;
    Came const came_;
    std::atomic<bool> stopping_{false};
    std::atomic<bool> over_{false};
    std::atomic<std::uint32_t> done_{0};
    std::mutex mutex_;
    // As the index knows them. Guarded by mutex_, as is putting into the index what is not among them.
    std::unordered_set<Fingerprint> buried_;
};

/// The footer of a segment as it lies in the file; nothing when there is none, or a damaged one.
std::optional<Footer> read_footer(io::File const& file, StoreHeader const& header, std::uint32_t segment);
/// What it would say: by the records themselves, over what is damaged, to the last one of this generation. Empty where the
/// segment cannot be read.
Footer walk(io::File const& file, StoreHeader const& header, std::uint32_t segment, SegmentHead const& head);

}  // namespace garner::store::disk
