#include "store/disk_graves.hpp"

#include <algorithm>

namespace garner::store::disk {

void Graves::bury(Fingerprint hash) {
    auto& place = place_of(hash);
    auto const before = place.exchange(not_in_log);
    if (!append_(hash))
        owe({&hash, 1});
    else if (before != not_in_log)   // else another's in the same place is owed
        place.store(end_());
}

bool Graves::is_open(Fingerprint hash) {
    auto& place = place_of(hash);
    auto end = place.load();
    if (end == 0) return false;
    if (end == not_in_log && is_clear()) place.compare_exchange_strong(end, end_());
    if (end > written_()) return true;
    place.compare_exchange_strong(end, 0);
    return false;
}

void Graves::owe(std::span<Fingerprint const> hashes) {
    for (auto const hash : hashes) place_of(hash).store(not_in_log);
    std::lock_guard const lock(mutex_);
    bool const is_full = owed_.size() + hashes.size() > owed_.capacity();
    owed_.insert(owed_.end(), hashes.begin(), hashes.end());
    if (!is_full) return;
    // The same names again and again, while nothing can be written, take no more room than once.
    std::ranges::sort(owed_);
    auto const twice = std::ranges::unique(owed_);
    owed_.erase(twice.begin(), twice.end());
    owed_.reserve(2 * owed_.size());
}

bool Graves::pay() {
    if (is_clear()) return true;
    std::lock_guard const alone(paying_);
    std::vector<Fingerprint> owed;
    {
        std::lock_guard const lock(mutex_);
        owed = owed_;
    }
    auto const is_owed = [this](Fingerprint hash) { return !has_(hash) && !append_(hash); };
    auto const unpaid = std::ranges::find_if(owed, is_owed);
    auto const paid = unpaid - owed.begin();
    auto const end = end_();
    for (auto hash = owed.begin(); hash != unpaid; ++hash) place_of(*hash).store(end);
    std::lock_guard const lock(mutex_);
    // Others came behind, unless they have been put in order meanwhile: then some are paid once more.
    bool const as_it_was = owed_.size() >= owed.size() && std::equal(owed.begin(), owed.end(), owed_.begin());
    if (as_it_was) owed_.erase(owed_.begin(), owed_.begin() + paid);
    return owed_.empty();
}

bool Graves::is_clear() const {
    std::lock_guard const lock(mutex_);
    return owed_.empty();
}

}  // namespace garner::store::disk
