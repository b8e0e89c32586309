#include "store/disk_log.hpp"

#include <algorithm>
#include <utility>

#include "store/disk_buffer.hpp"
#include "util/check.hpp"
#include "util/mutex.hpp"

namespace garner::store::disk {

namespace {

constexpr std::size_t least_buffers = 3;        // one being written, one open, one for mandatory records (tombstones,
                                                // rewritten records)
constexpr milliseconds gathering{2};            // between two writes: the most that a kill can lose
constexpr Bytes past_cache_least = 128 * KiB;   // copying less is cheaper than waiting for the disk
constexpr Bytes behind_most = 8 * MiB;          // the most that a kill can lose if the disk is slow
constexpr unsigned failures_until_failing = 3;
// Number of segments reserved for rewritten records. Without them the cleaner could not free any segment, and the most used
// records would be evicted.
constexpr std::uint32_t reserved = 2;
constexpr std::uint32_t free_ahead = 5;   // free segments that the cleaner maintains

}   // namespace

Log::Log(io::File const& file, StoreHeader const& header, Bytes alignment, Bytes buffer_bytes, milliseconds sync, Lost lost,
         Void make_void)
    : file_(file), header_(header), alignment_(alignment),
      buffers_max_(std::max<std::size_t>(buffer_bytes / header.segment_bytes, least_buffers)), lost_(std::move(lost)),
      void_(std::move(make_void)), segments_(header.segments), spare_(std::make_shared<Spare>()), sync_(sync) {}

Log::~Log() { end(); }

void Log::adopt(std::uint32_t segment, Segment const& found) {
    MutexLock const lock(mutex_);
    segments_[segment] = found;
    if (found.failures >= failures_max) ++figures_.retired;
}

void Log::begin(std::uint32_t next, std::uint64_t generation, std::uint64_t wiped) {
    MutexLock const lock(mutex_);
    next_ = next % header_.segments;
    generation_ = generation;
    wiped_until_ = wiped;
    running_ = true;
    writer_ = std::thread([this] { write_loop(); });
    syncer_ = std::thread([this] { sync_loop(); });
    begun_.notify_all();
}

void Log::wait_until_begun(milliseconds most) {
    auto const until = steady_now() + most;
    MutexLock const lock(mutex_);
    while (!running_ && begun_.wait_until(mutex_, until)) {
    }
}

void Log::end() {
    {
        MutexLock const lock(mutex_);
        if (stopping_) return;
        if (open_) close_open();
        stopping_ = true;
        running_ = false;
    }
    work_.notify_all();
    syncing_.notify_all();
    wants_.notify_all();
    if (writer_.joinable()) writer_.join();
    if (syncer_.joinable()) syncer_.join();
}

// ---- appending ----

std::optional<Log::Reservation> Log::reserve(RecordHead const& head, Purpose purpose) {
    MutexLock const lock(mutex_);
    if (!running_ || failing_) return std::nullopt;
    auto const bytes = head.bytes();
    if (!fits_in_open(bytes)) {
        if (!open_next(purpose) || !fits_in_open(bytes)) return std::nullopt;
    }
    if (purpose == Purpose::newcomer && !is_free_behind(open_->segment, reserved)) return std::nullopt;
    auto& buffer = *open_;
    auto const at = buffer.used;
    buffer.used = (at + bytes + alignment_ - 1) / alignment_ * alignment_;
    buffer.copying.push_back(at);
    FooterEntry entry;
    entry.hash = head.hash;
    entry.offset = static_cast<std::uint32_t>(at / unit);
    entry.bytes = static_cast<std::uint32_t>(bytes);
    entry.kind = head.kind;
    entry.freshness = head.freshness;
    entry.in_pieces = head.in_pieces;
    buffer.entries.push_back(entry);
    Reservation room;
    room.buffer = open_;
    room.into = {buffer.bytes.get() + at, bytes};
    room.place = {header_.id, buffer.generation, header_.start_of(buffer.segment) + at};
    room.opened = buffer.opened;
    return room;
}

bool Log::fits_in_open(Bytes record) const {
    return open_ && open_->used + record + Footer::footer_bytes(open_->entries.size() + 1) <= header_.segment_bytes;
}

void Log::commit(Reservation const& room) {
    bool wake;
    {
        MutexLock const lock(mutex_);
        auto& buffer = *room.buffer;
        auto const at = static_cast<Bytes>(room.into.data() - buffer.bytes.get());
        auto const copying = std::find(buffer.copying.begin(), buffer.copying.end(), at);
        buffer.copying.erase(copying);
        wake = idle_;
    }
    if (wake) work_.notify_one();
}

void Log::waste(Reservation const& room) {
    MutexLock const lock(mutex_);
    auto const at = static_cast<std::uint32_t>((room.into.data() - room.buffer->bytes.get()) / static_cast<std::ptrdiff_t>(unit));
    for (auto entry = room.buffer->entries.rbegin(); entry != room.buffer->entries.rend(); ++entry)
        if (entry->offset == at) {
            entry->kind = RecordKind::filler;
            return;
        }
}

/// Mandatory records may use the last buffer.
bool Log::open_next(Purpose purpose) {
    bool const must = purpose == Purpose::kept || purpose == Purpose::bookkeeping;
    auto const most = must ? buffers_max_ : buffers_max_ - 1;
    auto const next = next_free();
    if (queue_.size() >= most || !next) return false;
    if (purpose == Purpose::newcomer && !is_free_behind(*next, reserved)) return false;
    if (open_) close_open();
    auto buffer = std::make_shared<Buffer>(spare_, header_.segment_bytes);
    buffer->segment = *next;
    buffer->generation = generation_++;
    buffer->opened = wall_now();
    buffer->position = end_position_;
    Location const place{header_.id, buffer->generation, header_.start_of(buffer->segment)};
    encode({buffer->generation, buffer->opened, wiped_until_}, place,
           std::span<char, segment_head_bytes>(buffer->bytes.get(), segment_head_bytes));
    buffer->used = std::max(segment_head_bytes, alignment_);
    std::fill(buffer->bytes.get() + segment_head_bytes, buffer->bytes.get() + buffer->used, '\0');
    auto& segment = segments_[*next];
    segment = {buffer->generation, buffer->opened, Use::open, segment.failures};
    if (*next == 0 && figures_.written > 0) ++figures_.laps;
    next_ = (*next + 1) % header_.segments;
    queue_.push_back(buffer);
    open_ = std::move(buffer);
    wants_.notify_one();
    return true;
}

/// The next free segment in the round, skipping retired ones.
std::optional<std::uint32_t> Log::next_free() const {
    for (std::uint32_t i = 0; i < header_.segments; ++i) {
        auto const number = (next_ + i) % header_.segments;
        auto const& segment = segments_[number];
        if (segment.failures >= failures_max) continue;
        if (segment.use == Use::free) return number;
        return std::nullopt;
    }
    return std::nullopt;
}

/// Whether this many more segments are free after it, skipping retired ones.
bool Log::is_free_behind(std::uint32_t number, std::uint32_t count) const {
    for (std::uint32_t i = 1; i < header_.segments && count > 0; ++i) {
        auto const& segment = segments_[(number + i) % header_.segments];
        if (segment.failures >= failures_max) continue;
        if (segment.use != Use::free) return false;
        --count;
    }
    return count == 0;
}

void Log::close_open() {
    open_->closed = true;
    end_position_ = open_->position + open_->used;
    open_ = nullptr;
}

/// The position in the total ever appended.
std::uint64_t Log::position() const { return open_ ? open_->position + open_->used : end_position_; }

// ---- reading ----

std::uint32_t Log::segment_of(Bytes offset) const {
    return static_cast<std::uint32_t>((offset - header_area) / header_.segment_bytes);
}

Log::Segment Log::segment(std::uint32_t number) const {
    MutexLock const lock(mutex_);
    return segments_[number];
}

std::optional<DiskStore::Stretch> Log::segment_from(std::uint64_t generation) const {
    MutexLock const lock(mutex_);
    std::optional<DiskStore::Stretch> first;
    for (std::uint32_t number = 0; number < header_.segments; ++number) {
        auto const own = segments_[number].generation;
        if (own == 0 || own < generation) continue;
        if (!first || own < first->generation) first = {number, own};
    }
    return first;
}

Log::Found Log::find(Bytes offset) const {
    auto const number = segment_of(offset);
    auto const at = offset - header_.start_of(number);
    MutexLock const lock(mutex_);
    Found found{{header_.id, segments_[number].generation, offset}, nullptr, {}};
    auto const in_segment = [&](auto const& buffer) { return buffer->segment == number; };
    auto const buffer = std::ranges::find_if(queue_, in_segment);
    if (buffer == queue_.end()) return found;
    // Only this record: the records after it may still be filled.
    auto const& entries = (*buffer)->entries;
    auto const entry = std::ranges::lower_bound(entries, at / unit, {}, &FooterEntry::offset);
    if (entry == entries.end() || entry->offset * unit != at) return found;
    found.owner = *buffer;
    found.bytes = {(*buffer)->bytes.get() + at, entry->bytes};
    return found;
}

std::optional<Footer> Log::pending(std::uint32_t segment) const {
    MutexLock const lock(mutex_);
    for (auto const& buffer : queue_)
        if (buffer->segment == segment) return Footer{buffer->generation, buffer->opened, buffer->entries};
    return std::nullopt;
}

// ---- free segments ----

std::optional<std::uint32_t> Log::wanted() const {
    MutexLock const lock(mutex_);
    if (!running_) return std::nullopt;
    std::uint32_t free = 0;
    for (std::uint32_t i = 0; i < header_.segments && free < free_ahead; ++i) {
        auto const number = (next_ + i) % header_.segments;
        auto const& segment = segments_[number];
        // A retired segment is emptied in its turn, too: its records must not outlive their tombstones.
        if (segment.use == Use::closed) return number;
        if (segment.failures >= failures_max) continue;
        if (segment.use != Use::free) return std::nullopt;
        ++free;
    }
    return std::nullopt;
}

bool Log::is_full() const {
    MutexLock const lock(mutex_);
    return !next_free();
}

bool Log::has_room_for_newcomers() const {
    MutexLock const lock(mutex_);
    auto const next = next_free();
    return next && is_free_behind(*next, reserved);
}

bool Log::wait_for_want(milliseconds most) const {
    MutexLock const lock(mutex_);
    if (!stopping_) wants_.wait_until(mutex_, steady_now() + most);
    return !stopping_;
}

void Log::wiping(std::uint64_t generation) {
    MutexLock const lock(mutex_);
    wiping_ = generation;
}

void Log::wiped(std::uint64_t generation) {
    MutexLock const lock(mutex_);
    wiping_ = 0;
    ++wipes_;
    newest_wiped_ = std::max(newest_wiped_, generation);
    wiped_until_ = std::max(wiped_until_, generation);
    if (is_sync_wanted()) syncing_.notify_one();
}

std::uint64_t Log::wiped_until() const {
    MutexLock const lock(mutex_);
    return wiped_until_;
}

void Log::free(std::uint32_t segment) {
    MutexLock const lock(mutex_);
    segments_[segment].use = Use::free;
    segments_[segment].generation = 0;
}

bool Log::is_behind_retired(std::uint32_t segment) const {
    MutexLock const lock(mutex_);
    return segments_[(segment + header_.segments - 1) % header_.segments].failures >= failures_max;
}

// ---- writing ----

bool Log::has_work() const {
    if (queue_.empty()) return false;
    auto const& buffer = *queue_.front();
    return buffer.ready() > buffer.written || (buffer.closed && buffer.copying.empty());
}

/// If records arrive faster than the disk takes them, they go to the page cache, which has more room than the
/// buffers.
bool Log::is_behind() const {
    return position() - written_position_ > std::min<Bytes>(behind_most, buffers_max_ * header_.segment_bytes / 2);
}

bool Log::is_written_at_once() const { return stopping_ || hurry_ || (has_work() && queue_.front()->closed); }

void Log::write_loop() {
    SteadyTime written{};
    MutexLock const lock(mutex_);
    for (;;) {
        idle_ = true;
        while (!stopping_ && !has_work()) work_.wait(mutex_);
        idle_ = false;
        if (stopping_ && queue_.empty()) return;
        // A lone record is written at once, so that a kill loses very little. Otherwise the writer waits briefly and
        // writes several records together.
        while (!is_written_at_once() && work_.wait_until(mutex_, written + gathering)) {
        }
        hurry_ = false;
        while (has_work() && write_some()) {
        }
        written = steady_now();
        if (stopping_ && (queue_.empty() || failing_)) return;
        if (open_ && open_->used > header_.segment_bytes / 2) {
            MutexUnlock const unlocked(mutex_);
            spare_->prepare(header_.segment_bytes);
        }
    }
}

/// Writes the ready bytes of the oldest buffer, limited to one write. False on an error.
bool Log::write_some() {
    auto const buffer = queue_.front();
    Turn turn{.from = buffer->written, .until = buffer->ready_for_a_turn()};
    turn.is_last = buffer->closed && buffer->copying.empty() && turn.until == buffer->used;
    turn.past_cache = turn.until - turn.from >= past_cache_least && !is_behind();
    auto const syncs_failed = syncs_failed_;
    Written written;
    {
        MutexUnlock const unlocked(mutex_);
        written = write(*buffer, turn);
    }
    bool const counts = syncs_failed == syncs_failed_;   // after a failed sync the bytes may be lost, and are written again
    if (!written.data_error && counts) note_written(*buffer, turn.until);
    if (written.error) {
        fail(buffer, written.error);
        return false;
    }
    figures_.written += written.bytes;
    failed_in_a_row_ = 0;
    if (!counts) return true;
    if (turn.is_last) close(buffer);
    net::WakeHandles wake;
    take_settled(wake);
    if (wake.empty()) return true;
    MutexUnlock const unlocked(mutex_);
    net::wake_all(std::move(wake), net::Wake::ready);
    return true;
}

Log::Written Log::write(Buffer const& buffer, Turn const& turn) const {
    auto const start = header_.start_of(buffer.segment);
    auto const end = start + header_.segment_bytes;
    std::string_view const ready(buffer.bytes.get() + turn.from, turn.until - turn.from);
    auto const at = start + turn.from;
    int const data_error = (turn.past_cache ? file_.write_past_cache_at(at, ready) : file_.write_at(at, ready)).error;
    if (data_error || !turn.is_last) return {data_error, data_error, ready.size()};
    auto const footer =
        encode(Footer{buffer.generation, buffer.opened, buffer.entries}, Location{header_.id, buffer.generation, end});
    int const error = file_.write_at(end - footer.size(), footer).error;
    if (!error) file_.start_writing(start, header_.segment_bytes);
    return {0, error, ready.size() + footer.size()};
}

/// Records that bytes up to `until` are in the file.
void Log::note_written(Buffer& buffer, Bytes until) {
    buffer.written = until;
    written_position_ = buffer.position + until;
    auto const first = buffer.entries.begin() + static_cast<std::ptrdiff_t>(buffer.entries_written);
    auto const last =
        std::find_if(first, buffer.entries.end(), [&](FooterEntry const& entry) { return entry.offset * unit >= until; });
    if (unsynced_.empty() || unsynced_.back().segment != buffer.segment) unsynced_.push_back({buffer.segment, {}});
    auto& unsynced = unsynced_.back().entries;
    unsynced.insert(unsynced.end(), first, last);
    buffer.entries_written = static_cast<std::size_t>(last - buffer.entries.begin());
    if (is_sync_wanted()) syncing_.notify_one();
}

/// Closes a segment that is fully in the file.
void Log::close(std::shared_ptr<Buffer> const& buffer) {
    segments_[buffer->segment].use = Use::closed;
    segments_[buffer->segment].failures = 0;
    queue_.pop_front();
    wants_.notify_one();
}

/// Releases the lock while `lost` is called. Unwritten records are lost; the log continues in another segment. This
/// segment is emptied in its turn, because some of its records may have reached the file.
void Log::fail(std::shared_ptr<Buffer> const& buffer, int error) {
    ++figures_.write_errors;
    ++failed_in_a_row_;
    trouble_ = io::text_of_error(error);
    if (open_ == buffer) close_open();
    // Threads that still fill a record of this buffer must finish before it is freed.
    while (!buffer->copying.empty()) work_.wait_until(mutex_, steady_now() + gathering);
    auto& segment = segments_[buffer->segment];
    segment.use = Use::closed;
    if (++segment.failures == failures_max) ++figures_.retired;
    if (failed_in_a_row_ >= failures_until_failing) failing_ = true;
    auto const first = buffer->entries.begin() + static_cast<std::ptrdiff_t>(buffer->entries_written);
    {
        MutexUnlock const unlocked(mutex_);
        lost_(buffer->segment, std::span(first, buffer->entries.end()));
    }
    written_position_ = buffer->position + buffer->used;   // only after the tombstones for the lost records are pending
    queue_.pop_front();
}

void Log::sync_loop() {
    MutexLock const lock(mutex_);
    for (;;) {
        auto const next = steady_now() + sync_;
        while (!stopping_ && !is_sync_wanted() && syncing_.wait_until(mutex_, next)) {
        }
        bool const stop = stopping_ && queue_.empty();
        if (to_sync() || stop) sync();
        if (stop || (stopping_ && failing_)) return;
        if (stopping_) syncing_.wait_until(mutex_, steady_now() + gathering);
    }
}

/// Releases the lock meanwhile. After a sync error it is unknown which of the last writes reached the disk, and the
/// next sync does not tell. So all of them count as lost, including writes during the failed sync.
void Log::sync() {
    Mark until{written_position_, wipes_};
    auto newest_wiped = std::exchange(newest_wiped_, 0);
    auto unsynced = std::exchange(unsynced_, {});
    int error;
    {
        MutexUnlock const unlocked(mutex_);
        error = file_.sync();
    }
    if (error) {
        ++figures_.write_errors;
        trouble_ = io::text_of_error(error);
        if (++syncs_failed_in_a_row_ >= failures_until_failing) failing_ = true;
        newest_wiped = std::max({newest_wiped, std::exchange(newest_wiped_, 0), wiping_});
        until.wipes = wipes_;
        for (auto& some : std::exchange(unsynced_, {})) unsynced.push_back(std::move(some));
        write_again();
        MutexUnlock const unlocked(mutex_);
        for (auto const& some : unsynced) lost_(some.segment, some.entries);
    } else {
        syncs_failed_in_a_row_ = 0;
    }
    if (newest_wiped && !wipes_are_synced(newest_wiped, error)) until.wipes = synced_.wipes;
    synced_ = until;   // only after the tombstones for the lost records are pending
    net::WakeHandles wake;
    take_settled(wake);
    MutexUnlock const unlocked(mutex_);
    net::wake_all(std::move(wake), net::Wake::ready);
}

/// A restart finds no records in a segment whose head did not reach the disk. So all buffered bytes are written once
/// more; a write in progress does not count.
void Log::write_again() {
    ++syncs_failed_;
    for (auto const& buffer : queue_) buffer->written = buffer->entries_written = 0;
}

/// A wipe that a failed sync may have lost cannot be repeated, because its segment may be in use again. Instead all
/// generations up to the newest wiped one are invalidated: segments are wiped in the order of their generations.
bool Log::wipes_are_synced(std::uint64_t newest, int error) {
    wipes_lost_ = wipes_lost_ || error;
    if (!wipes_lost_) return true;
    bool are_void;
    {
        MutexUnlock const unlocked(mutex_);
        are_void = void_(newest);
    }
    wipes_lost_ = !are_void;
    if (!are_void) newest_wiped_ = std::max(newest_wiped_, newest);
    return are_void;
}

void Log::take_settled(net::WakeHandles& into) {
    settled_.notify_all();
    auto const now = steady_now();
    auto const done = [&](Waiting& waiting) REQUIRES(mutex_) {
        if (!has_reached(waiting.mark, waiting.where)) return waiting.until < now;
        into.push_back(std::move(waiting.handle));
        return true;
    };
    std::erase_if(waiting_, done);
}

/// Called with a thread or coroutine waiting for `mark`.
void Log::want(Mark mark, Reaches where) {
    hurry_ = true;
    if (where == Reaches::disk) wanted_on_disk_ = mark;
}

void Log::wake_when_settled(Reaches where, net::WakeHandle handle, milliseconds most) {
    auto const until = steady_now() + most;
    {
        MutexLock const lock(mutex_);
        auto const now = mark();
        if (!has_reached(now, where)) {
            waiting_.push_back({now, where, std::move(handle), until});
            want(now, where);
        }
    }
    work_.notify_one();
    syncing_.notify_one();
    handle.wake(net::Wake::ready);   // the handle may be empty
}

void Log::sync_every(milliseconds time) {
    MutexLock const lock(mutex_);
    sync_ = time;
}

void Log::forget_waiting() {
    MutexLock const lock(mutex_);
    waiting_.clear();
}

bool Log::wait_until_settled(Reaches where, milliseconds most) {
    auto const until = steady_now() + most;
    MutexLock const lock(mutex_);
    auto const wanted = mark();
    want(wanted, where);
    work_.notify_one();
    syncing_.notify_one();
    while (!has_reached(wanted, where) && settled_.wait_until(mutex_, until)) {
    }
    return has_reached(wanted, where);
}

std::uint64_t Log::end_position() const {
    MutexLock const lock(mutex_);
    return position();
}

std::uint64_t Log::written_position() const {
    MutexLock const lock(mutex_);
    return written_position_;
}

std::uint64_t Log::newest_generation() const {
    MutexLock const lock(mutex_);
    return generation_ > 0 ? generation_ - 1 : 0;
}

// ---- faults and figures ----

bool Log::failing() const {
    MutexLock const lock(mutex_);
    return failing_;
}

void Log::try_again() {
    MutexLock const lock(mutex_);
    failing_ = false;
    failed_in_a_row_ = syncs_failed_in_a_row_ = 0;
    figures_.retired = 0;
    for (auto& segment : segments_)
        if (segment.use != Use::unknown)
            segment.failures = 0;
        else if (segment.failures >= failures_max)
            ++figures_.retired;
}

std::string Log::trouble() const {
    MutexLock const lock(mutex_);
    return trouble_;
}

Log::Figures Log::figures() const {
    MutexLock const lock(mutex_);
    auto figures = figures_;
    figures.buffered = position() - std::min(position(), written_position_);
    figures.memory = spare_->bytes();
    return figures;
}

Bytes Log::metadata_bytes() const { return sizeof *this + header_.segments * sizeof(Segment); }

}   // namespace garner::store::disk
