#include "admin/pauses.hpp"

namespace garner::admin {

net::awaitable<void> Pauses::wait(milliseconds time) {
    if (stopped_) co_return;
    net::Timer timer(io_);
    timer.expires_after(time);
    timers_.insert(&timer);
    auto [woken] = co_await timer.async_wait(net::as_values);
    (void)woken;
    timers_.erase(&timer);
}

void Pauses::stop() {
    stopped_ = true;
    for (auto* const timer : timers_) timer->cancel();
}

}   // namespace garner::admin
