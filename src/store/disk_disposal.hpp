// Closes and destroys disk stores on a thread of its own, because that waits for the disk.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <thread>

#include "store/disk_store.hpp"
#include "util/mutex.hpp"

namespace garner::store {

/// Thread-safe. Its owner calls finish() before it releases its reference: a store may hold the last one.
class DiskDisposal : public std::enable_shared_from_this<DiskDisposal> {
public:
    ~DiskDisposal() { finish(); }

    /// A store that is destroyed on the thread after its last user released it.
    std::shared_ptr<DiskStore> share(std::unique_ptr<DiskStore> store);
    /// Closes it on the thread.
    void close(std::shared_ptr<DiskStore> store);
    /// Returns when all that was begun is done.
    void wait();
    /// Like wait(), and ends the thread. A store that is released later is destroyed by the thread that releases it.
    void finish();

private:
    void run(std::function<void()> job);
    bool has_thread() REQUIRES(mutex_);
    void work();

    Mutex mutex_;
    ConditionVariable changed_;
    std::deque<std::function<void()>> jobs_ GUARDED_BY(mutex_);   // the first is being done
    bool finished_ GUARDED_BY(mutex_) = false;
    std::thread thread_ GUARDED_BY(mutex_);
};

}   // namespace garner::store
