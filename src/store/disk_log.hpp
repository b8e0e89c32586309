// The write end of the log: appends records and writes them to the file.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "io/file.hpp"
#include "net/wake.hpp"
#include "store/disk_core.hpp"
#include "store/disk_format.hpp"
#include "store/disk_store.hpp"
#include "util/mutex.hpp"

namespace garner::store::disk {

/// Segments are used in turn, as a ring. The open segment and those not yet written are in buffers; one thread writes
/// them in order, and another syncs the file. Thread-safe.
class Log {
public:
    /// The current use of a segment.
    enum class Use : std::uint8_t {
        unknown,   // recovery has not read it yet, or could not: then it is not used
        free,      // may be opened next
        open,      // open, or closed and not fully written
        closed
    };
    struct Segment {
        std::uint64_t generation = 0;   // 0: empty
        WallTime opened{};
        Use use = Use::unknown;
        std::uint8_t failures = 0;
    };
    static constexpr std::uint8_t failures_max = 2;   // afterwards the segment is retired

    /// Permanently invalidates all segments up to this generation; false: the write failed.
    using Void = std::function<bool(std::uint64_t generation)>;
    /// Called with records that a failed write has lost, or a failed sync may have lost: in order, without any lock
    /// held.
    using Lost = std::function<void(std::uint32_t segment, std::span<FooterEntry const>)>;

    Log(io::File const& file, StoreHeader const& header, Bytes alignment, Bytes buffer_bytes, milliseconds sync, Lost lost,
        Void make_void);
    ~Log();

    /// Sets the state of a segment found by recovery. Call before begin().
    void adopt(std::uint32_t segment, Segment const& found);
    /// Allows appends, beginning with segment `next`; segments up to the generation `wiped` are empty.
    void begin(std::uint32_t next, std::uint64_t generation, std::uint64_t wiped);
    /// Blocks until begin() was called, at most for this time.
    void wait_until_begun(milliseconds most);
    /// Writes all buffers, closes the open segment with its footer, syncs, and stops.
    void end();

    /// Room for a record of head.bytes(); fill it with encode(), then call commit().
    struct Reservation {
        std::shared_ptr<struct Buffer> buffer;
        std::span<char> into;
        Location place;
        WallTime opened{};
    };
    std::optional<Reservation> reserve(RecordHead const& head, Purpose purpose);
    void commit(Reservation const& room);
    /// Call before commit() if the record is not needed after all. The caller encodes it again as a filler.
    void waste(Reservation const& room);

    /// The segment that contains this file offset.
    std::uint32_t segment_of(Bytes offset) const;
    Segment segment(std::uint32_t number) const;
    /// The segment with the lowest generation from this one on.
    std::optional<DiskStore::Stretch> segment_from(std::uint64_t generation) const;
    std::uint32_t segments() const { return header_.segments; }
    StoreHeader const& header() const { return header_; }
    /// The record that begins at an offset. If it is not written yet, `bytes` are valid as long as `owner` lives;
    /// otherwise it is in the file.
    struct Found {
        Location place;
        std::shared_ptr<void const> owner;
        std::string_view bytes;
    };
    Found find(Bytes offset) const;

    /// The contents of a segment that is not fully written; nothing for other segments.
    std::optional<Footer> pending(std::uint32_t segment) const;

    /// The next closed segment to free; nothing while none is needed soon.
    std::optional<std::uint32_t> wanted() const;
    /// True when no free segment is left to open.
    bool is_full() const;
    /// True when newcomers may open another segment after the open one.
    bool has_room_for_newcomers() const;
    /// Waits until the result of wanted() may change, the time is over, or end() is called.
    bool wait_for_want(milliseconds most) const;
    /// Announces that a segment of this generation is about to be wiped.
    void wiping(std::uint64_t generation);
    /// The wipe is written, so that no restart finds the segment. The next sync makes it durable; waiters for the
    /// disk also wait for that.
    void wiped(std::uint64_t generation);
    /// The newest generation whose wipe is durable, as are all before it.
    std::uint64_t wiped_until() const;
    void free(std::uint32_t segment);
    /// Whether the segment before it in the ring is retired.
    bool is_behind_retired(std::uint32_t segment) const;

    enum class Reaches : std::uint8_t { file, disk };
    /// Wakes the handle when everything appended until now is there, within that time.
    void wake_when_settled(Reaches where, net::WakeHandle handle, milliseconds most);
    /// The blocking form; false when it takes longer than that.
    bool wait_until_settled(Reaches where, milliseconds most);

    /// Takes effect with the next sync.
    void sync_every(milliseconds time);

    /// Wakes no waiter afterwards.
    void forget_waiting();

    /// The end of the log, and the end of its written part; in bytes of the total ever appended.
    std::uint64_t end_position() const;
    std::uint64_t written_position() const;
    /// The newest generation ever opened; 0 before begin().
    std::uint64_t newest_generation() const;

    /// True after too many failures: nothing is appended until try_again() is called.
    bool failing() const;
    void try_again();
    std::string trouble() const;

    struct Figures {
        Bytes written = 0;
        Bytes buffered = 0;
        std::uint64_t write_errors = 0;
        std::uint32_t retired = 0;
        std::uint64_t laps = 0;
        Bytes memory = 0;   // of unwritten segments, those that readers still use, and a spare one
    };
    Figures figures() const;
    /// The bound of Figures::memory while readers use only segments that are not written.
    Bytes memory_max() const { return (buffers_max_ + 1) * header_.segment_bytes; }
    Bytes metadata_bytes() const;

private:
    /// A point up to which the log was written.
    struct Mark {
        std::uint64_t position = 0;   // in the total ever appended
        std::uint64_t wipes = 0;
    };
    struct Waiting {
        Mark mark;
        Reaches where;
        net::WakeHandle handle;
        SteadyTime until;
    };
    /// Records of one segment.
    struct Some {
        std::uint32_t segment;
        std::vector<FooterEntry> entries;
    };
    /// The part of a buffer for one write.
    struct Turn {
        Bytes from = 0;
        Bytes until = 0;
        bool is_last = false;   // the footer follows
        bool past_cache = false;
    };
    struct Written {
        int data_error = 0;
        int error = 0;   // error of data or footer
        Bytes bytes = 0;
    };
    bool fits_in_open(Bytes record) const REQUIRES(mutex_);
    bool open_next(Purpose purpose) REQUIRES(mutex_);
    std::optional<std::uint32_t> next_free() const REQUIRES(mutex_);
    bool is_free_behind(std::uint32_t number, std::uint32_t count) const REQUIRES(mutex_);
    void close_open() REQUIRES(mutex_);
    bool has_work() const REQUIRES(mutex_);
    bool is_written_at_once() const REQUIRES(mutex_);
    bool is_behind() const REQUIRES(mutex_);
    void write_loop();
    bool write_some() REQUIRES(mutex_);
    Written write(struct Buffer const&, Turn const&) const EXCLUDES(mutex_);
    void note_written(struct Buffer&, Bytes until) REQUIRES(mutex_);
    void close(std::shared_ptr<struct Buffer> const&) REQUIRES(mutex_);
    void fail(std::shared_ptr<struct Buffer> const&, int error) REQUIRES(mutex_);
    void sync_loop();
    void sync() REQUIRES(mutex_);
    void write_again() REQUIRES(mutex_);
    void take_settled(net::WakeHandles& into) REQUIRES(mutex_);
    bool to_sync() const REQUIRES(mutex_) { return written_position_ > synced_.position || wipes_ > synced_.wipes; }
    bool is_sync_wanted() const REQUIRES(mutex_) {
        return !has_reached(wanted_on_disk_, Reaches::disk) && to_sync() && !wipes_lost_;
    }
    void want(Mark mark, Reaches where) REQUIRES(mutex_);
    bool wipes_are_synced(std::uint64_t newest, int error) REQUIRES(mutex_);
    std::uint64_t position() const REQUIRES(mutex_);
    Mark mark() const REQUIRES(mutex_) { return {position(), wipes_}; }
    bool has_reached(Mark mark, Reaches where) const REQUIRES(mutex_) {
        if (where == Reaches::file) return mark.position <= written_position_;
        return mark.position <= synced_.position && mark.wipes <= synced_.wipes;
    }

    io::File const& file_;
    StoreHeader const header_;
    Bytes const alignment_;
    std::size_t const buffers_max_;
    Lost const lost_;
    Void const void_;

    mutable Mutex mutex_;
    mutable ConditionVariable work_;   // for the writer
    mutable ConditionVariable syncing_;
    mutable ConditionVariable wants_;   // for the cleaner
    ConditionVariable settled_;
    ConditionVariable begun_;
    std::vector<Segment> segments_ GUARDED_BY(mutex_);
    std::deque<std::shared_ptr<struct Buffer>> queue_ GUARDED_BY(mutex_);   // not fully written; the open one is last
    std::shared_ptr<struct Buffer> open_ GUARDED_BY(mutex_);
    std::shared_ptr<struct Spare> const spare_;
    std::vector<Waiting> waiting_ GUARDED_BY(mutex_);
    std::vector<Some> unsynced_ GUARDED_BY(mutex_);
    std::uint32_t next_ GUARDED_BY(mutex_) = 0;
    std::uint64_t generation_ GUARDED_BY(mutex_) = 0;
    std::uint64_t end_position_ GUARDED_BY(mutex_) = 0;   // end of the buffers before the open one
    std::uint64_t written_position_ GUARDED_BY(mutex_) = 0;
    milliseconds sync_ GUARDED_BY(mutex_);
    std::uint64_t wipes_ GUARDED_BY(mutex_) = 0;
    std::uint64_t newest_wiped_ GUARDED_BY(mutex_) = 0;   // newest generation with an unsynced wipe
    std::uint64_t wiping_ GUARDED_BY(mutex_) = 0;         // generation about to be wiped
    std::uint64_t wiped_until_ GUARDED_BY(mutex_) = 0;
    bool wipes_lost_ GUARDED_BY(mutex_) = false;   // by a failed sync
    Mark synced_ GUARDED_BY(mutex_);
    Mark wanted_on_disk_ GUARDED_BY(mutex_);   // requested by a waiter
    bool running_ GUARDED_BY(mutex_) = false;
    bool stopping_ GUARDED_BY(mutex_) = false;
    bool hurry_ GUARDED_BY(mutex_) = false;   // a waiter needs unwritten records
    bool idle_ GUARDED_BY(mutex_) = false;    // the writer waits for work
    bool failing_ GUARDED_BY(mutex_) = false;
    unsigned failed_in_a_row_ GUARDED_BY(mutex_) = 0;
    unsigned syncs_failed_in_a_row_ GUARDED_BY(mutex_) = 0;
    std::uint64_t syncs_failed_ GUARDED_BY(mutex_) = 0;
    std::string trouble_ GUARDED_BY(mutex_);
    Figures figures_ GUARDED_BY(mutex_);
    std::thread writer_;
    std::thread syncer_;
};

}   // namespace garner::store::disk
