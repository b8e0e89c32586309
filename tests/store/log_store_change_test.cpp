// A store that another one replaces while the process runs.
#include "store/disk_scene.hpp"
#include "store/interim_disk.hpp"

namespace garner::store {
namespace {

class StoreChange : public DiskTier {
protected:
    std::unique_ptr<DiskStore> reopened(DiskStore::Reopening const& how) {
        return test::made(DiskStore::open_while_running(options, how));
    }
    bool finds(DiskStore& store, std::string const& key) {
        return run([&](net::Executor executor) { return store.load(key, executor); }) != nullptr;
    }
    bool recovers(DiskStore const& store) {
        return eventually([&] { return store.stats().state == DiskStats::State::working; });
    }
};

TEST_F(StoreChange, a_closed_store_still_reads_and_hands_its_file_over) {
    open();
    EXPECT_EQ(store("kept", "body"), NotStored::none);
    EXPECT_EQ(store("gone", "body"), NotStored::none);
    disk->forget("gone");
    EXPECT_TRUE(disk->close());
    EXPECT_TRUE(disk->close());
    EXPECT_EQ(body_of("kept"), "body");
    EXPECT_NE(disk->store(parts("late", "body")), NotStored::none);
    EXPECT_FALSE(DiskStore::open(options)) << "the lock is held";
    auto const next = reopened({.former = disk.get(), .keeps_contents = true});
    EXPECT_FALSE(DiskStore::open(options)) << "by both";
    ASSERT_TRUE(recovers(*next));
    EXPECT_TRUE(finds(*next, "kept"));
    EXPECT_FALSE(finds(*next, "gone"));
    EXPECT_FALSE(finds(*next, "late"));
    EXPECT_EQ(next->store(parts("new", "body")), NotStored::none);
    EXPECT_EQ(body_of("kept"), "body") << "from the former one";
    disk.reset();
    EXPECT_FALSE(DiskStore::open(options)) << "the next store has the lock now";
    EXPECT_TRUE(finds(*next, "new"));
}

TEST_F(StoreChange, the_end_of_a_former_store_changes_nothing_in_the_file) {
    open();
    EXPECT_EQ(store("kept", "body"), NotStored::none);
    EXPECT_TRUE(disk->close());
    auto next = reopened({.former = disk.get(), .keeps_contents = true});
    ASSERT_TRUE(recovers(*next));
    EXPECT_EQ(next->store(parts("new", "body")), NotStored::none);
    EXPECT_FALSE(disk->store(parts("kept", "late")) == NotStored::none) << "its tombstone cannot be written any more";
    disk.reset();
    next.reset();
    open();
    EXPECT_EQ(body_of("kept"), "body");
    EXPECT_EQ(body_of("new"), "body");
}

TEST_F(StoreChange, a_store_that_is_left_is_empty_at_the_next_start) {
    open();
    EXPECT_EQ(store("old", "body"), NotStored::none);
    disk->leave();
    EXPECT_EQ(body_of("old"), "body") << "until then it reads";
    EXPECT_EQ(disk->store(parts("late", "body")), NotStored::failing);
    restart();
    EXPECT_EQ(body_of("old"), "nothing");
    EXPECT_EQ(body_of("late"), "nothing");
    EXPECT_EQ(store("new", "body"), NotStored::none);
    restart();
    EXPECT_EQ(body_of("new"), "body");
}

TEST_F(StoreChange, a_store_that_was_not_in_use_is_opened_empty_with_numbers_behind_the_last) {
    open();
    EXPECT_EQ(store("old", "body"), NotStored::none);
    auto const last = disk->first_sequence() + (std::uint64_t{100} << numbers_of_a_second);
    disk.reset();
    auto const next = reopened({.least_sequence = last});
    EXPECT_GT(next->first_sequence(), last);
    ASSERT_TRUE(recovers(*next));
    EXPECT_FALSE(finds(*next, "old"));
}

TEST_F(StoreChange, errors_are_faults_or_are_retried) {
    options.path += "/none/disk";
    auto const refused = DiskStore::open_while_running(options, {});
    EXPECT_NE(refused.fault_text().find("cannot open "), std::string::npos) << refused.fault_text();
    auto const failing = reopened({.retries = true});
    EXPECT_EQ(failing->stats().state, DiskStats::State::failing);
    options.path = fs::path(options.path).parent_path().parent_path().string();
}

TEST_F(StoreChange, what_is_removed_in_between_is_removed_from_the_next_store) {
    open();
    for (auto const* key : {"a", "b", "c"}) EXPECT_EQ(store(key, "body"), NotStored::none);
    InterimDisk interim(*disk);
    EXPECT_EQ(interim.stats().state, DiskStats::State::recovering);
    EXPECT_TRUE(interim.forget("a"));
    EXPECT_EQ(interim.store(parts("b", "newer")), NotStored::failing);
    std::shared_ptr<DiskStore> const next = std::move(disk);
    std::thread waits([&] { EXPECT_TRUE(interim.wait_until_settled(Survives::process)); });
    EXPECT_TRUE(interim.pass_on(next));
    waits.join();
    EXPECT_FALSE(next->may_have("a"));
    EXPECT_FALSE(next->may_have("b")) << "it was replaced by an object that was not stored";
    EXPECT_TRUE(next->may_have("c"));
    EXPECT_TRUE(interim.forget("c"));
    EXPECT_FALSE(next->may_have("c")) << "by a thread that has not seen the exchange yet";
    EXPECT_TRUE(run([&](net::Executor executor) { return interim.settled(Survives::power, executor); }));
}

TEST_F(StoreChange, too_many_removals_are_not_remembered) {
    open();
    InterimDisk interim(*disk);
    for (std::size_t i = 0; i <= InterimDisk::removals_max; ++i) interim.forget(std::to_string(i));
    std::shared_ptr<DiskStore> const next = std::move(disk);
    EXPECT_FALSE(interim.pass_on(next));
    interim.pass_on_to_empty(next);
    EXPECT_TRUE(interim.wait_until_settled(Survives::process));
}

}   // namespace
}   // namespace garner::store
