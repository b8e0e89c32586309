// A worker on the test's own thread: runs one coroutine to its end, with a time limit.
#pragma once
#include <boost/asio/co_spawn.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>

#include "net/asio.hpp"
#include "net/deadline.hpp"

namespace garner::net {

class Loop {
public:
    Loop() { wheel.start(); }

    template <class T>
    T run(awaitable<T> work) {
        std::optional<T> result;
        spawn_into(std::move(work), [&](T value) { result.emplace(std::move(value)); });
        run_until([&] { return result.has_value(); });
        return std::move(*result);
    }

    void run(awaitable<void> work) {
        bool done = false;
        asio::co_spawn(io, std::move(work), [&](std::exception_ptr fault) {
            if (fault) std::rethrow_exception(fault);
            done = true;
        });
        run_until([&] { return done; });
    }

    void run_for(milliseconds duration) { io.run_for(duration); }

    template <class Condition>
    void run_until(Condition done) {
        auto give_up = steady_now() + seconds{30};
        while (!done()) {
            if (steady_now() > give_up) {
                std::fputs("the scene does not end\n", stderr);
                std::abort();
            }
            io.run_one_for(milliseconds{100});
        }
    }

    /// Sleeps without blocking the loop.
    awaitable<void> pause(milliseconds duration) {
        Timer timer(io.get_executor(), duration);
        co_await timer.async_wait(as_values);
    }

    asio::io_context io{1};
    DeadlineWheel wheel{io};

private:
    template <class T, class Take>
    void spawn_into(awaitable<T> work, Take take) {
        asio::co_spawn(io, std::move(work), [take](std::exception_ptr fault, T value) {
            if (fault) std::rethrow_exception(fault);
            take(std::move(value));
        });
    }
};

}   // namespace garner::net
