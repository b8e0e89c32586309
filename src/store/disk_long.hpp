// Long bodies that memory holds whole, written to the disk by a thread of their own.
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

/// So many copies and checksums would keep a worker for long, and whoever waits for the lock that it holds. What is written
/// here waits for room in the buffers, too, and is found when all of it is there. Thread-safe.
class LongWrites {
public:
    /// Of a complete body in memory.
    static constexpr Bytes at_once_max = MiB;

    /// Told of each that was not forgotten, on the thread.
    using Told = std::function<void(NotStored, Object::Parts const&)>;
    LongWrites(Core& core, Told told) : core_(core), told_(std::move(told)) {}
    ~LongWrites() { stop(); }

    /// True when this is the place for it: it is long, in memory, and not on the disk already.
    bool is_for(Object::Parts const& parts) const;
    /// Its body stays in memory until it is written. At most as much waits as the buffers could hold, or one body.
    NotStored take(Object::Parts const& parts);
    /// Nothing waits.
    bool is_idle() const;
    /// What is on its way with this key is never found. False: nothing was.
    bool forget(std::string_view key);
    /// What is on its way, oldest first.
    std::vector<ObjectPtr> waiting() const;
    /// Writes what is waiting, and ends.
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

}  // namespace garner::store::disk
