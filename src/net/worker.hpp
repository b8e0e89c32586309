// A worker: one thread, one io_context, and the state that its connections share. Nothing here is locked.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <thread>

#include "net/asio.hpp"
#include "net/buffers.hpp"
#include "net/connector.hpp"
#include "net/deadline.hpp"
#include "net/name_cache.hpp"
#include "net/options.hpp"
#include "net/origin_pool.hpp"
#include "net/resolver.hpp"
#include "net/tls_context.hpp"
#include "util/prepared.hpp"
#include "util/result.hpp"

namespace garner::net {

struct WorkerOptions {
    ResolverOptions dns;
    ConnectorOptions connect;
    PoolOptions pool;
};

/// Members are used on the worker's own thread only, except io, to which other threads post, prepare(), join() and responds().
class Worker {
public:
    Worker(unsigned number, NameCache& names, std::shared_ptr<TlsContext> tls, WorkerOptions const& options)
        : number(number), origin_tls(std::move(tls)), io(1), wheel(io), pool(options.pool), resolver(io, wheel, names, options.dns),
          connector(io, wheel, resolver, options.connect) {}

    /// For a reload, from any thread: later lookups, connections and idle connections get these options, and connections to
    /// https:// origins `tls`. The fault names the key.
    Result<Prepared> prepare(WorkerOptions const& fresh, std::shared_ptr<TlsContext> tls);
    /// Runs until finish().
    void start();
    /// Lets the thread end when no more work is queued.
    void finish();
    /// Waits at most `limit` for the end of the thread. False: it still runs.
    bool join(milliseconds limit);
    /// False if the thread has been inside one handler for seconds.
    bool responds(SteadyTime now) const;

    unsigned const number;
    std::shared_ptr<TlsContext> origin_tls;   // for https:// origins; may be null in tests
    BufferPool buffers;                       // outlives the coroutines that `io` holds
    HeadBufferPool head_buffers;              // likewise
    asio::io_context io;
    DeadlineWheel wheel;
    OriginPool pool;
    Resolver resolver;
    Connector connector;

private:
    struct Change;
    void apply(Change& change);
    void tick();
    std::optional<asio::executor_work_guard<Executor>> work_;
    std::thread thread_;
    static constexpr unsigned ticks_a_sweep = 10, ticks_a_look = 20;   // of 100 ms
    unsigned ticks_ = 0;
    std::atomic<SteadyTime> ticked_{SteadyTime::max()};   // the last tick
    std::atomic<bool> ended_{false};
};

}   // namespace garner::net
