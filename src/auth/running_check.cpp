#include "auth/running_check.hpp"

#include <utility>

namespace garner::auth {

std::optional<LoginAnswer> RunningCheck::answer() const {
    MutexLock const lock(mutex_);
    return answer_;
}

void RunningCheck::wake_when_done(net::WakeHandle handle) {
    {
        MutexLock const lock(mutex_);
        if (!answer_) return waiting_.push_back(std::move(handle));
    }
    handle.wake(net::Wake::ready);
}

void RunningCheck::finish(LoginAnswer answer) {
    net::WakeHandles waiting;
    {
        MutexLock const lock(mutex_);
        answer_ = std::move(answer);
        waiting.swap(waiting_);
    }
    net::wake_all(std::move(waiting), net::Wake::ready);
}

}   // namespace garner::auth
