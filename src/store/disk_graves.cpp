#include "store/disk_graves.hpp"

#include <algorithm>

namespace garner::store::disk {

void Graves::bury(Fingerprint hash) {
    if (!append_(hash)) owe({&hash, 1});
}

void Graves::owe(std::span<Fingerprint const> hashes) {
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
