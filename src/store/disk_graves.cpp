#include "store/disk_graves.hpp"

namespace garner::store::disk {

namespace {

constexpr std::size_t graves_at_once = 1'000;   // tombstones written in one call: a fraction of a millisecond

}  // namespace

void Graves::Digging::bury() {
    if (graves_.append_(hash_))
        graves_.note_appended(hash_);
    else
        graves_.owe(hash_);
}

bool Graves::is_open(Fingerprint hash, std::uint32_t own) const {
    auto const& bucket = bucket_of(hash);
    // Order matters: a thread that decrements `pending` has set `end` before.
    if (bucket.pending.load() > own || all_.load()) return true;
    auto const end = bucket.end.load();
    return end != 0 && end > written_();
}

/// Its tombstone is somewhere before the current end of the log.
void Graves::note_appended(Fingerprint hash) {
    auto& bucket = bucket_of(hash);
    auto const end = end_();
    auto known = bucket.end.load();
    while (known < end && !bucket.end.compare_exchange_weak(known, end)) {
    }
}

void Graves::owe(Fingerprint hash) {
    MutexLock const lock(mutex_);
    note_owed(hash);
}

void Graves::note_owed(Fingerprint hash) {
    if (all_) {
        ++more_owed_;
        return;
    }
    if (owed_.insert(hash).second) ++bucket_of(hash).pending;
    if (owed_.size() <= owed_max_) return;
    all_ = true;
    for (auto const one : owed_) --bucket_of(one).pending;
    owed_.clear();
}

bool Graves::pay() {
    if (is_clear()) return true;
    MutexLock const alone(paying_);
    return pay(SIZE_MAX);
}

bool Graves::pay_some() {
    if (is_clear()) return true;
    if (!paying_.try_lock()) return false;
    MutexLock const alone(paying_, std::adopt_lock);
    return pay(graves_at_once);
}

bool Graves::pay(std::size_t most) {
    MutexLock const lock(mutex_);
    for (; !owed_.empty(); --most) {
        if (most == 0) return false;
        auto const hash = *owed_.begin();
        owed_.erase(owed_.begin());
        on_its_way_ = true;
        bool paid;
        {
            MutexUnlock const unlocked(mutex_);
            paid = has_(hash) || append_(hash);
            if (paid) note_appended(hash);
        }
        on_its_way_ = false;
        if (!paid) note_owed(hash);
        --bucket_of(hash).pending;
        if (!paid) return false;
    }
    return !all_;
}

void Graves::pay_by_voiding() {
    std::uint64_t before = 0;
    {
        MutexLock const lock(mutex_);
        if (!all_) return;
        before = more_owed_;
    }
    if (!void_all_()) return;
    MutexLock const lock(mutex_);
    if (more_owed_ == before) all_ = false;   // otherwise more may be pending for records appended meanwhile
}

bool Graves::is_clear() const {
    MutexLock const lock(mutex_);
    return owed_.empty() && !on_its_way_ && !all_;
}

}  // namespace garner::store::disk
