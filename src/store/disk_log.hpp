// The end of the log: where records are appended, and how they get to the file.
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

/// Segments are used one after the other, round and round. The open one and those not yet written lie in buffers; one
/// thread writes them, in order, another sees to it that they reach the disk. Thread-safe.
class Log {
public:
    /// What a segment is for now.
    enum class Use : std::uint8_t {
        unknown,    // recovery has not looked yet, or could not read it: then it is out of use, too
        free,       // may be the next to be opened
        open,       // or closed, and not all written
        closed
    };
    struct Segment {
        std::uint64_t generation = 0;   // 0: nothing in it
        WallTime opened{};
        Use use = Use::unknown;
        std::uint8_t failures = 0;
    };
    static constexpr std::uint8_t failures_max = 2;   // then it is not used any more

    /// Makes void for good what all segments up to this generation hold; false: that could not be written.
    using Void = std::function<bool(std::uint64_t generation)>;
    /// Told of what a failed write has lost, or may have lost where a sync failed: in order, without any lock.
    using Lost = std::function<void(std::uint32_t segment, std::span<FooterEntry const>)>;

    Log(io::File const& file, StoreHeader const& header, Bytes alignment, Bytes buffer_bytes, milliseconds sync, Lost lost,
        Void make_void);
    ~Log();

    /// A segment as recovery found it. Before begin().
    void adopt(std::uint32_t segment, Segment const& found);
    /// From now on records may be appended, from that segment on; segments up to the generation `wiped` are empty.
    void begin(std::uint32_t next, std::uint64_t generation, std::uint64_t wiped);
    /// Returns at the latest when the time is over.
    void wait_until_begun(milliseconds most);
    /// Writes everything, closes the open segment with its footer, syncs, and ends.
    void end();

    /// Room for a record of head.bytes(), to be filled by encode() and then told by commit().
    struct Reservation {
        std::shared_ptr<struct Buffer> buffer;
        std::span<char> into;
        Location place;
        WallTime opened{};
    };
    std::optional<Reservation> reserve(RecordHead const& head, Purpose purpose);
    void commit(Reservation const& room);
    /// Before commit(): the record in it, encoded again with this kind, is not needed after all.
    void waste(Reservation const& room);

    /// The segment that an offset in the file belongs to.
    std::uint32_t segment_of(Bytes offset) const;
    Segment segment(std::uint32_t number) const;
    /// The one with the lowest generation from this on.
    std::optional<DiskStore::Stretch> segment_from(std::uint64_t generation) const;
    std::uint32_t segments() const { return header_.segments; }
    StoreHeader const& header() const { return header_; }
    /// The record that begins there: where it is not written yet its bytes, as long as `owner` lives; else it is in the file.
    struct Found {
        Location place;
        std::shared_ptr<void const> owner;
        std::string_view bytes;
    };
    Found find(Bytes offset) const;

    /// What a segment has that is not all written; nothing for others.
    std::optional<Footer> pending(std::uint32_t segment) const;

    /// The next closed segment to make free; nothing while none is needed soon.
    std::optional<std::uint32_t> wanted() const;
    /// No segment is free to go on in.
    bool is_full() const;
    /// Behind the open one there is another that newcomers may open.
    bool has_room_for_newcomers() const;
    /// Waits until wanted() may say something new, or the time is over, or end().
    bool wait_for_want(milliseconds most) const;
    /// What a segment of this generation held is about to be overwritten.
    void wiping(std::uint64_t generation);
    /// It was, so that no restart finds it. The next sync takes that to the disk; who waits until something has reached the
    /// disk waits for it, too.
    void wiped(std::uint64_t generation);
    /// The newest generation of which that is so, and of all before it.
    std::uint64_t wiped_until() const;
    void free(std::uint32_t segment);
    /// Whether the one before it in the round is out of use.
    bool is_behind_retired(std::uint32_t segment) const;

    enum class Reaches : std::uint8_t { file, disk };
    /// Wakes the handle when all that was appended until now is there; not any more after that time.
    void wake_when_settled(Reaches where, net::WakeHandle handle, milliseconds most);
    /// The same for a thread that may wait; false when it takes longer than that.
    bool wait_until_settled(Reaches where, milliseconds most);

    /// From the next sync on.
    void sync_every(milliseconds time);

    /// Nobody is woken any more.
    void forget_waiting();

    /// How far it goes, and how much of that is in the file: of all that was ever appended.
    std::uint64_t end_position() const;
    std::uint64_t written_position() const;
    /// Of all that was ever opened; 0 before begin().
    std::uint64_t newest_generation() const;

    /// After too many failures nothing is appended, until somebody finds that it works again.
    bool failing() const;
    void try_again();
    std::string trouble() const;

    struct Figures {
        Bytes written = 0;
        Bytes buffered = 0;
        std::uint64_t write_errors = 0;
        std::uint32_t retired = 0;
        std::uint64_t laps = 0;
    };
    Figures figures() const;
    Bytes metadata_bytes() const;

private:
    /// What was written until some moment.
    struct Mark {
        std::uint64_t position = 0;   // in all that was ever appended
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
    /// What one write shall take of a buffer.
    struct Turn {
        Bytes from = 0;
        Bytes until = 0;
        bool is_last = false;         // the footer follows
        bool past_cache = false;
    };
    struct Written {
        int data_error = 0;
        int error = 0;                // of the data or of the footer
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
    void take_settled(std::vector<net::WakeHandle>& into) REQUIRES(mutex_);
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
    mutable ConditionVariable work_;      // for the writer
    mutable ConditionVariable syncing_;
    mutable ConditionVariable wants_;     // for the cleaner
    ConditionVariable settled_;
    ConditionVariable begun_;
    std::vector<Segment> segments_ GUARDED_BY(mutex_);
    std::deque<std::shared_ptr<struct Buffer>> queue_ GUARDED_BY(mutex_);   // not all written, oldest first, the open one last
    std::shared_ptr<struct Buffer> open_ GUARDED_BY(mutex_);
    std::shared_ptr<struct Spare> const spare_;
    std::vector<Waiting> waiting_ GUARDED_BY(mutex_);
    std::vector<Some> unsynced_ GUARDED_BY(mutex_);
    std::uint32_t next_ GUARDED_BY(mutex_) = 0;
    std::uint64_t generation_ GUARDED_BY(mutex_) = 0;
    std::uint64_t end_position_ GUARDED_BY(mutex_) = 0;            // of the buffers before the open one
    std::uint64_t written_position_ GUARDED_BY(mutex_) = 0;
    milliseconds sync_ GUARDED_BY(mutex_);
    std::uint64_t wipes_ GUARDED_BY(mutex_) = 0;
    std::uint64_t newest_wiped_ GUARDED_BY(mutex_) = 0;            // generation of those not synced
    std::uint64_t wiping_ GUARDED_BY(mutex_) = 0;                  // of the one that is about to be
    std::uint64_t wiped_until_ GUARDED_BY(mutex_) = 0;
    bool wipes_lost_ GUARDED_BY(mutex_) = false;                   // some of them, by a sync that failed
    Mark synced_ GUARDED_BY(mutex_);
    Mark wanted_on_disk_ GUARDED_BY(mutex_);                       // somebody waits for it
    bool running_ GUARDED_BY(mutex_) = false;
    bool stopping_ GUARDED_BY(mutex_) = false;
    bool hurry_ GUARDED_BY(mutex_) = false;                        // somebody waits for what is not written yet
    bool idle_ GUARDED_BY(mutex_) = false;                         // the writer waits for work
    bool failing_ GUARDED_BY(mutex_) = false;
    unsigned failed_in_a_row_ GUARDED_BY(mutex_) = 0;
    unsigned syncs_failed_in_a_row_ GUARDED_BY(mutex_) = 0;
    std::uint64_t syncs_failed_ GUARDED_BY(mutex_) = 0;
    std::string trouble_ GUARDED_BY(mutex_);
    Figures figures_ GUARDED_BY(mutex_);
    std::thread writer_;
    std::thread syncer_;
};

}  // namespace garner::store::disk
