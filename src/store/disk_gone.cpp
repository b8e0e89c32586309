// What goes from the disk tier, and how it stays away.
#include <spdlog/spdlog.h>

#include "net/waiter.hpp"
#include "store/log_store.hpp"

namespace garner::store::disk {

namespace {

constexpr milliseconds settle_patience{5'000};     // of who was promised that something is gone for good
constexpr milliseconds buffer_pause{20};               // in the buffers

Log::Reaches reach_of(Survives what) {
    return what == Survives::power ? Log::Reaches::disk : Log::Reaches::file;
}

}  // namespace

bool LogStore::forget(std::string_view key) {
    auto* works = this->works();
    if (!works) {
        ran_without_ = true;   // what is there may be outdated from now on
        return false;
    }
    bool const waits = long_.forget(key);
    auto const hash = hash_of(key, works->log.header().seed);
    Graves::Digging digging(works->graves, hash);
    // What is not found may be there all the same, or be back after a kill: others may have taken it off the index just now.
    bool const all_found = works->recovery.has_all();
    works->recovery.bury(hash);
    auto const erased = works->index.erase(hash);
    bool const may_be_there = erased || !all_found;
    if (may_be_there) left(*works, digging, hash, erased ? std::optional(erased->bytes) : std::nullopt);
    return may_be_there || waits || digging.is_open_to_others();
}

void LogStore::drop(Fingerprint hash) {
    auto* works = this->works();
    if (!works) return;
    Graves::Digging digging(works->graves, hash);
    works->recovery.bury(hash);
    auto const erased = works->index.erase(hash);
    left(*works, digging, hash, erased ? std::optional(erased->bytes) : std::nullopt);
}

/// A record that cannot be read, or is damaged.
void LogStore::bad(Fingerprint hash, Bytes offset) {
    auto& works = *made_;
    Graves::Digging digging(works.graves, hash);
    works.recovery.bury(hash);
    auto const known = works.index.find(hash);
    if (works.index.erase_at(hash, offset)) left(works, digging, hash, known ? std::optional(known->bytes) : std::nullopt);
}

/// The head of a body whose pieces the log has come over since: nobody shall be told that it is here.
void LogStore::drop_incomplete(Fingerprint hash, Index::Entry const& there) {
    auto const read = made_->reader.read_here(hash, there);
    if (read && !is_complete(read)) bad(hash, there.offset);
}

/// What was taken off the index, if it was there, is to stay away.
void LogStore::left(Works& works, Graves::Digging& digging, Fingerprint hash, std::optional<Bytes> bytes) {
    if (bytes) note_left(*bytes);
    works.order->removed(hash, policy::Left::purged);
    digging.bury();   // after recovery was told: nothing older may come back then
}

/// Those whom the policy names, before segments are needed. They are buried: what was evicted must not come back beside
/// something newer that never came to the disk.
void LogStore::evict_victims(Works& works) {
    constexpr int at_once = 1'000;
    for (int i = 0; i < at_once && live_.sum() > works.capacity; ++i) {
        auto const hash = works.order->victim();
        if (!hash) return;
        works.order->removed(*hash, policy::Left::evicted);
        Graves::Digging digging(works.graves, *hash);
        auto const erased = works.index.erase(*hash);
        if (!erased) continue;
        works.recovery.bury(*hash);
        note_left(erased->bytes);
        victims_.fetch_add(1, std::memory_order_relaxed);
        digging.bury();
    }
}

bool LogStore::append_tombstone(Fingerprint hash) {
    RecordParts parts;
    parts.head.kind = RecordKind::tombstone;
    parts.head.hash = hash;
    return append(parts, Purpose::bookkeeping) == NotStored::none;
}

/// What a failed write took with it is not there; nor may anything older be.
void LogStore::lost(std::span<FooterEntry const> entries, std::uint32_t segment) {
    auto& works = *made_;
    auto const start = works.log.header().start_of(segment);
    spdlog::error("disk: {} cannot be written: {}; {} records are lost", file_name(), works.log.trouble(), entries.size());
    for (auto const& entry : entries) {
        Graves::Digging digging(works.graves, entry.hash);
        works.recovery.bury(entry.hash);
        if (works.index.erase_at(entry.hash, start + Bytes{entry.offset} * unit)) note_left(entry.bytes);
        if (entry.kind != RecordKind::filler) digging.owe();
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

/// The same of all that was begun until now; what is stored in the open segment from now on does not outlive this process.
bool LogStore::make_all_void() {
    auto const newest = made_->log.newest_generation();
    if (newest == 0) return false;
    spdlog::warn("disk: {}: too much is gone that the file still has: nothing of what it has is found by the next start",
                 file_name());
    return make_void(newest);
}

net::awaitable<bool> LogStore::settled(Survives what, net::Executor executor) {
    auto* works = this->works();
    if (!works) co_return false;   // what a store holds that cannot be opened now may be back with the next start
    auto const until = steady_now() + settle_patience;
    // What a failed write takes with it meanwhile is owed again.
    do {
        net::Waiter waiter(executor);
        bool const paid = works->graves.pay_some();
        if (paid) works->log.wake_when_settled(reach_of(what), waiter.handle(), settle_patience);
        auto const wake = co_await waiter.wait(paid ? settle_patience : buffer_pause);
        if (wake == net::Wake::ready && works->graves.is_clear()) co_return true;
    } while (steady_now() < until && !works->log.failing());
    co_return false;
}

bool LogStore::wait_until_settled(Survives what) {
    auto* works = this->works();
    if (!works) return false;
    auto const until = steady_now() + settle_patience;
    do {
        if (!works->graves.pay())
            std::this_thread::sleep_for(buffer_pause);
        else if (works->log.wait_until_settled(reach_of(what), settle_patience) && works->graves.is_clear())
            return true;
    } while (steady_now() < until && !works->log.failing());
    return false;
}

}  // namespace garner::store::disk
