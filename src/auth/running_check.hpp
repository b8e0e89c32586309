// A check of credentials that is queued, running or done.
#pragma once
#include <atomic>
#include <optional>
#include <vector>

#include "auth/login_answer.hpp"
#include "net/wake.hpp"
#include "util/mutex.hpp"

namespace garner::auth {

/// Thread-safe. Shared by all requests that wait for the result.
class RunningCheck {
public:
    RunningCheck() = default;
    explicit RunningCheck(LoginAnswer answer) : answer_(std::move(answer)) {}

    /// Nothing while it runs. The result never changes.
    std::optional<LoginAnswer> answer() const EXCLUDES(mutex_);
    /// Wakes the handle with Wake::ready when there is an answer: now, or later from another thread.
    void wake_when_done(net::WakeHandle) EXCLUDES(mutex_);
    /// Called once.
    void finish(LoginAnswer) EXCLUDES(mutex_);

private:
    mutable Mutex mutex_;
    std::optional<LoginAnswer> answer_ GUARDED_BY(mutex_);
    net::WakeHandles waiting_ GUARDED_BY(mutex_);
};

}   // namespace garner::auth
