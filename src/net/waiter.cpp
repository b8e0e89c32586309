#include "net/waiter.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>

namespace garner::net {

namespace {

bool claim(WaitState& state, Wake reason) {
    int expected = WaitState::pending;
    return state.result.compare_exchange_strong(expected, static_cast<int>(reason), std::memory_order_acq_rel);
}

void end_wait(WaitState& state) { state.timer.expires_at(SteadyTime::min()); }

}   // namespace

void WakeHandle::wake(Wake reason) const {
    auto state = state_;   // once claimed, the coroutine may go on and destroy this handle
    if (!state || !claim(*state, reason)) return;
    auto const executor = state->timer.get_executor();
    asio::post(executor, [state = std::move(state)] { end_wait(*state); });
}

void wake_all(WakeHandles handles, Wake reason) {
    if (handles.size() == 1) return handles.front().wake(reason);
    std::erase_if(handles, [&](WakeHandle const& handle) { return !handle.state_ || !claim(*handle.state_, reason); });
    auto worker = [](WakeHandle const& handle) { return &handle.state_->timer.get_executor().context(); };
    std::sort(handles.begin(), handles.end(),
              [&](WakeHandle const& a, WakeHandle const& b) { return std::less<>{}(worker(a), worker(b)); });
    for (auto first = handles.begin(); first != handles.end();) {
        auto last = std::find_if(first, handles.end(), [&](WakeHandle const& h) { return worker(h) != worker(*first); });
        auto executor = first->state_->timer.get_executor();
        RecycledVector<std::shared_ptr<WaitState>> group;
        for (; first != last; ++first) group.push_back(std::move(first->state_));
        asio::post(executor, [group = std::move(group)] {
            for (auto const& state : group) end_wait(*state);
        });
    }
}

awaitable<Wake> Waiter::wait(milliseconds limit) {
    auto state = state_;
    // A claim seen here needs no timer. A later claim posts to this worker, so its post finds the timer running.
    if (state->result.load(std::memory_order_acquire) == WaitState::pending) {
        state->timer.expires_after(limit);
        auto [error] = co_await state->timer.async_wait(as_values);
        (void)error;
        claim(*state, Wake::deadline);
    }
    co_return static_cast<Wake>(state->result.load(std::memory_order_acquire));
}

}   // namespace garner::net
