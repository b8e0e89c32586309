// Wakes the coroutines of one worker that wait for a line.
#pragma once
#include <map>

#include "net/asio.hpp"
#include "share/line.hpp"

namespace garner::share {

/// Ticks only while coroutines wait. Belongs to one worker.
class Clock {
public:
    explicit Clock(net::asio::io_context& io) : timer_(io) {}

    net::Executor executor() { return timer_.get_executor(); }
    /// A coroutine of this worker begins to wait for the line.
    void begin(Line& line);
    void end(Line& line);

private:
    void schedule();
    void tick();

    net::Timer timer_;
    std::map<Line*, unsigned> waiting_;   // coroutines by line
    bool runs_ = false;
};

}   // namespace garner::share
