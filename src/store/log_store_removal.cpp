// Removal of objects from the disk tier, and the tombstones that keep them removed after a restart.
#include <filesystem>
#include <system_error>

#include "io/log.hpp"
#include "net/waiter.hpp"
#include "store/log_store.hpp"

namespace garner::store::disk {

namespace {

constexpr milliseconds settle_patience{5'000};   // for a caller that was promised durable removal
constexpr milliseconds buffer_pause{20};         // wait for room in the buffers

Log::Reaches reach_of(Survives what) { return what == Survives::power ? Log::Reaches::disk : Log::Reaches::file; }

}   // namespace

bool LogStore::forget(std::string_view key) {
    auto* works = this->works();
    if (!works) {
        ran_without_ = true;   // records in the closed store may be outdated from now on
        return false;
    }
    bool const waits = long_.forget(key);
    auto const hash = hash_of(key, works->log.header().seed);
    Tombstones::Removal removal(works->tombstones, hash);
    // An unknown record may still exist, or be restored after a kill: another thread may have just removed it from
    // the index.
    bool const all_found = works->recovery.has_all();
    works->recovery.note_removed(hash);
    auto const erased = works->index.erase(hash);
    bool const may_be_there = erased || !all_found;
    if (may_be_there) left(*works, removal, hash, erased ? std::optional(erased->bytes) : std::nullopt);
    return may_be_there || waits || removal.is_open_to_others();
}

void LogStore::drop(Fingerprint hash) {
    auto* works = this->works();
    if (!works) return;
    Tombstones::Removal removal(works->tombstones, hash);
    works->recovery.note_removed(hash);
    auto const erased = works->index.erase(hash);
    left(*works, removal, hash, erased ? std::optional(erased->bytes) : std::nullopt);
}

/// Drops a record that is unreadable or damaged.
void LogStore::bad(Fingerprint hash, Bytes offset) {
    auto& works = *made_;
    Tombstones::Removal removal(works.tombstones, hash);
    works.recovery.note_removed(hash);
    auto const known = works.index.find(hash);
    if (works.index.erase_at(hash, offset)) left(works, removal, hash, known ? std::optional(known->bytes) : std::nullopt);
}

/// Drops the head of a body whose pieces were overwritten by the log: it must not be reported as stored.
void LogStore::drop_incomplete(Fingerprint hash, Index::Entry const& there) {
    auto const read = made_->reader.read_here(hash, there);
    if (read && !is_complete(read)) bad(hash, there.offset);
}

/// Accounts for a record removed from the index, if it was there, and writes its tombstone.
void LogStore::left(OpenStore& works, Tombstones::Removal& removal, Fingerprint hash, std::optional<Bytes> bytes) {
    if (bytes) note_left(*bytes);
    works.order->removed(hash, policy::Left::purged);
    removal.write();   // after recovery was told, so that it cannot restore older records
}

/// Evicts the victims of the policy before segments are needed. Tombstones are written for them: otherwise an evicted
/// object could come back beside a newer response that was never stored on disk.
void LogStore::evict_victims(OpenStore& works) {
    constexpr int at_once = 1'000;
    for (int i = 0; i < at_once && live_.sum() > works.capacity; ++i) {
        auto const hash = works.order->victim();
        if (!hash) return;
        works.order->removed(*hash, policy::Left::evicted);
        Tombstones::Removal removal(works.tombstones, *hash);
        auto const erased = works.index.erase(*hash);
        if (!erased) continue;
        works.recovery.note_removed(*hash);
        note_left(erased->bytes);
        victims_.fetch_add(1, std::memory_order_relaxed);
        removal.write();
    }
}

bool LogStore::append_tombstone(Fingerprint hash) {
    RecordParts parts;
    parts.head.kind = RecordKind::tombstone;
    parts.head.hash = hash;
    return append(parts, Purpose::bookkeeping) == NotStored::none;
}

/// Drops records lost by a failed write, and keeps older records of their hashes from coming back.
void LogStore::lost(std::span<FooterEntry const> entries, std::uint32_t segment) {
    auto& works = *made_;
    auto const start = works.log.header().start_of(segment);
    spdlog::error("disk: {} cannot be written: {}; {} records are lost", file_name(), works.log.trouble(), entries.size());
    for (auto const& entry : entries) {
        Tombstones::Removal removal(works.tombstones, entry.hash);
        works.recovery.note_removed(entry.hash);
        if (works.index.erase_at(entry.hash, start + Bytes{entry.offset} * unit)) note_left(entry.bytes);
        if (entry.kind != RecordKind::filler) removal.enqueue();
    }
}

/// Nothing up to this generation is found by a restart, whatever its segments say.
bool LogStore::make_void(std::uint64_t generation) {
    auto& works = *made_;
    MutexLock const lock(works.store_mutex);
    auto const trouble = works.store.make_void(generation);
    if (!trouble.empty()) say(trouble);
    return trouble.empty();
}

/// Invalidates all segments begun until now; records appended to the open segment from now on do not outlive this
/// process.
bool LogStore::make_all_void() {
    auto const newest = made_->log.newest_generation();
    if (newest == 0) return false;
    spdlog::warn("disk: {}: tombstone backlog full: existing segments are invalidated, and the next start finds none of "
                 "their objects",
                 file_name());
    return make_void(newest);
}

/// A block device has no place for the file.
void LogStore::open_notes(StoreFile::When when) {
    using enum StoreFile::When;
    std::error_code error;
    if (when == as_it_is || !std::filesystem::is_directory(options().path, error)) return;
    notes_.open(notes_name(), when == at_start, options().faults);
}

bool LogStore::note(std::string_view line) {
    auto* works = this->works();
    if (!works) {
        ran_without_ = true;
        return true;
    }
    auto const added = notes_.add(line);
    if (added != NoteFile::Added::failed) return added == NoteFile::Added::done;
    if (discards_.exchange(true)) return true;
    MutexLock const lock(works->store_mutex);
    auto const trouble = works->store.discard();
    spdlog::warn("disk: {} cannot keep invalidations: the next start of Garner finds it empty{}", file_name(),
                 trouble.empty() ? std::string() : "; this could not be recorded: " + trouble);
    return true;
}

net::awaitable<bool> LogStore::settled(Survives what, net::Executor executor) {
    auto* works = this->works();
    if (!works) co_return false;   // a store that cannot be opened now may restore its records at the next start
    auto const until = steady_now() + settle_patience;
    // Tombstones lost by a failed write become pending again meanwhile.
    do {
        net::Waiter waiter(executor);
        bool const flushed = works->tombstones.flush_some();
        if (flushed) works->log.wake_when_settled(reach_of(what), waiter.handle(), settle_patience);
        auto const wake = co_await waiter.wait(flushed ? settle_patience : buffer_pause);
        if (wake == net::Wake::ready && works->tombstones.is_clear()) co_return true;
    } while (steady_now() < until && !works->log.failing());
    co_return false;
}

bool LogStore::wait_until_settled(Survives what) {
    auto* works = this->works();
    if (!works) return false;
    if (what == Survives::power && !notes_.sync()) return false;
    auto const until = steady_now() + settle_patience;
    do {
        if (!works->tombstones.flush())
            std::this_thread::sleep_for(buffer_pause);
        else if (works->log.wait_until_settled(reach_of(what), settle_patience) && works->tombstones.is_clear())
            return true;
    } while (steady_now() < until && !works->log.failing());
    return false;
}

}   // namespace garner::store::disk
