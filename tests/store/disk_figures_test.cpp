// The disk tier's figures are correct.
#include "store/disk_scene.hpp"

#include <algorithm>
#include <set>

#include "store/budget.hpp"
#include "store/disk_format.hpp"

namespace garner::store {
namespace {

class DiskFigures : public DiskTier {
protected:
    std::uint64_t refused(NotStored why) const { return disk->stats().not_stored[static_cast<std::size_t>(why)]; }
};

TEST_F(DiskFigures, a_hit_is_an_object_and_its_pieces_are_counted_apart) {
    open();
    store("fhttp://small/", "some bytes");
    Budget budget(16 * MiB, 16 * MiB);
    BodyPtr body(new Body(budget, 3 * disk::piece_max));
    while (body->size() < 3 * disk::piece_max) {
        auto const room = body->room([&](Bytes bytes) { return budget.reserve(bytes) && budget.reserve_filling(bytes); });
        ASSERT_FALSE(room.empty());
        std::fill(room.begin(), room.end(), 'x');
        body->grow(std::min<Bytes>(room.size(), 3 * disk::piece_max - body->size()));
    }
    body->finish(Body::State::complete);
    auto large = parts("fhttp://large/", {});
    large.body = body;
    ASSERT_EQ(disk->store(large), NotStored::none);
    EXPECT_EQ(disk->stats().hits, 0u);
    ASSERT_TRUE(load("fhttp://small/"));
    EXPECT_EQ(disk->stats().hits, 1u);
    EXPECT_EQ(disk->stats().pieces, 0u);
    ASSERT_TRUE(load("fhttp://large/"));
    EXPECT_EQ(disk->stats().hits, 2u);
    EXPECT_EQ(disk->stats().pieces, 1u) << "the first is read along with its head";
    EXPECT_EQ(load("fhttp://none/"), nullptr);
    EXPECT_EQ(disk->stats().hits, 2u);
}

TEST_F(DiskFigures, what_is_live_is_told_to_a_few_percent) {
    open();
    Bytes stored = 0;
    for (unsigned i = 0; i < 500; ++i) {
        auto const body = pattern(100 + i * 20, i);
        ASSERT_EQ(store("fhttp://a/" + std::to_string(i), body), NotStored::none);
        if (i % 3) stored += body.size() + 260;   // including its head
    }
    for (unsigned i = 0; i < 500; i += 3) disk->forget("fhttp://a/" + std::to_string(i));
    EXPECT_NEAR(static_cast<double>(disk->stats().live), static_cast<double>(stored), 0.05 * static_cast<double>(stored));
}

TEST_F(DiskFigures, a_rate_is_spent_by_what_was_written_alone) {
    options.rate = 20'000;
    options.object_max = 15'000;
    open();
    for (unsigned i = 0; i < 20; ++i) EXPECT_EQ(store("fhttp://a/", pattern(15'001, i)), NotStored::too_large);
    EXPECT_EQ(store("fhttp://a/", pattern(15'000, 1)), NotStored::none);
    EXPECT_EQ(store("fhttp://b/", pattern(15'000, 1)), NotStored::none) << "some budget was left";
    EXPECT_EQ(store("fhttp://c/", pattern(1'000, 1)), NotStored::rate) << "the budget is negative now";
    EXPECT_EQ(refused(NotStored::too_large), 20u);
    EXPECT_EQ(refused(NotStored::rate), 1u);
}

TEST_F(DiskFigures, trouble_is_told_no_longer_than_there_is_some) {
    options.faults = &faults;
    open();
    faults.write_error = ENOSPC;
    ASSERT_TRUE(eventually([&] {
        store("fhttp://a/", "x");
        return disk->stats().state == DiskStats::State::failing;
    }));
    EXPECT_FALSE(disk->stats().trouble.empty());
    faults.write_error = 0;
    EXPECT_TRUE(eventually([&] { return disk->stats().state == DiskStats::State::working; }));
    EXPECT_TRUE(eventually([&] { return disk->stats().trouble.empty(); })) << disk->stats().trouble;
}

TEST_F(DiskFigures, heads_are_told_of_all_objects_however_close_they_lie) {
    open();
    std::set<std::string> wanted;
    for (unsigned i = 0; i < 300; ++i) {
        auto const key = "fhttp://a/" + std::to_string(i);
        ASSERT_EQ(store(key, pattern(i % 50 == 0 ? 60'000 : 10 * i, i)), NotStored::none);
        wanted.insert(key);
    }
    for (int round = 0; round < 2; ++round) {
        std::set<std::string> told;
        for (std::uint32_t segment = 0;; ++segment) {
            std::vector<ObjectPtr> objects;
            auto* store = disk.get();
            auto look = [&](net::Executor executor) { return store->heads(segment, objects, executor); };
            if (!run(look)) break;
            for (auto const& object : objects) told.insert(std::string(object->key()));
        }
        EXPECT_EQ(told, wanted);
        restart();
    }
}

}   // namespace
}   // namespace garner::store
