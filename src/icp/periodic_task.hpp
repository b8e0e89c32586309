// Background work on one worker.
#pragma once
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "net/worker.hpp"
#include "util/clock.hpp"

namespace garner::icp {

class Mesh;

/// Looks around at an interval, from start() to stop().
class PeriodicTask {
public:
    virtual ~PeriodicTask() = default;
    /// Before the worker runs.
    void start() { net::asio::co_spawn(worker_.io.get_executor(), run(), net::asio::detached); }
    /// On the worker: cancels the current operation.
    virtual void stop() {
        stopped_ = true;
        timer_.cancel();
    }

protected:
    PeriodicTask(Mesh& mesh, net::Worker& worker, milliseconds interval)
        : mesh_(mesh), worker_(worker), interval_(interval), timer_(worker.io.get_executor()) {}

    virtual void look_around() {}
    /// Returns soon after `stopped_` is set.
    virtual net::awaitable<void> run() {
        while (!stopped_) {
            look_around();
            co_await pause(interval_);
        }
    }
    /// Ends early at stop().
    net::awaitable<void> pause(milliseconds time) {
        timer_.expires_after(time);
        auto [ended] = co_await timer_.async_wait(net::as_values);
        (void)ended;
    }

    Mesh& mesh_;
    net::Worker& worker_;
    milliseconds const interval_;
    bool stopped_ = false;

private:
    net::Timer timer_;
};

}   // namespace garner::icp
