#include "io/pool.hpp"

#include <utility>

namespace garner::io {

Pool::Pool(unsigned threads, std::size_t waiting_max) : waiting_max_(waiting_max) {
    for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

void Pool::stop() {
    std::deque<std::function<void()>> dropped;
    {
        MutexLock const lock(mutex_);
        stopping_ = true;
        dropped.swap(jobs_);
    }
    jobs_here_.notify_all();
    for (auto& thread : threads_)
        if (thread.joinable()) thread.join();
}

bool Pool::run(std::function<void()> job) {
    {
        MutexLock const lock(mutex_);
        if (stopping_ || jobs_.size() >= waiting_max_) return false;
        jobs_.push_back(std::move(job));
    }
    jobs_here_.notify_one();
    return true;
}

void Pool::work() {
    MutexLock const lock(mutex_);
    for (;;) {
        while (!stopping_ && jobs_.empty()) jobs_here_.wait(mutex_);
        if (jobs_.empty()) return;
        auto job = std::move(jobs_.front());
        jobs_.pop_front();
        MutexUnlock const unlocked(mutex_);
        job();
        job = nullptr;   // destroys the job's captures without the lock
    }
}

}   // namespace garner::io
