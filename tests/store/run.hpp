// Runs coroutines in tests without a worker.
#pragma once
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "net/asio.hpp"

namespace garner::store {

/// Runs `begin(executor)` to its end.
template <class Begin>
auto run(Begin&& begin) {
    // One context per thread: a thread that woke it may release the timer in its handle long after the wait.
    thread_local net::asio::io_context io;
    io.restart();
    using Result = typename decltype(begin(io.get_executor()))::value_type;
    std::optional<Result> result;
    net::asio::co_spawn(io, begin(io.get_executor()), [&](std::exception_ptr, Result value) { result = std::move(value); });
    io.run();
    return std::move(*result);
}

}   // namespace garner::store
