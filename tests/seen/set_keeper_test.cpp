// The thread that owns the set: queued, refused and surviving batches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <latch>
#include <mutex>
#include <new>
#include <set>

#include "crawl/lru_cache.hpp"
#include "seen/set_keeper.hpp"

namespace garner::seen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A set whose answers and failures the test controls.
class SlowSet final : public crawl::UrlSet {
public:
    struct Hand {
        explicit Hand(std::string why) : forgets(std::move(why)) {}
        std::mutex mutex;
        std::condition_variable changed;
        bool open = true;
        int adds = 0, syncs = 0;
        std::string fault, sync_fault, forgets;
        bool throws = false;
        void let(bool go) {
            std::lock_guard const lock(mutex);
            open = go;
            changed.notify_all();
        }
    };
    explicit SlowSet(std::shared_ptr<Hand> hand) : hand_(std::move(hand)) {}

    Added add(std::span<Fingerprint const> batch, std::span<std::uint8_t> is_new) override {
        std::unique_lock lock(hand_->mutex);
        ++hand_->adds;
        hand_->changed.notify_all();
        hand_->changed.wait(lock, [&] { return hand_->open; });
        if (hand_->throws) throw std::bad_alloc();
        if (!hand_->fault.empty()) return {0, hand_->fault};
        Added added;
        for (std::size_t i = 0; i < batch.size(); ++i) added.fresh += is_new[i] = urls_.insert(batch[i]).second;
        return added;
    }
    std::string why_it_forgets() const override { return hand_->forgets; }
    std::string sync() override {
        std::lock_guard const lock(hand_->mutex);
        ++hand_->syncs;
        return hand_->sync_fault;
    }
    std::uint64_t size() const override { return urls_.size(); }
    Bytes memory_bytes() const override { return urls_.size() * 64; }

private:
    std::shared_ptr<Hand> hand_;
    std::set<Fingerprint> urls_;
};

struct KeeperScene {
    explicit KeeperScene(Options options = {}, bool cached = true, std::string const& forgets = {})
        : hand(std::make_shared<SlowSet::Hand>(forgets)),
          keeper(options, std::make_unique<SlowSet>(hand), cached ? front() : nullptr, front) {}

    static std::unique_ptr<crawl::SeenCache> front() { return std::make_unique<crawl::Lru>(crawl::CacheOptions{.entries = 64}); }
    /// Waits until the set was asked `times` times.
    void await_asked(int times) {
        std::unique_lock lock(hand->mutex);
        hand->changed.wait(lock, [&] { return hand->adds >= times; });
    }
    std::shared_ptr<SlowSet::Hand> hand;
    SetKeeper keeper;
};

struct Question {
    explicit Question(std::vector<Fingerprint> urls, bool durable = false) : links(std::move(urls)), answers(links.size()) {
        task.links = links;
        task.answers = answers;
        task.durable = durable;
        task.done = [this] { answered.count_down(); };
    }
    std::vector<LinkStatus> const& wait() {
        answered.wait();
        return answers;
    }
    std::vector<Fingerprint> links;
    std::vector<LinkStatus> answers;
    std::latch answered{1};
    SetKeeper::Task task;
};

TEST(SetKeeper, answers_in_the_order_in_which_it_was_asked) {
    KeeperScene scene;
    Question first({1, 2, 1}), second({2, 3});
    ASSERT_TRUE(scene.keeper.add(first.task));
    EXPECT_THAT(first.wait(), ElementsAre(1, 1, 0));
    ASSERT_TRUE(scene.keeper.add(second.task));
    EXPECT_THAT(second.wait(), ElementsAre(0, 1));
    auto const stats = scene.keeper.stats();
    EXPECT_EQ(stats.entries, 3u);
    EXPECT_EQ(stats.links, 5u);
    EXPECT_EQ(stats.fresh, 3u);
    EXPECT_EQ(stats.passed_cache, 3u);
    EXPECT_EQ(stats.waiting_batches, 0u);
}

TEST(SetKeeper, asks_together_what_waits_together_and_syncs_once) {
    KeeperScene scene;
    scene.hand->let(false);
    Question first({1}), second({1, 2}, true), third({2, 3}, true), fourth({3, 4});
    ASSERT_TRUE(scene.keeper.add(first.task));
    scene.await_asked(1);
    for (auto* question : {&second, &third, &fourth}) ASSERT_TRUE(scene.keeper.add(question->task));
    scene.hand->let(true);
    EXPECT_THAT(second.wait(), ElementsAre(0, 1));
    EXPECT_THAT(third.wait(), ElementsAre(0, 1));
    EXPECT_THAT(fourth.wait(), ElementsAre(0, 1));
    EXPECT_EQ(scene.hand->adds, 2);
    EXPECT_EQ(scene.hand->syncs, 1);
}

TEST(SetKeeper, takes_no_more_than_may_wait_and_always_one) {
    KeeperScene scene({.waiting_links = 3, .waiting_batches = 3});
    scene.hand->let(false);
    Question large({1, 2, 3, 4}), more({5}), small({5, 6}), last({7}), none({});
    ASSERT_TRUE(scene.keeper.add(large.task)) << "an idle keeper takes a batch of any size";
    EXPECT_FALSE(scene.keeper.add(more.task));
    EXPECT_FALSE(scene.keeper.has_room(0));
    scene.hand->let(true);
    large.wait();
    scene.hand->let(false);
    ASSERT_TRUE(scene.keeper.add(small.task));
    ASSERT_TRUE(scene.keeper.add(last.task));
    EXPECT_FALSE(scene.keeper.add(more.task)) << "links";
    ASSERT_TRUE(scene.keeper.add(none.task));
    EXPECT_FALSE(scene.keeper.has_room(0)) << "batches";
    scene.hand->let(true);
    none.wait();
    EXPECT_THAT(last.wait(), ElementsAre(1));
    EXPECT_TRUE(scene.keeper.has_room(3));
}

TEST(SetKeeper, a_fault_loses_nothing_once_it_is_over) {
    KeeperScene scene;
    scene.hand->fault = "no space left";
    Question first({1, 2});
    ASSERT_TRUE(scene.keeper.add(first.task));
    first.wait();
    EXPECT_EQ(first.task.status, SetKeeper::TaskStatus::not_added);
    EXPECT_EQ(first.task.fault, "no space left");
    scene.hand->fault.clear();
    Question second({1, 2});
    ASSERT_TRUE(scene.keeper.add(second.task));
    EXPECT_THAT(second.wait(), ElementsAre(1, 1)) << "the cache must not have URLs that the set lacks";
    EXPECT_EQ(scene.keeper.stats().faults, 1u);
}

TEST(SetKeeper, says_what_would_not_survive) {
    KeeperScene scene;
    scene.hand->sync_fault = "input/output error";
    Question durable({1}, true), other({2});
    ASSERT_TRUE(scene.keeper.add(durable.task));
    EXPECT_THAT(durable.wait(), ElementsAre(1)) << "the URL is new; only its durability is uncertain";
    EXPECT_EQ(durable.task.status, SetKeeper::TaskStatus::not_durable);
    ASSERT_TRUE(scene.keeper.add(other.task));
    other.wait();
    EXPECT_EQ(other.task.status, SetKeeper::TaskStatus::added);
    EXPECT_EQ(scene.keeper.close().fault_text(), "input/output error");
}

TEST(SetKeeper, promises_nothing_of_a_set_that_forgets) {
    KeeperScene scene({}, true, "its appendonly is no");
    EXPECT_EQ(scene.keeper.why_it_forgets(), "its appendonly is no");
    Question durable({1}, true);
    ASSERT_TRUE(scene.keeper.add(durable.task));
    EXPECT_THAT(durable.wait(), ElementsAre(1));
    EXPECT_EQ(durable.task.status, SetKeeper::TaskStatus::not_durable);
    EXPECT_EQ(durable.task.fault, "its appendonly is no");
    EXPECT_EQ(scene.keeper.close().fault_text(), "") << "this set never promises durability";
    EXPECT_EQ(scene.hand->syncs, 0);
    EXPECT_EQ(scene.keeper.stats().faults, 0u);
}

TEST(SetKeeper, what_cannot_fit_is_refused_with_the_figures) {
    EXPECT_THAT(SetKeeper::open({.expected = 1'000'000'000'000}).fault_text(), HasSubstr("more than the memory of 1 GiB"));
    auto const large_cache = SetKeeper::open({.memory = 16 * MiB, .cache_entries = 1 << 22});
    EXPECT_THAT(large_cache.fault_text(), HasSubstr("its cache of 4194304 entries need 3"));
    EXPECT_THAT(large_cache.fault_text(), HasSubstr("more than the memory of 16 MiB"));
}

TEST(SetKeeper, without_memory_it_says_so_from_then_on) {
    KeeperScene scene;
    scene.hand->throws = true;
    Question first({1}), second({2});
    ASSERT_TRUE(scene.keeper.add(first.task));
    first.wait();
    EXPECT_THAT(first.task.fault, HasSubstr("out of memory"));
    scene.hand->throws = false;
    ASSERT_TRUE(scene.keeper.add(second.task));
    second.wait();
    EXPECT_EQ(second.task.status, SetKeeper::TaskStatus::not_added);
    EXPECT_EQ(scene.hand->adds, 1);
}

TEST(SetKeeper, a_set_in_memory_has_a_bound) {
    KeeperScene scene({.memory = 128}, false, "it lies in memory");
    Question first({1, 2, 3}), second({4});
    ASSERT_TRUE(scene.keeper.add(first.task));
    first.wait();
    ASSERT_TRUE(scene.keeper.add(second.task));
    second.wait();
    EXPECT_THAT(second.task.fault, HasSubstr("more than its memory"));
}

TEST(SetKeeper, finishes_what_waits_when_it_closes) {
    KeeperScene scene;
    scene.hand->let(false);
    Question first({1}), second({2});
    ASSERT_TRUE(scene.keeper.add(first.task));
    scene.await_asked(1);
    ASSERT_TRUE(scene.keeper.add(second.task));
    std::thread closing([&] { EXPECT_EQ(scene.keeper.close().fault_text(), ""); });
    scene.hand->let(true);
    EXPECT_THAT(second.wait(), ElementsAre(1));
    closing.join();
    Question third({3});
    EXPECT_FALSE(scene.keeper.add(third.task));
    EXPECT_EQ(scene.hand->syncs, 1);
}

TEST(SetKeeper, names_what_cannot_be_opened) {
    EXPECT_THAT(SetKeeper::open({.set = "trie"}).fault_text(), HasSubstr("no set \"trie\""));
    EXPECT_THAT(SetKeeper::open({.cache = "lruu"}).fault_text(), HasSubstr("no cache \"lruu\""));
    EXPECT_FALSE(SetKeeper::open({.cache = "quotient", .cache_entries = 8}));
    EXPECT_TRUE(SetKeeper::open({.cache = ""}));
}

}   // namespace
}   // namespace garner::seen
