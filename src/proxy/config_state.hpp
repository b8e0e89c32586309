// The state of the running configuration, for the statistics.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "util/clock.hpp"
#include "util/mutex.hpp"

namespace garner::proxy {

/// Thread-safe.
class ConfigState {
public:
    struct Figures {
        std::uint64_t generation = 1;       // raised by each applied configuration; 1: that of the start
        WallTime since = wall_now();        // of this generation
        std::vector<std::string> pending;   // keys that the file has changed, and that need a takeover
        bool unconfirmed = false;           // the former configuration returns unless this one is confirmed
        std::string refused = {};           // the first error of the last reload; empty: it was applied
        bool returned = false;   // the configuration of the file was not confirmed in time, and the one before it is in use
    };

    Figures figures() const EXCLUDES(mutex_) {
        MutexLock const lock(mutex_);
        return figures_;
    }
    void applied(std::vector<std::string> pending, bool unconfirmed) EXCLUDES(mutex_) {
        MutexLock const lock(mutex_);
        figures_ = {figures_.generation + 1, wall_now(), std::move(pending), unconfirmed, {}};
        return_failed_ = false;
    }
    /// After applied(): the configuration is the one before an unconfirmed one, which the file still has.
    void returned() EXCLUDES(mutex_) {
        MutexLock const lock(mutex_);
        figures_.returned = true;
    }
    void refused(std::string fault) EXCLUDES(mutex_) {
        MutexLock const lock(mutex_);
        figures_.refused = std::move(fault);
        return_failed_ = false;
    }
    /// The former configuration of an unconfirmed one was refused.
    void return_failed(std::string fault) EXCLUDES(mutex_) {
        MutexLock const lock(mutex_);
        figures_.refused = std::move(fault);
        return_failed_ = true;
    }
    void confirmed() EXCLUDES(mutex_) {
        MutexLock const lock(mutex_);
        figures_.unconfirmed = false;
        if (std::exchange(return_failed_, false)) figures_.refused.clear();
    }

private:
    mutable Mutex mutex_;
    Figures figures_ GUARDED_BY(mutex_);
    bool return_failed_ GUARDED_BY(mutex_) = false;
};

}   // namespace garner::proxy
