// Threads for what must wait for the disk.
#pragma once
#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "util/mutex.hpp"

namespace garner::io {

/// Thread-safe. Runs what it is given in the order in which it came, on whichever thread is idle.
class Pool {
public:
    /// At most `waiting_max` jobs wait.
    Pool(unsigned threads, std::size_t waiting_max);
    ~Pool() { stop(); }
    /// Waits for what runs; what has not begun is dropped, and nothing is taken any more.
    void stop();
    /// False, and nothing done, when too many wait already.
    bool run(std::function<void()> job);

private:
    void work();
    std::size_t const waiting_max_;
    Mutex mutex_;
    ConditionVariable jobs_here_;
    std::deque<std::function<void()>> jobs_ GUARDED_BY(mutex_);
    bool stopping_ GUARDED_BY(mutex_) = false;
    std::vector<std::thread> threads_;
};

}  // namespace garner::io
