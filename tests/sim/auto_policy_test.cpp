#include "sim/auto_policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace garner::sim {
namespace {

using testing::HasSubstr;
using Aim = AutoPolicy::Aim;

/// A proxy with the miss ratios of the scene; look() covers one whole window.
class AutoScene {
public:
    struct Missed {
        std::string policy;
        std::uint64_t objects;   // per 1,000 requests
        Bytes bytes;             // per 1,000,000 bytes
    };
    explicit AutoScene(AutoPolicy::Terms terms) : policy_(terms), window_(terms.window) {
        what_if_.capacity = 100;
        what_if_.epoch = 1;
    }

    std::optional<AutoPolicy::Change> look(std::vector<Missed> const& missed) {
        if (what_if_.rows.empty()) {
            add(missed, 0);
            policy_.look(what_if_, running_, now_);
        }
        add(missed, 1);
        what_if_.requests += 1'000;
        now_ += window_;
        auto change = policy_.look(what_if_, running_, now_);
        if (change) running_ = change->policy;
        return change;
    }
    void rebuild() { ++what_if_.epoch; }
    void run(std::string policy) { running_ = std::move(policy); }
    WhatIf& what_if() { return what_if_; }
    AutoPolicy& policy() { return policy_; }
    SteadyTime now_{seconds{1'000}};
    std::string running_ = "lru";

private:
    void add(std::vector<Missed> const& missed, unsigned times) {
        for (auto const& one : missed) {
            // Rows of another size have opposite figures, and must not count.
            for (Bytes size : {Bytes{50}, Bytes{100}}) {
                auto row = std::find_if(what_if_.rows.begin(), what_if_.rows.end(),
                                        [&](auto const& r) { return r.policy == one.policy && r.size == size; });
                if (row == what_if_.rows.end()) row = what_if_.rows.insert(row, {one.policy, size, 0, 0});
                row->misses += times * (size == 100 ? one.objects : 1'000 - one.objects);
                row->missed_bytes += times * (size == 100 ? one.bytes : 1'000'000 - one.bytes);
            }
        }
    }
    WhatIf what_if_;
    AutoPolicy policy_;
    seconds window_;
};

AutoPolicy::Terms terms(Aim aim = Aim::objects) { return {.aim = aim, .rest = seconds{0}}; }

std::vector<AutoScene::Missed> const gdsf_saves_objects{{"lru", 500, 400'000}, {"gdsf", 400, 450'000}};
std::vector<AutoScene::Missed> const hardly_better{{"lru", 500, 400'000}, {"gdsf", 490, 400'000}};

TEST(AutoPolicy, changes_when_another_has_led_in_all_windows_and_says_why) {
    AutoScene scene(terms());
    EXPECT_FALSE(scene.look(gdsf_saves_objects));
    EXPECT_FALSE(scene.look(gdsf_saves_objects));
    auto const change = scene.look(gdsf_saves_objects);
    ASSERT_TRUE(change);
    EXPECT_EQ(change->policy, "gdsf");
    EXPECT_EQ(change->why, "lru → gdsf: 20.0 % fewer object misses over 3000 sampled requests");
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(scene.look(gdsf_saves_objects));
}

TEST(AutoPolicy, the_aim_decides_what_is_better) {
    AutoScene scene(terms(Aim::bytes));
    scene.run("gdsf");
    EXPECT_FALSE(scene.look(gdsf_saves_objects));
    EXPECT_FALSE(scene.look(gdsf_saves_objects));
    auto const change = scene.look(gdsf_saves_objects);
    ASSERT_TRUE(change);
    EXPECT_EQ(change->policy, "lru");
    EXPECT_THAT(change->why, HasSubstr("11.1 % fewer missed bytes"));
}

TEST(AutoPolicy, a_small_lead_is_worth_no_change) {
    AutoScene scene(terms());
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(scene.look(hardly_better));
}

TEST(AutoPolicy, a_lead_that_breaks_off_begins_anew) {
    AutoScene scene(terms());
    for (int i = 0; i < 21; ++i) EXPECT_FALSE(scene.look(i % 3 == 2 ? hardly_better : gdsf_saves_objects)) << i;
    EXPECT_FALSE(scene.look(gdsf_saves_objects));
    EXPECT_FALSE(scene.look(gdsf_saves_objects));
    EXPECT_TRUE(scene.look(gdsf_saves_objects));
}

TEST(AutoPolicy, it_rests_between_two_changes) {
    auto slow = terms();
    slow.windows = 1;
    slow.rest = seconds{35};
    AutoScene scene(slow);
    EXPECT_TRUE(scene.look(gdsf_saves_objects));
    std::vector<AutoScene::Missed> const lru_leads{{"lru", 300, 0}, {"gdsf", 400, 0}};
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(scene.look(lru_leads)) << i;   // 10 s each
    auto const back = scene.look(lru_leads);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->policy, "lru");
    EXPECT_EQ(back->why, "gdsf → lru: 25.0 % fewer object misses over 4000 sampled requests");
}

TEST(AutoPolicy, two_that_take_turns_in_leading_do_not_keep_each_other_from_it) {
    AutoScene scene(terms());
    std::vector<AutoScene::Missed> const a{{"lru", 500, 0}, {"gdsf", 400, 0}, {"lfu", 390, 0}};
    std::vector<AutoScene::Missed> const b{{"lru", 500, 0}, {"gdsf", 380, 0}, {"lfu", 400, 0}};
    EXPECT_FALSE(scene.look(a));
    EXPECT_FALSE(scene.look(b));
    auto const change = scene.look(a);
    ASSERT_TRUE(change);
    EXPECT_EQ(change->policy, "gdsf");
}

TEST(AutoPolicy, miniatures_built_anew_only_cost_the_window_that_had_begun) {
    AutoScene scene(terms());
    EXPECT_FALSE(scene.look(gdsf_saves_objects));
    EXPECT_FALSE(scene.look(gdsf_saves_objects));
    scene.rebuild();
    scene.what_if().requests /= 2;
    for (auto& row : scene.what_if().rows) row.misses /= 2, row.missed_bytes /= 2;
    EXPECT_FALSE(scene.look(gdsf_saves_objects));   // starts a new base
    EXPECT_TRUE(scene.look(gdsf_saves_objects));
}

TEST(AutoPolicy, who_was_told_to_run_another_policy_begins_anew) {
    AutoScene scene(terms());
    EXPECT_FALSE(scene.look(gdsf_saves_objects));
    EXPECT_FALSE(scene.look(gdsf_saves_objects));
    scene.run("lfu");
    EXPECT_FALSE(scene.look({{"lru", 500, 0}, {"gdsf", 400, 0}, {"lfu", 100, 0}}));
    EXPECT_FALSE(scene.look({{"lru", 500, 0}, {"gdsf", 400, 0}, {"lfu", 100, 0}}));
}

TEST(AutoPolicy, a_window_needs_requests_as_well_as_time) {
    AutoPolicy policy(terms());
    WhatIf what_if;
    what_if.capacity = 1;
    what_if.epoch = 1;
    what_if.rows = {{"lru", 1, 0, 0}, {"gdsf", 1, 0, 0}};
    SteadyTime now{seconds{1'000}};
    for (int i = 0; i < 20; ++i) {
        EXPECT_FALSE(policy.look(what_if, "lru", now));
        now += seconds{10};
        what_if.requests += 40;   // 800 in total
        what_if.rows[0].misses += 40;
    }
}

TEST(AutoPolicy, a_policy_that_is_not_among_the_rows_stays) {
    AutoScene scene(terms());
    scene.run("other");
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(scene.look(gdsf_saves_objects));
}

TEST(AutoPolicy, its_spec_is_read_like_a_policys) {
    EXPECT_TRUE(AutoPolicy::is_spec("auto"));
    EXPECT_TRUE(AutoPolicy::is_spec("auto:aim=bytes"));
    EXPECT_FALSE(AutoPolicy::is_spec("automatic"));
    EXPECT_FALSE(AutoPolicy::is_spec("lru"));
    auto const plain = AutoPolicy::read("auto");
    EXPECT_EQ(plain.fault_text(), "");
    EXPECT_EQ(plain->aim, Aim::objects);
    auto const full = AutoPolicy::read("auto:aim=bytes:margin=5:window=2:windows=4:rest=0");
    EXPECT_EQ(full.fault_text(), "");
    EXPECT_EQ(full->aim, Aim::bytes);
    EXPECT_DOUBLE_EQ(full->margin, 0.05);
    EXPECT_EQ(full->window, seconds{2});
    EXPECT_EQ(full->windows, 4u);
    EXPECT_EQ(full->rest, seconds{0});
    EXPECT_THAT(AutoPolicy::read("auto:aim=speed").fault_text(), HasSubstr("is not one of objects, bytes"));
    EXPECT_THAT(AutoPolicy::read("auto:goal=bytes").fault_text(), HasSubstr("valid settings: aim, margin"));
}

}   // namespace
}   // namespace garner::sim
