#include "io/pool.hpp"

#include <utility>

namespace garner::io {

Pool::Pool(unsigned threads, std::size_t waiting_max) : waiting_max_(waiting_max) {
    try {
        for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
    } catch (...) {
        stop();
        throw;
    }
}

void Pool::stop() {
    close();
    for (auto& thread : threads_)
        if (thread.joinable()) thread.join();
}

std::deque<Pool::Job> Pool::close() {
    std::deque<Job> queued;
    {
        MutexLock const lock(mutex_);
        stopping_ = true;
        queued.swap(jobs_);
    }
    jobs_here_.notify_all();
    return queued;
}

bool Pool::has_ended() {
    MutexLock const lock(mutex_);
    return stopping_ && running_ == 0;
}

bool Pool::run(Job job) {
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
        ++running_;
        {
            MutexUnlock const unlocked(mutex_);
            job();
            job = nullptr;   // destroys the job's captures without the lock
        }
        --running_;
    }
}

}   // namespace garner::io
