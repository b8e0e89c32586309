// A result of work on another thread.
#pragma once
#include <future>
#include <optional>

#include "util/clock.hpp"

namespace garner {

/// Waits for at most `patience`. Nothing: the result has not come in time, or will never come, because the work was dropped.
template <class T>
std::optional<T> awaited(std::future<T>& future, milliseconds patience) {
    if (future.wait_for(patience) != std::future_status::ready) return std::nullopt;
    try {
        return future.get();
    } catch (std::future_error const&) {
        return std::nullopt;
    }
}

}   // namespace garner
