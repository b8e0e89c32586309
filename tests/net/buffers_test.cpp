#include "net/buffers.hpp"

#include <gtest/gtest.h>

namespace garner::net {
namespace {

TEST(BufferPool, returned_buffers_are_used_again) {
    BufferPool pool;
    auto* const first = pool.take().get();
    EXPECT_EQ(pool.take().get(), first);
    EXPECT_EQ(pool.bytes(), BufferPool::size);
}

TEST(BufferPool, a_sweep_frees_what_was_not_used_since_the_last_one) {
    BufferPool pool;
    {
        auto const one = pool.take(), other = pool.take();
        EXPECT_EQ(pool.bytes(), 2 * BufferPool::size);
    }
    pool.sweep();
    EXPECT_EQ(pool.bytes(), 2 * BufferPool::size) << "both were used";
    { auto const one = pool.take(); }
    pool.sweep();
    EXPECT_EQ(pool.bytes(), BufferPool::size) << "one was used";
    auto const used = pool.take();
    pool.sweep();
    pool.sweep();
    EXPECT_EQ(pool.bytes(), BufferPool::size) << "borrowed";
}

TEST(BufferPool, without_use_it_keeps_nothing) {
    BufferPool pool;
    { auto const one = pool.take(); }
    pool.sweep();
    pool.sweep();
    EXPECT_EQ(pool.bytes(), 0u);
}

TEST(BufferPool, keeps_a_bounded_number) {
    BufferPool pool;
    {
        std::vector<Buffer> many;
        for (std::size_t i = 0; i < BufferPool::kept_max + 10; ++i) many.push_back(pool.take());
        EXPECT_EQ(pool.bytes(), (BufferPool::kept_max + 10) * BufferPool::size);
    }
    EXPECT_EQ(pool.bytes(), BufferPool::kept_max * BufferPool::size);
}

}   // namespace
}   // namespace garner::net
