// The disk store on a real file: stored objects are found, now and after
// a restart; forgotten ones are not, and damaged ones are never returned.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "store/disk_format.hpp"
#include "store/disk_scene.hpp"
#include "support/made.hpp"

namespace garner::store {

TEST_F(DiskTier, what_was_stored_is_found_as_it_was) {
    open();
    auto const body = pattern(5'000, 1);
    EXPECT_FALSE(disk->may_have("fhttp://a/"));
    EXPECT_EQ(store("fhttp://a/", body), NotStored::none);
    EXPECT_TRUE(disk->may_have("fhttp://a/"));
    auto const object = load("fhttp://a/");
    ASSERT_TRUE(object);
    EXPECT_EQ(object->key(), "fhttp://a/");
    EXPECT_EQ(object->head(), "HTTP/1.1 200 OK\r\nETag: \"x\"\r\n");
    EXPECT_EQ(object->bytes(), body);
    EXPECT_EQ(object->sequence(), 5u);
    EXPECT_EQ(object->terms().lifetime, 3'600u);
    EXPECT_EQ(load("fhttp://b/"), nullptr);
}

TEST_F(DiskTier, it_is_found_after_a_restart) {
    open();
    std::map<std::string, std::string> all;
    for (unsigned i = 0; i < 300; ++i) all["fhttp://a/" + std::to_string(i)] = pattern(i * 97 % 20'000, i);
    for (auto const& [key, body] : all) ASSERT_EQ(store(key, body), NotStored::none);
    restart();
    EXPECT_EQ(disk->stats().records, all.size());
    for (auto const& [key, body] : all) EXPECT_TRUE(body_of(key) == body) << key;
}

TEST_F(DiskTier, what_was_only_written_and_never_closed_is_found_as_well) {
    open();
    for (unsigned i = 0; i < 50; ++i) store("fhttp://a/" + std::to_string(i), pattern(1'000, i));
    ASSERT_TRUE(settled());
    // Simulates a kill: a copy of the file of an open store.
    auto const copy = options.path + "-copy";
    fs::create_directory(copy);
    fs::copy_file(file(), copy + "/store");
    disk.reset();
    fs::rename(copy + "/store", file());
    fs::remove(copy);
    open();
    EXPECT_EQ(disk->stats().records, 50u);
    for (unsigned i = 0; i < 50; ++i) EXPECT_TRUE(body_of("fhttp://a/" + std::to_string(i)) == pattern(1'000, i));
    restart();
    EXPECT_EQ(disk->stats().records, 50u);
}

TEST_F(DiskTier, the_newest_of_a_key_counts_now_and_after_a_restart) {
    open();
    for (unsigned version = 0; version < 20; ++version)
        for (unsigned i = 0; i < 20; ++i) store("fhttp://a/" + std::to_string(i), pattern(3'000, version * 100 + i));
    for (int round = 0; round < 2; ++round) {
        for (unsigned i = 0; i < 20; ++i) EXPECT_TRUE(body_of("fhttp://a/" + std::to_string(i)) == pattern(3'000, 1'900 + i)) << i;
        restart();
    }
}

TEST_F(DiskTier, what_was_forgotten_stays_so) {
    open();
    store("fhttp://a/", "first");
    store("fhttp://b/", "other");
    EXPECT_TRUE(disk->forget("fhttp://a/"));
    EXPECT_TRUE(settled());
    EXPECT_FALSE(disk->forget("fhttp://a/"));
    EXPECT_EQ(load("fhttp://a/"), nullptr);
    EXPECT_TRUE(settled(Survives::power));
    restart();
    EXPECT_EQ(load("fhttp://a/"), nullptr);
    EXPECT_EQ(body_of("fhttp://b/"), "other");
    store("fhttp://a/", "second");
    restart();
    EXPECT_EQ(body_of("fhttp://a/"), "second");
}

TEST_F(DiskTier, the_log_goes_round_and_what_is_used_stays) {
    open();
    auto const used = pattern(2'000, 4'711);
    store("fhttp://used/", used);
    for (unsigned i = 0; i < 6'000; ++i) {
        ASSERT_TRUE(eventually([&] { return store("fhttp://a/" + std::to_string(i), pattern(8'000, i)) == NotStored::none; }));
        if (i % 50 == 0) ASSERT_TRUE(body_of("fhttp://used/") == used) << i;
    }
    EXPECT_TRUE(settled());
    auto const stats = disk->stats();
    EXPECT_GE(stats.laps, 2u);
    EXPECT_GT(stats.evicted, 3'000u);
    EXPECT_GT(stats.reinserted_bytes, 0u);
    EXPECT_LE(static_cast<double>(stats.written_bytes), 1.25 * static_cast<double>(stats.stored_bytes));
    EXPECT_TRUE(body_of("fhttp://a/5999") == pattern(8'000, 5'999));
    EXPECT_EQ(load("fhttp://a/0"), nullptr);
    restart();
    EXPECT_TRUE(body_of("fhttp://used/") == used);
    EXPECT_TRUE(body_of("fhttp://a/5999") == pattern(8'000, 5'999));
    EXPECT_EQ(load("fhttp://a/0"), nullptr);
}

TEST_F(DiskTier, where_all_is_used_a_part_of_it_stays) {
    open();
    for (unsigned i = 0; i < 4'000; ++i) {
        auto const key = "fhttp://a/" + std::to_string(i);
        ASSERT_TRUE(eventually([&] { return store(key, pattern(8'000, i)) == NotStored::none; }));
        ASSERT_TRUE(load(key));
    }
    EXPECT_TRUE(settled());
    auto const stats = disk->stats();
    EXPECT_GE(stats.laps, 1u);
    EXPECT_GT(stats.reinserted_bytes, stats.stored_bytes / 20);
    EXPECT_LE(static_cast<double>(stats.written_bytes), 1.3 * static_cast<double>(stats.stored_bytes));
}

TEST_F(DiskTier, numbers_of_objects_go_on_until_long_after_all_this) {
    open();
    auto const now = static_cast<std::uint64_t>(unix_seconds(wall_now()));
    auto const second = disk->first_sequence() >> numbers_of_a_second;
    EXPECT_LE(second, now + 10);
    EXPECT_GE(second + 10'000, now);
    constexpr std::uint64_t year_2500 = 16'725'225'600;
    EXPECT_EQ(year_2500 << numbers_of_a_second >> numbers_of_a_second, year_2500);
}

TEST_F(DiskTier, any_policy_says_who_leaves) {
    for (auto const* policy : {"lru", "gdsf", "lfuda", "s3fifo", "garner"}) {
        options.policy = policy;
        open();
        auto const used = pattern(2'000, 4'711);
        store("fhttp://used/", used);
        for (unsigned i = 0; i < 4'000; ++i) {
            auto const key = "fhttp://a/" + std::to_string(i);
            ASSERT_EQ(store(key, pattern(8'000, i)), NotStored::none) << policy;
            if (i % 20 == 0) ASSERT_TRUE(body_of("fhttp://used/") == used) << policy << " " << i;
        }
        auto const stats = disk->stats();
        EXPECT_TRUE(eventually([&] { return static_cast<double>(disk->stats().live) <= 0.85 * static_cast<double>(stats.size); }))
            << policy;
        EXPECT_LE(static_cast<double>(stats.written_bytes), 2.1 * static_cast<double>(stats.stored_bytes)) << policy;
        restart();
        // After a start no use is known, so it may be evicted first.
        auto const still = body_of("fhttp://used/");
        EXPECT_TRUE(still == used || still == "nothing") << policy;
        unsigned found = 0;
        for (unsigned i = 0; i < 4'000; ++i) {
            auto const body = body_of("fhttp://a/" + std::to_string(i));
            if (body != "nothing") ASSERT_TRUE(body == pattern(8'000, i)) << policy;
            found += body != "nothing";
        }
        EXPECT_GT(found, 500u) << policy;
        disk.reset();
        fs::remove_all(file());
    }
}

TEST_F(DiskTier, what_is_damaged_is_a_miss_and_is_counted) {
    open();
    for (unsigned i = 0; i < 100; ++i) store("fhttp://a/" + std::to_string(i), pattern(4'000, i));
    disk.reset();
    {
        std::fstream bytes(file(), std::ios::in | std::ios::out | std::ios::binary);
        std::mt19937 random(3);
        auto const size = fs::file_size(file());
        for (int i = 0; i < 400; ++i) {
            auto const at = disk::header_area + random() % std::min<std::uintmax_t>(size - disk::header_area, 450'000);
            bytes.seekp(static_cast<std::streamoff>(at));
            bytes.put(static_cast<char>(random()));
        }
    }
    open();
    unsigned found = 0;
    for (unsigned i = 0; i < 100; ++i) {
        auto const body = body_of("fhttp://a/" + std::to_string(i));
        if (body == "nothing") continue;
        EXPECT_TRUE(body == pattern(4'000, i));
        ++found;
    }
    EXPECT_LT(found, 30u);
    EXPECT_GT(disk->stats().damaged, 10u);
}

TEST_F(DiskTier, another_process_is_refused_and_told) {
    open();
    auto const fault = DiskStore::open(options).fault_text();
    EXPECT_NE(fault.find("in use by another process"), fault.npos) << fault;
    EXPECT_NE(fault.find(options.path), fault.npos) << fault;
}

TEST_F(DiskTier, a_file_that_is_none_of_ours_is_left_alone) {
    std::ofstream(file()) << std::string(20'000, 'x');
    disk = test::made(DiskStore::open(options));
    EXPECT_EQ(disk->stats().state, DiskStats::State::failing);
    EXPECT_NE(disk->stats().trouble.find("is not a disk store"), std::string::npos);
    EXPECT_EQ(store("fhttp://a/", "x"), NotStored::failing);
    EXPECT_EQ(load("fhttp://a/"), nullptr);
    EXPECT_FALSE(settled()) << "the disk store may return at a later start";
    disk.reset();
    EXPECT_EQ(fs::file_size(file()), 20'000u);
}

TEST_F(DiskTier, a_disk_that_fails_is_left_and_taken_up_again) {
    options.faults = &faults;
    open();
    store("fhttp://before/", "there");
    store("fhttp://gone/", "old");
    ASSERT_TRUE(settled(Survives::power));   // otherwise a failing sync would discard it
    faults.write_error = ENOSPC;
    ASSERT_TRUE(eventually([&] {
        store("fhttp://gone/", "new");
        return disk->stats().state == DiskStats::State::failing;
    }));
    EXPECT_EQ(store("fhttp://a/", "x"), NotStored::failing);
    EXPECT_EQ(body_of("fhttp://before/"), "there");
    EXPECT_EQ(load("fhttp://gone/"), nullptr);
    EXPECT_NE(disk->stats().trouble.find("No space left"), std::string::npos) << disk->stats().trouble;
    EXPECT_GE(disk->stats().write_errors, 3u);
    faults.write_error = 0;
    EXPECT_TRUE(eventually([&] { return store("fhttp://after/", "x") == NotStored::none; }));
    EXPECT_EQ(disk->stats().state, DiskStats::State::working);
    EXPECT_TRUE(eventually([&] { return settled(); }));
    restart();
    EXPECT_EQ(body_of("fhttp://before/"), "there");
    EXPECT_EQ(body_of("fhttp://after/"), "x");
    EXPECT_EQ(load("fhttp://gone/"), nullptr) << "the replaced record must not return";
}

TEST_F(DiskTier, what_went_past_the_page_cache_and_through_it_by_turns_is_read_as_it_was_written) {
    open();
    std::mt19937 random(7);
    auto const key = [](unsigned i) { return "fhttp://a/" + std::to_string(i); };
    // Each body has its own seed and length. Short ones alone go through the page cache; together they bypass it.
    auto const body = [](unsigned i) { return pattern(i % 3 ? 60'000 + i % 997 : 900 + i % 97, i); };
    unsigned stored = 0, found = 0;
    while (disk->stats().laps < 3 && stored < 3'000) {
        for (unsigned burst = random() % 2 ? 9 : 1; burst > 0; --burst, ++stored)
            ASSERT_EQ(store(key(stored), body(stored)), NotStored::none);
        if (random() % 2) ASSERT_TRUE(eventually([&] { return settled(); }));
        for (int looks = 0; looks < 3; ++looks) {
            auto const i = static_cast<unsigned>(random() % stored);
            auto const there = body_of(key(i));
            if (there == "nothing") continue;
            ASSERT_TRUE(there == body(i)) << i;
            ++found;
        }
    }
    EXPECT_GE(disk->stats().laps, 3u);
    EXPECT_GT(found, 100u);
    EXPECT_EQ(disk->stats().damaged, 0u);
    restart();
    for (unsigned i = stored - 50; i < stored; ++i) EXPECT_TRUE(body_of(key(i)) == body(i)) << i;
}

TEST_F(DiskTier, what_cannot_be_read_is_a_miss) {
    options.faults = &faults;
    open();
    store("fhttp://a/", "x");
    restart();
    faults.read_error = EIO;
    EXPECT_EQ(load("fhttp://a/"), nullptr);
    EXPECT_EQ(disk->stats().read_errors, 1u);
    faults.read_error = 0;
}

TEST_F(DiskTier, who_may_come_in_can_be_limited) {
    options.admit = DiskOptions::Admit::second_hit;
    options.object_min = 10;
    options.object_max = 1'000;
    open();
    EXPECT_EQ(store("fhttp://a/", "a body of some length"), NotStored::not_admitted);
    EXPECT_EQ(store("fhttp://a/", "a body of some length"), NotStored::none);
    EXPECT_EQ(store("fhttp://b/", "short"), NotStored::too_small);
    EXPECT_EQ(store("fhttp://c/", pattern(1'001, 1)), NotStored::too_large);
    auto const stats = disk->stats();
    EXPECT_EQ(stats.stored, 1u);
    EXPECT_EQ(stats.not_stored[static_cast<std::size_t>(NotStored::not_admitted)], 1u);
}

TEST_F(DiskTier, a_larger_store_keeps_what_it_has) {
    open();
    store("fhttp://a/", "kept");
    disk.reset();
    options.size = 32 * MiB;
    open();
    EXPECT_EQ(body_of("fhttp://a/"), "kept");
    EXPECT_GT(disk->stats().size, 24 * MiB);
    disk.reset();
    options.size = 16 * MiB;
    open();
    EXPECT_EQ(load("fhttp://a/"), nullptr);
    EXPECT_EQ(store("fhttp://b/", "x"), NotStored::none);
}

TEST_F(DiskTier, freshness_is_promised_by_the_index_alone) {
    open();
    store("fhttp://a/", "x");
    EXPECT_TRUE(disk->is_fresh_until("fhttp://a/", wall_now() + 30s));
    EXPECT_FALSE(disk->is_fresh_until("fhttp://a/", wall_now() + 7'200s));
    EXPECT_FALSE(disk->is_fresh_until("fhttp://b/", wall_now()));
}

TEST_F(DiskTier, people_can_look) {
    open();
    for (unsigned i = 0; i < 40; ++i) store("fhttp://a/" + std::to_string(i), pattern(100 + i, i));
    for (int round = 0; round < 2; ++round) {
        std::vector<DiskStore::Listed> all;
        std::set<std::string> keys;
        for (std::uint32_t segment = 0; disk->list(segment, all); ++segment) {
        }
        for (auto const& one : all) keys.insert(one.key);
        EXPECT_EQ(keys.size(), 40u);
        EXPECT_EQ(all.size(), 40u);
        DiskStore::Verified sum;
        for (std::uint32_t segment = 0; disk->verify(segment, sum); ++segment) {
        }
        EXPECT_EQ(sum.records, 40u);
        EXPECT_EQ(sum.damaged, 0u);
        restart();
    }
}

/// Writers, readers and purgers at once, for several laps of the log.
TEST_F(DiskTier, many_threads_meet_nothing_wrong) {
    open();
    constexpr unsigned keys = 200;
    std::array<std::mutex, keys> locks;   // like a cache, which orders operations on one key
    std::array<std::atomic<unsigned>, keys> version{};
    std::atomic<unsigned> wrong{0}, found{0};
    auto work = [&](unsigned seed) {
        std::mt19937 random(seed);
        for (int i = 0; i < 2'000; ++i) {
            auto const key = random() % keys;
            auto const name = "fhttp://a/" + std::to_string(key);
            auto const what = random() % 10;
            if (what < 4) {
                std::lock_guard const lock(locks[key]);
                auto const next = ++version[key];
                store(name, std::to_string(next) + "|" + pattern(5'000, key * 10'000 + next));
            } else if (what == 4) {
                std::lock_guard const lock(locks[key]);
                ++version[key];
                disk->forget(name);
            } else {
                auto const object = load(name);
                if (!object) continue;
                ++found;
                auto const is = static_cast<unsigned>(std::atoi(std::string(object->bytes().substr(0, 9)).c_str()));
                if (object->bytes() != std::to_string(is) + "|" + pattern(5'000, key * 10'000 + is)) ++wrong;
            }
        }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 4; ++i) threads.emplace_back(work, i);
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0u);
    EXPECT_GT(found, 100u);
    EXPECT_EQ(disk->stats().damaged, 0u);
}

TEST_F(DiskTier, takes_new_limits_while_it_runs_and_leaves_alone_what_is_made_at_the_start) {
    open();
    auto const& before = disk->options();
    EXPECT_EQ(store("fhttp://a/1", pattern(2'000, 1)), NotStored::none);
    auto fresh = options;
    fresh.object_max = 1'000;
    fresh.object_min = 10;
    fresh.sync = 40ms;
    fresh.patience = 1s;
    fresh.size = 2 * options.size;
    fresh.policy = "lru";
    disk->reconfigure(fresh);
    EXPECT_EQ(store("fhttp://a/2", pattern(2'000, 1)), NotStored::too_large);
    EXPECT_EQ(store("fhttp://a/3", "x"), NotStored::too_small);
    EXPECT_EQ(body_of("fhttp://a/1"), pattern(2'000, 1)) << "a stored object above the new limit stays";
    EXPECT_EQ(disk->options().patience, 1s);
    EXPECT_EQ(disk->options().size, options.size);
    EXPECT_EQ(disk->options().policy, options.policy);
    EXPECT_EQ(before.object_max, options.object_max) << "a reference to the former options stays valid";
    fresh = options;
    fresh.admit = DiskOptions::Admit::second_hit;
    fresh.rate = 100;
    disk->reconfigure(fresh);
    EXPECT_EQ(store("fhttp://a/2", pattern(2'000, 1)), NotStored::not_admitted);
    EXPECT_EQ(store("fhttp://a/2", pattern(2'000, 1)), NotStored::none);
    EXPECT_EQ(store("fhttp://a/4", pattern(2'000, 1)), NotStored::not_admitted);
    EXPECT_EQ(store("fhttp://a/4", pattern(2'000, 1)), NotStored::rate);
    disk->reconfigure(options);
    EXPECT_EQ(store("fhttp://a/5", pattern(2'000, 1)), NotStored::none);
}

}   // namespace garner::store
