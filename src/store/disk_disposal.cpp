#include "store/disk_disposal.hpp"

#include <system_error>
#include <utility>

namespace garner::store {

std::shared_ptr<DiskStore> DiskDisposal::share(std::unique_ptr<DiskStore> store) {
    std::shared_ptr<DiskStore> shared(store.release(),
                                      [self = shared_from_this()](DiskStore* gone) { self->run([gone] { delete gone; }); });
    shared->keep_by(shared);
    return shared;
}

void DiskDisposal::close(std::shared_ptr<DiskStore> store) {
    run([store = std::move(store)] { store->close(); });
}

/// A job is destroyed by the thread that did it, without the lock: it may release a store, which adds a job.
void DiskDisposal::run(std::function<void()> job) {
    {
        MutexLock const lock(mutex_);
        if (!finished_ && has_thread()) jobs_.push_back(std::exchange(job, nullptr));
    }
    changed_.notify_all();
    if (job) job();
}

/// Without threads the caller does the work, and waits for the disk.
bool DiskDisposal::has_thread() {
    if (thread_.joinable()) return true;
    try {
        thread_ = std::thread([this] { work(); });
    } catch (std::system_error const&) {
        return false;
    }
    return true;
}

void DiskDisposal::work() {
    MutexLock const lock(mutex_);
    for (;;) {
        while (!finished_ && jobs_.empty()) changed_.wait(mutex_);
        if (jobs_.empty()) return;
        auto job = std::exchange(jobs_.front(), nullptr);
        {
            MutexUnlock const unlocked(mutex_);
            job();
            job = nullptr;
        }
        jobs_.pop_front();
        changed_.notify_all();
    }
}

void DiskDisposal::wait() {
    MutexLock const lock(mutex_);
    while (!jobs_.empty()) changed_.wait(mutex_);
}

void DiskDisposal::finish() {
    std::thread thread;
    {
        MutexLock const lock(mutex_);
        finished_ = true;
        thread.swap(thread_);
    }
    changed_.notify_all();
    if (thread.joinable()) thread.join();
}

}   // namespace garner::store
