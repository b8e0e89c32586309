#include "icp/replay_guard.hpp"

#include "util/hash.hpp"

namespace garner::icp {

bool ReplayGuard::is_first(std::string_view signature, WallTime now) {
    MutexLock const lock(mutex_);
    while (!order_.empty() && now - order_.front().at > life_) forget_oldest();
    auto const number = fingerprint(signature, 0);
    if (!known_.insert(number).second) return false;
    order_.push_back({now, number});
    if (order_.size() > most_) forget_oldest();
    return true;
}

Bytes ReplayGuard::bytes() {
    MutexLock const lock(mutex_);
    return order_.size() * entry_bytes;
}

void ReplayGuard::forget_oldest() {
    known_.erase(order_.front().signature);
    order_.pop_front();
}

}   // namespace garner::icp
