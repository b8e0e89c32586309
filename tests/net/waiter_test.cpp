// Waking a coroutine: once, from any thread, before, during or after its wait.
#include "net/waiter.hpp"

#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <memory>
#include <mutex>
#include <thread>

#include "net/loop.hpp"

namespace garner::net {
namespace {

/// A worker on its own thread.
class OtherWorker {
public:
    OtherWorker() : work_(io.get_executor()), thread_([this] { io.run(); }) {}
    ~OtherWorker() {
        work_.reset();
        thread_.join();
    }
    asio::io_context io{1};

private:
    asio::executor_work_guard<Executor> work_;
    std::thread thread_;
};

TEST(Waiter, a_wait_nobody_ends_runs_into_its_limit) {
    Loop loop;
    Waiter waiter(loop.io.get_executor());
    auto begun = steady_now();
    EXPECT_EQ(loop.run(waiter.wait(milliseconds{30})), Wake::deadline);
    EXPECT_GE(steady_now() - begun, milliseconds{30});
}

TEST(Waiter, a_wake_before_the_wait_is_not_lost_and_the_first_one_counts) {
    Loop loop;
    Waiter waiter(loop.io.get_executor());
    waiter.handle().wake(Wake::client_gone);
    waiter.handle().wake(Wake::ready);
    EXPECT_EQ(loop.run(waiter.wait(seconds{20})), Wake::client_gone);
    waiter.handle().wake(Wake::ready);   // after the wait: no effect
    loop.run_for(milliseconds{10});
}

TEST(Waiter, an_empty_handle_wakes_nobody) {
    Loop loop;
    Waiter waiter(loop.io.get_executor());
    WakeHandle{}.wake(Wake::client_gone);
    wake_all({WakeHandle{}, WakeHandle{}}, Wake::client_gone);
    EXPECT_EQ(loop.run(waiter.wait(milliseconds{10})), Wake::deadline);
    Waiter other(loop.io.get_executor());
    wake_all({WakeHandle{}, other.handle()}, Wake::ready);
    EXPECT_EQ(loop.run(other.wait(seconds{20})), Wake::ready);
}

TEST(Waiter, another_thread_wakes_it_whenever_it_likes) {
    Loop loop;
    for (int round = 0; round < 500; ++round) {
        Waiter waiter(loop.io.get_executor());
        std::thread other([handle = waiter.handle(), round] {
            if (round % 3 == 0) std::this_thread::yield();
            handle.wake(Wake::ready);
        });
        EXPECT_EQ(loop.run(waiter.wait(seconds{20})), Wake::ready);
        other.join();
    }
}

TEST(Waiter, its_handle_may_be_destroyed_as_soon_as_the_wait_has_ended) {
    Loop loop;
    for (int round = 0; round < 500; ++round) {
        Waiter waiter(loop.io.get_executor());
        auto handle = std::make_unique<WakeHandle>(waiter.handle());
        std::thread other([waking = handle.get()] { waking->wake(Wake::ready); });
        EXPECT_EQ(loop.run(waiter.wait(seconds{20})), Wake::ready);
        handle.reset();
        other.join();
    }
}

TEST(Waiter, a_wake_races_the_deadline_and_one_of_them_wins) {
    Loop loop;
    for (int round = 0; round < 200; ++round) {
        Waiter waiter(loop.io.get_executor());
        std::thread other([handle = waiter.handle()] {
            std::this_thread::sleep_for(milliseconds{1});
            handle.wake(Wake::ready);
        });
        auto woken = loop.run(waiter.wait(milliseconds{1}));
        EXPECT_TRUE(woken == Wake::ready || woken == Wake::deadline);
        other.join();
    }
}

TEST(Waiter, many_on_several_workers_are_woken_together) {
    constexpr int each = 50;
    Loop loop;
    OtherWorker other;
    std::mutex mutex;
    WakeHandles handles;
    std::atomic<int> woken = 0;
    auto wait_once = [&](asio::io_context& io) -> awaitable<void> {
        Waiter waiter(io.get_executor());
        {
            std::lock_guard lock(mutex);
            handles.push_back(waiter.handle());
        }
        auto wake = co_await waiter.wait(seconds{20});
        if (wake == Wake::shutdown) ++woken;
    };
    auto ignore = [](std::exception_ptr) {};
    for (int i = 0; i < each; ++i) {
        asio::co_spawn(loop.io, wait_once(loop.io), ignore);
        asio::co_spawn(other.io, wait_once(other.io), ignore);
    }
    loop.run_until([&] {
        std::lock_guard lock(mutex);
        return handles.size() == 2 * each;
    });
    EXPECT_EQ(woken, 0);
    wake_all(std::move(handles), Wake::shutdown);
    loop.run_until([&] { return woken == 2 * each; });
    EXPECT_EQ(woken, 2 * each);
}

}   // namespace
}   // namespace garner::net
