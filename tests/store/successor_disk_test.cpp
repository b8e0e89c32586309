#include "store/successor_disk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace garner::store {
namespace {

using testing::ElementsAre;

struct Scene {
    std::atomic<int> woken{0};
    std::shared_ptr<SuccessorDisk> disk = std::make_shared<SuccessorDisk>(nullptr, [this] { ++woken; });
};

TEST(SuccessorDisk, passes_removals_on_in_their_order) {
    Scene scene;
    EXPECT_FALSE(scene.disk->take());
    EXPECT_TRUE(scene.disk->forget("a"));
    EXPECT_TRUE(scene.disk->forget("b"));
    EXPECT_EQ(scene.woken, 2);
    auto const removals = scene.disk->take();
    ASSERT_TRUE(removals);
    EXPECT_THAT(removals->keys, ElementsAre("a", "b"));
    EXPECT_EQ(removals->number, 2u);
    EXPECT_EQ(removals->what, Survives::process);
    EXPECT_FALSE(scene.disk->take());
}

TEST(SuccessorDisk, divides_many_removals) {
    Scene scene;
    for (int i = 0; i < 1'000; ++i) scene.disk->forget(std::string(100, 'x'));
    std::size_t keys = 0;
    std::uint64_t last = 0;
    while (auto const removals = scene.disk->take()) {
        EXPECT_LE(removals->keys.size(), 256u);
        EXPECT_GT(removals->number, last);
        last = removals->number;
        keys += removals->keys.size();
    }
    EXPECT_EQ(keys, 1'000u);
    EXPECT_EQ(last, 1'000u);
}

TEST(SuccessorDisk, waits_for_the_acknowledgement) {
    Scene scene;
    scene.disk->forget("a");
    std::atomic<bool> over{false};
    std::jthread waiting([&] {
        EXPECT_TRUE(scene.disk->wait_until_settled(Survives::power));
        over = true;
    });
    while (scene.woken < 2) std::this_thread::yield();
    auto const removals = scene.disk->take();
    ASSERT_TRUE(removals);
    EXPECT_THAT(removals->keys, ElementsAre("a"));
    EXPECT_EQ(removals->what, Survives::power);
    scene.disk->acknowledge(1);
    scene.disk->acknowledge(99);   // not sent yet
    std::this_thread::sleep_for(milliseconds{50});
    EXPECT_FALSE(over);
    scene.disk->acknowledge(removals->number);
    waiting.join();
    EXPECT_TRUE(over);
}

TEST(SuccessorDisk, waits_no_longer_when_the_other_process_has_ended) {
    Scene scene;
    scene.disk->forget("a");
    scene.disk->finish();
    EXPECT_TRUE(scene.disk->wait_until_settled(Survives::process));
}

TEST(SuccessorDisk, gives_its_removals_to_the_store_that_is_opened_again) {
    Scene first, second;
    first.disk->forget("a");
    ASSERT_TRUE(first.disk->pass_on(second.disk));
    first.disk->forget("b");
    EXPECT_THAT(second.disk->take()->keys, ElementsAre("a", "b"));
    second.disk->finish();
    EXPECT_TRUE(first.disk->wait_until_settled(Survives::process));
}

}   // namespace
}   // namespace garner::store
