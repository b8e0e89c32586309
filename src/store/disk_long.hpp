// Writes long bodies that are complete in memory, on a thread of its own.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "store/disk_core.hpp"
#include "store/object.hpp"
#include "util/mutex.hpp"

namespace garner::store::disk {

/// Copies and checksums of long bodies would block a worker, and other threads waiting for its lock. This thread also
/// waits for room in the buffers. An object is found once all of it is written. Thread-safe.
class LongWrites {
public:
    /// Complete bodies up to this size are written directly by the worker.
    static constexpr Bytes at_once_max = MiB;

    /// Called on the thread for each object that was not purged meanwhile.
    using Told = std::function<void(NotStored, Object::Parts const&)>;
    LongWrites(Core& core, Told told) : core_(core), told_(std::move(told)) {}
    ~LongWrites() { stop(); }

    /// True for a long body that is in memory and not yet on the disk.
    bool is_for(Object::Parts const& parts) const;
    /// Keeps the body in memory until it is written. Queues at most as many bytes as the buffers could hold, or one
    /// body.
    NotStored take(Object::Parts const& parts);
    /// True when nothing is queued.
    bool is_idle() const;
    /// Cancels queued objects with this key. False: there was none.
    bool forget(std::string_view key);
    /// The queued objects, oldest first.
    std::vector<ObjectPtr> waiting() const;
    /// Writes the queued objects, and stops.
    void stop();

private:
    struct Job {
        ObjectPtr object;
        bool gone = false;   // guarded by the mutex of the LongWrites
    };
    void run();
    NotStored write(Job const& job) REQUIRES(mutex_);
    bool wait_for_room(Job const& job, unsigned tries);

    Core& core_;
    Told const told_;
    mutable Mutex mutex_;
    ConditionVariable changed_;
    std::deque<std::shared_ptr<Job>> jobs_ GUARDED_BY(mutex_);   // the first is being written
    Bytes waiting_ GUARDED_BY(mutex_) = 0;
    bool stopping_ GUARDED_BY(mutex_) = false;
    std::thread thread_;
};

}   // namespace garner::store::disk
