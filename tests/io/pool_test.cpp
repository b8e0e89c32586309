// A pool of threads that is closed while jobs wait and run.
#include "io/pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace garner::io {
namespace {

TEST(Pool, a_closed_pool_returns_the_jobs_that_wait_and_ends_with_those_that_run) {
    Pool pool(2, 100);
    EXPECT_EQ(pool.threads(), 2u);
    std::promise<void> end;
    auto const ends = end.get_future().share();
    std::atomic<int> begun{0}, ended{0};
    for (int i = 0; i < 5; ++i)
        EXPECT_TRUE(pool.run([&, ends] {
            ++begun;
            ends.wait();
            ++ended;
        }));
    while (begun < 2) std::this_thread::yield();
    auto waiting = pool.close();
    EXPECT_EQ(waiting.size(), 3u);
    EXPECT_FALSE(pool.has_ended());
    EXPECT_FALSE(pool.run([] {}));
    end.set_value();
    while (!pool.has_ended()) std::this_thread::yield();
    EXPECT_EQ(ended, 2);
    for (auto& job : waiting) job();
    EXPECT_EQ(ended, 5);
    pool.stop();
}

}   // namespace
}   // namespace garner::io
