#include "store/disk_tombstones.hpp"

namespace garner::store::disk {

namespace {

constexpr std::size_t flushed_at_once = 1'000;   // tombstones written in one call: a fraction of a millisecond

}   // namespace

void Tombstones::Removal::write() {
    if (tombstones_.append_(hash_))
        tombstones_.note_appended(hash_);
    else
        tombstones_.enqueue(hash_);
}

bool Tombstones::is_open(Fingerprint hash, std::uint32_t own) const {
    auto const& bucket = bucket_of(hash);
    // Order matters: a thread that decrements `pending` has set `end` before.
    if (bucket.pending.load() > own || all_.load()) return true;
    auto const end = bucket.end.load();
    return end != 0 && end > written_();
}

/// Its tombstone is somewhere before the current end of the log.
void Tombstones::note_appended(Fingerprint hash) {
    auto& bucket = bucket_of(hash);
    auto const end = end_();
    auto known = bucket.end.load();
    while (known < end && !bucket.end.compare_exchange_weak(known, end)) {
    }
}

void Tombstones::enqueue(Fingerprint hash) {
    MutexLock const lock(mutex_);
    note_pending(hash);
}

void Tombstones::note_pending(Fingerprint hash) {
    if (all_) {
        ++more_pending_;
        return;
    }
    if (pending_.insert(hash).second) ++bucket_of(hash).pending;
    if (pending_.size() <= pending_max_) return;
    all_ = true;
    for (auto const one : pending_) --bucket_of(one).pending;
    pending_.clear();
}

bool Tombstones::flush() {
    if (is_clear()) return true;
    MutexLock const alone(flushing_);
    return flush(SIZE_MAX);
}

bool Tombstones::flush_some() {
    if (is_clear()) return true;
    if (!flushing_.try_lock()) return false;
    MutexLock const alone(flushing_, std::adopt_lock);
    return flush(flushed_at_once);
}

bool Tombstones::flush(std::size_t most) {
    MutexLock const lock(mutex_);
    for (; !pending_.empty(); --most) {
        if (most == 0) return false;
        auto const hash = *pending_.begin();
        pending_.erase(pending_.begin());
        on_its_way_ = true;
        bool flushed;
        {
            MutexUnlock const unlocked(mutex_);
            flushed = has_(hash) || append_(hash);
            if (flushed) note_appended(hash);
        }
        on_its_way_ = false;
        if (!flushed) note_pending(hash);
        --bucket_of(hash).pending;
        if (!flushed) return false;
    }
    return !all_;
}

void Tombstones::flush_by_voiding() {
    std::uint64_t before = 0;
    {
        MutexLock const lock(mutex_);
        if (!all_) return;
        before = more_pending_;
    }
    if (!void_all_()) return;
    MutexLock const lock(mutex_);
    if (more_pending_ == before) all_ = false;   // otherwise more may be pending for records appended meanwhile
}

bool Tombstones::is_clear() const {
    MutexLock const lock(mutex_);
    return pending_.empty() && !on_its_way_ && !all_;
}

}   // namespace garner::store::disk
