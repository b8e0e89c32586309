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
    using Job = std::function<void()>;

    /// At most `waiting_max` jobs are queued. Throws std::system_error if a thread cannot be started.
    Pool(unsigned threads, std::size_t waiting_max);
    ~Pool() { stop(); }
    /// Waits for running jobs, drops queued ones, and rejects new ones.
    void stop();
    /// Like stop(), but does not wait, and returns the queued jobs.
    std::deque<Job> close();
    /// After close(): no job runs any more, and stop() does not wait.
    bool has_ended();
    /// False, and nothing done, when the queue is full.
    bool run(Job job);
    std::size_t threads() const { return threads_.size(); }

private:
    void work();
    std::size_t const waiting_max_;
    Mutex mutex_;
    ConditionVariable jobs_here_;
    std::deque<Job> jobs_ GUARDED_BY(mutex_);
    bool stopping_ GUARDED_BY(mutex_) = false;
    std::size_t running_ GUARDED_BY(mutex_) = 0;
    std::vector<std::thread> threads_;
};

}   // namespace garner::io
