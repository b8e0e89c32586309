#include "admin/pauses.hpp"

namespace garner::admin {

net::awaitable<bool> Pauses::wait(milliseconds time) {
    if (stopped_) co_return true;
    if (timers_.size() >= most) co_return false;
    net::Timer timer(io_);
    timer.expires_after(time);
    timers_.insert(&timer);
    auto [woken] = co_await timer.async_wait(net::as_values);
    (void)woken;
    timers_.erase(&timer);
    co_return true;
}

void Pauses::stop() {
    stopped_ = true;
    for (auto* const timer : timers_) timer->cancel();
}

}   // namespace garner::admin
