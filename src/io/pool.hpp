// A thread pool for blocking disk operations.
#pragma once
#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "util/mutex.hpp"

namespace garner::io {

/// Thread-safe. Runs jobs in the order of their arrival, on any idle thread.
class Pool {
public:
    /// At most `waiting_max` jobs are queued.
    Pool(unsigned threads, std::size_t waiting_max);
    ~Pool() { stop(); }
    /// Waits for running jobs, drops queued ones, and rejects new ones.
    void stop();
    /// False, and nothing done, when the queue is full.
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

}   // namespace garner::io
