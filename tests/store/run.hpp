// Coroutines in tests without a worker.
#pragma once
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "net/asio.hpp"

namespace garner::store {

/// One that lives to the end of the process: whoever wakes a coroutine holds its timer for a moment longer than that takes.
inline net::asio::io_context& kept_context() {
    static std::mutex mutex;
    static std::deque<net::asio::io_context> contexts;
    std::lock_guard const lock(mutex);
    return contexts.emplace_back();
}

/// Runs `begin(executor)` to its end, on an io_context of its own.
template <class Begin>
auto run(Begin&& begin) {
    auto& io = kept_context();
    using Result = typename decltype(begin(io.get_executor()))::value_type;
    std::optional<Result> result;
    net::asio::co_spawn(io, begin(io.get_executor()), [&](std::exception_ptr, Result value) { result = std::move(value); });
    io.run();
    return std::move(*result);
}

}  // namespace garner::store
