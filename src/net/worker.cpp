#include "net/worker.hpp"

#include <pthread.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <string>

namespace garner::net {

void Worker::start() {
    work_.emplace(io.get_executor());
    ticked_ = steady_now();
    wheel.on_tick([](void* self) { static_cast<Worker*>(self)->tick(); }, this);
    wheel.start();
    thread_ = std::thread([this] {
        pthread_setname_np(pthread_self(), ("worker-" + std::to_string(number)).c_str());
        io.run();
        ended_ = true;
    });
}

void Worker::tick() {
    ticked_.store(steady_now(), std::memory_order_relaxed);
    pool.sweep();
    if (++ticks_ % ticks_a_sweep == 0) buffers.sweep();
}

bool Worker::responds(SteadyTime now) const {
    constexpr seconds patience{5};   // ticks come every 100 ms
    auto const ticked = ticked_.load(std::memory_order_relaxed);
    return ticked > now - patience;
}

void Worker::finish() {
    asio::post(io, [this] {
        pool.clear();
        resolver.stop();
        wheel.stop();
        work_.reset();
    });
}

bool Worker::join(milliseconds limit) {
    constexpr milliseconds look{5};
    if (!thread_.joinable()) return true;
    for (auto const until = steady_now() + limit; !ended_ && steady_now() < until;) std::this_thread::sleep_for(look);
    if (ended_) thread_.join();
    return ended_;
}

}   // namespace garner::net
