#include "net/worker.hpp"

#include <pthread.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <string>

namespace garner::net {

void Worker::start() {
    work_.emplace(io.get_executor());
    wheel.on_tick([](void* self) { static_cast<Worker*>(self)->pool.sweep(); }, this);
    wheel.start();
    thread_ = std::thread([this] {
        pthread_setname_np(pthread_self(), ("worker-" + std::to_string(number)).c_str());
        io.run();
    });
}

void Worker::finish() {
    asio::post(io, [this] {
        pool.clear();
        resolver.stop();
        wheel.stop();
        work_.reset();
    });
}

void Worker::join() {
    if (thread_.joinable()) thread_.join();
}

}   // namespace garner::net
