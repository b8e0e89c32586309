// Waiting for events other than sockets: one coroutine, woken exactly once, from any thread.
#pragma once
#include <atomic>
#include <memory>

#include "net/asio.hpp"
#include "net/wake.hpp"
#include "util/clock.hpp"

namespace garner::net {

/// For waits that check again periodically without a wake.
inline constexpr milliseconds recheck_interval{1'000};

/// The state shared by a waiter and its handles.
struct WaitState {
    static constexpr int pending = -1;
    explicit WaitState(Executor executor) : timer(executor) {}
    Timer timer;
    std::atomic<int> result{pending};   // a Wake, once decided
};

/// One wait of one coroutine on one worker. Create one per wait, pass its handles on, then await wait() once. It takes
/// recycled memory, and its handles may allocate: none is on the path of a hit.
class Waiter {
public:
    explicit Waiter(Executor executor) : state_(std::allocate_shared<WaitState>(RecyclingAllocator<WaitState>(), executor)) {}
    WakeHandle handle() const { return WakeHandle{state_}; }

    /// Suspends until woken, or until `limit` has passed (1 ms resolution).
    awaitable<Wake> wait(milliseconds limit);

private:
    std::shared_ptr<WaitState> state_;
};

}   // namespace garner::net
