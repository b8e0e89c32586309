// Waiting for anything that is not a socket: one coroutine, woken exactly once, from any thread.
#pragma once
#include <atomic>
#include <memory>

#include "net/asio.hpp"
#include "net/wake.hpp"
#include "util/clock.hpp"

namespace garner::net {

/// For waits that look again even when nothing wakes them.
inline constexpr milliseconds recheck_interval{1'000};

/// What a waiter and its handles share.
struct WaitState {
    static constexpr int pending = -1;
    explicit WaitState(Executor executor) : timer(executor) {}
    Timer timer;
    std::atomic<int> result{pending};   // a Wake, once decided
};

/// One wait of one coroutine on one worker. Make one per wait (it allocates: not for the hit path), hand out handles,
/// then await wait() once.
class Waiter {
public:
    explicit Waiter(Executor executor) : state_(std::make_shared<WaitState>(executor)) {}
    WakeHandle handle() const { return WakeHandle{state_}; }

    /// Suspends until woken or until `limit` has passed (to the millisecond).
    awaitable<Wake> wait(milliseconds limit);

private:
    std::shared_ptr<WaitState> state_;
};

}  // namespace garner::net
