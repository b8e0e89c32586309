#include "store/successor_disk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace garner::store {
namespace {

using testing::ElementsAre;

std::string_view without_variant(std::string_view key) { return key.substr(0, key.find('\x01')); }

struct Scene {
    std::atomic<int> woken{0};
    std::shared_ptr<SuccessorDisk> disk = std::make_shared<SuccessorDisk>(
        nullptr, [this] { ++woken; }, without_variant);
};

TEST(SuccessorDisk, passes_each_url_on_once) {
    Scene scene;
    EXPECT_FALSE(scene.disk->take());
    for (auto const* key : {"b", "a", "b\x01gzip", "b"}) EXPECT_TRUE(scene.disk->forget(key));
    EXPECT_EQ(scene.woken, 4);
    auto const removals = scene.disk->take();
    ASSERT_TRUE(removals);
    EXPECT_THAT(removals->keys, ElementsAre("a", "b"));
    EXPECT_EQ(removals->number, 4u);
    EXPECT_EQ(removals->what, Survives::process);
    EXPECT_FALSE(removals->everything);
    EXPECT_FALSE(scene.disk->take());
}

TEST(SuccessorDisk, divides_many_removals_and_raises_the_number_with_the_last_message) {
    Scene scene;
    for (int i = 0; i < 1'000; ++i) scene.disk->forget(std::to_string(i) + std::string(100, 'x'));
    std::size_t keys = 0;
    std::uint64_t last = 0;
    while (auto const removals = scene.disk->take()) {
        EXPECT_LE(removals->keys.size(), 256u);
        EXPECT_EQ(last, 0u);
        last = removals->number;
        keys += removals->keys.size();
    }
    EXPECT_EQ(keys, 1'000u);
    EXPECT_EQ(last, 1'000u);
}

TEST(SuccessorDisk, gives_a_long_key_a_message_of_its_own) {
    Scene scene;
    std::string const longest(SuccessorDisk::key_max, 'b');
    for (auto const& key : {std::string("a"), longest, std::string("c")}) scene.disk->forget(key);
    EXPECT_THAT(scene.disk->take()->keys, ElementsAre("a"));
    EXPECT_THAT(scene.disk->take()->keys, ElementsAre(longest));
    EXPECT_THAT(scene.disk->take()->keys, ElementsAre("c"));
    EXPECT_FALSE(scene.disk->take());
}

TEST(SuccessorDisk, removes_everything_instead_of_a_key_that_fits_into_no_message) {
    Scene scene;
    scene.disk->forget("a");
    scene.disk->forget(std::string(SuccessorDisk::key_max + 1, 'x'));
    scene.disk->forget("b");
    auto const removals = scene.disk->take();
    ASSERT_TRUE(removals);
    EXPECT_TRUE(removals->everything);
    EXPECT_THAT(removals->keys, ElementsAre());
    EXPECT_EQ(removals->number, 3u);
    scene.disk->forget("c");
    auto const next = scene.disk->take();
    EXPECT_FALSE(next->everything);
    EXPECT_THAT(next->keys, ElementsAre("c"));
}

TEST(SuccessorDisk, removes_everything_instead_of_too_many_keys) {
    Scene scene;
    for (std::size_t i = 0; i < InterimDisk::removals_max; ++i) scene.disk->forget(std::to_string(i));
    scene.disk->forget("one more");
    auto const removals = scene.disk->take();
    EXPECT_TRUE(removals->everything);
    EXPECT_THAT(removals->keys, ElementsAre());
    EXPECT_FALSE(scene.disk->take());
}

/// Waits on a thread of its own.
struct Wait {
    Wait(SuccessorDisk& disk, Survives what)
        : thread([this, &disk, what] { result = disk.wait_until_settled(what), over = true; }) {}
    std::atomic<bool> result{false}, over{false};
    std::jthread thread;
};

TEST(SuccessorDisk, waits_for_the_acknowledgement) {
    Scene scene;
    scene.disk->begin_to_wait();
    scene.disk->forget("a");
    Wait wait(*scene.disk, Survives::power);
    while (scene.woken < 2) std::this_thread::yield();
    auto const removals = scene.disk->take();
    ASSERT_TRUE(removals);
    EXPECT_THAT(removals->keys, ElementsAre("a"));
    EXPECT_EQ(removals->what, Survives::power);
    scene.disk->acknowledge(1);
    scene.disk->acknowledge(99);   // not sent yet
    std::this_thread::sleep_for(milliseconds{50});
    EXPECT_FALSE(wait.over);
    scene.disk->acknowledge(removals->number);
    wait.thread.join();
    EXPECT_TRUE(wait.result);
}

TEST(SuccessorDisk, waits_only_for_purges_before_the_other_process_serves) {
    Scene scene;
    scene.disk->forget("a");
    auto const begun = steady_now();
    EXPECT_TRUE(scene.disk->wait_until_settled(Survives::process));
    EXPECT_LT(steady_now() - begun, seconds{4});
    Wait purge(*scene.disk, Survives::power);
    while (scene.woken < 2) std::this_thread::yield();
    scene.disk->begin_to_wait();
    Wait removal(*scene.disk, Survives::process);
    while (scene.woken < 3) std::this_thread::yield();
    EXPECT_FALSE(purge.over);
    EXPECT_FALSE(removal.over);
    scene.disk->acknowledge(scene.disk->take()->number);
    purge.thread.join();
    removal.thread.join();
    EXPECT_TRUE(purge.result);
    EXPECT_TRUE(removal.result);
}

TEST(SuccessorDisk, waits_no_longer_when_the_other_process_has_ended) {
    Scene scene;
    scene.disk->begin_to_wait();
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
