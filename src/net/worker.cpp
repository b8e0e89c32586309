#include "net/worker.hpp"

#include <pthread.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <string>
#include <utility>

#include "net/dns_channel.hpp"
#include "net/page_lender.hpp"

namespace garner::net {

struct Worker::Change {
    WorkerOptions options;
    std::shared_ptr<TlsContext> tls;
    std::unique_ptr<DnsChannel> channel;
};

Result<Prepared> Worker::prepare(WorkerOptions const& fresh, std::shared_ptr<TlsContext> tls) {
    auto channel = resolver.open_channel(fresh.dns);
    if (!channel) return channel.fault();
    auto const change = std::make_shared<Change>(Change{fresh, std::move(tls), *std::move(channel)});
    return Prepared([this, change] { asio::post(io, [this, change] { apply(*change); }); });
}

void Worker::apply(Change& change) {
    resolver.use(std::move(change.channel), change.options.dns);
    connector.reconfigure(change.options.connect);
    pool.reconfigure(change.options.pool);
    if (change.tls == origin_tls) return;
    if (origin_tls) pool.close_secure(origin_tls->id());
    origin_tls = std::move(change.tls);
}

void Worker::start() {
    work_.emplace(io.get_executor());
    ticked_ = steady_now();
    wheel.on_tick([](void* self) { static_cast<Worker*>(self)->tick(); }, this);
    wheel.start();
    thread_ = std::thread([this] {
        pthread_setname_np(pthread_self(), ("worker-" + std::to_string(number)).c_str());
        RecycledMemory memory;
        PageLender::of_this_thread();   // opens its pipe while descriptors are free
        io.run();
        ended_ = true;
    });
}

void Worker::tick() {
    ticked_.store(steady_now(), std::memory_order_relaxed);
    pool.sweep();
    if (++ticks_ % ticks_a_look == 0) resolver.follow_servers_file();
    if (ticks_ % ticks_a_sweep != 0) return;
    buffers.sweep();
    head_buffers.sweep();
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
