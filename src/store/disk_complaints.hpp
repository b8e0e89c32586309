// Rate-limited logging of frequent errors.
#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include "io/log.hpp"
#include "util/clock.hpp"
#include "util/mutex.hpp"

namespace garner::store::disk {

/// Writes at most one line a second to the log, with the number of suppressed ones. Thread-safe.
class Complaints {
public:
    void add(std::string text) {
        MutexLock const lock(mutex_);
        last_ = std::move(text);
        ++gathered_;
        tell(steady_now());
    }
    /// Call periodically, so that the last errors are logged, too.
    void tell() {
        MutexLock const lock(mutex_);
        if (gathered_ > 0) tell(steady_now());
    }

private:
    void tell(SteadyTime now) REQUIRES(mutex_) {
        if (now - told_ < std::chrono::seconds(1)) return;
        told_ = now;
        auto const before = std::exchange(gathered_, 0) - 1;
        if (before == 0)
            spdlog::error("disk: {}", last_);
        else
            spdlog::error("disk: {}; {} similar errors before this one", last_, before);
    }

    Mutex mutex_;
    std::string last_ GUARDED_BY(mutex_);
    std::uint64_t gathered_ GUARDED_BY(mutex_) = 0;
    SteadyTime told_ GUARDED_BY(mutex_){};
};

}   // namespace garner::store::disk
