// Mutexes for clang's thread safety analysis (-Wthread-safety), which rejects access to GUARDED_BY members without the
// mutex. For other compilers this is the standard library's mutex.
#pragma once
#include <condition_variable>
#include <mutex>

#include "util/clock.hpp"

#if defined(__clang__)
#define GARNER_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define GARNER_THREAD_SAFETY(attribute)
#endif

#define CAPABILITY(name) GARNER_THREAD_SAFETY(capability(name))
#define SCOPED_CAPABILITY GARNER_THREAD_SAFETY(scoped_lockable)
#define GUARDED_BY(mutex) GARNER_THREAD_SAFETY(guarded_by(mutex))
/// For a function: the caller holds the mutex.
#define REQUIRES(...) GARNER_THREAD_SAFETY(requires_capability(__VA_ARGS__))
/// For a function: the caller must not hold the mutex.
#define EXCLUDES(...) GARNER_THREAD_SAFETY(locks_excluded(__VA_ARGS__))
#define ACQUIRE(...) GARNER_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define RELEASE(...) GARNER_THREAD_SAFETY(release_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) GARNER_THREAD_SAFETY(try_acquire_capability(__VA_ARGS__))
/// For a function: the caller holds the mutex, but the analysis cannot see that.
#define ASSERT_CAPABILITY(mutex) GARNER_THREAD_SAFETY(assert_capability(mutex))
#define NO_THREAD_SAFETY_ANALYSIS GARNER_THREAD_SAFETY(no_thread_safety_analysis)

namespace garner {

class CAPABILITY("mutex") Mutex {
public:
    void lock() ACQUIRE() { mutex_.lock(); }
    void unlock() RELEASE() { mutex_.unlock(); }
    bool try_lock() TRY_ACQUIRE(true) { return mutex_.try_lock(); }
    /// Does nothing. For code that the analysis cannot follow: a comment at the call explains why the mutex is held.
    void assert_held() const ASSERT_CAPABILITY(this) {}

private:
    friend class ConditionVariable;
    std::mutex mutex_;
};

/// Holds a mutex to the end of a block.
class SCOPED_CAPABILITY MutexLock {
public:
    explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex.lock(); }
    /// The caller has locked it already.
    MutexLock(Mutex& mutex, std::adopt_lock_t) REQUIRES(mutex) : mutex_(mutex) {}
    ~MutexLock() RELEASE() { mutex_.unlock(); }
    MutexLock(MutexLock const&) = delete;
    MutexLock& operator=(MutexLock const&) = delete;

private:
    Mutex& mutex_;
};

/// Releases a held mutex until the end of a block, then locks it again.
class SCOPED_CAPABILITY MutexUnlock {
public:
    explicit MutexUnlock(Mutex& mutex) RELEASE(mutex) : mutex_(mutex) { mutex.unlock(); }
    ~MutexUnlock() RELEASE() { mutex_.lock(); }   // RELEASE refers to the end of the scope
    MutexUnlock(MutexUnlock const&) = delete;
    MutexUnlock& operator=(MutexUnlock const&) = delete;

private:
    Mutex& mutex_;
};

/// Waits release the mutex meanwhile and may wake spuriously: the caller checks its condition in a loop. There is no
/// version with a predicate, because the analysis does not know that the mutex is held in a lambda.
class ConditionVariable {
public:
    void notify_one() noexcept { condition_.notify_one(); }
    void notify_all() noexcept { condition_.notify_all(); }
    void wait(Mutex& mutex) REQUIRES(mutex) {
        std::unique_lock lock(mutex.mutex_, std::adopt_lock);
        condition_.wait(lock);
        lock.release();
    }
    /// False when `moment` has passed.
    bool wait_until(Mutex& mutex, SteadyTime moment) REQUIRES(mutex) {
        std::unique_lock lock(mutex.mutex_, std::adopt_lock);
        auto const status = condition_.wait_until(lock, moment);
        lock.release();
        return status == std::cv_status::no_timeout;
    }

private:
    std::condition_variable condition_;
};

}   // namespace garner
