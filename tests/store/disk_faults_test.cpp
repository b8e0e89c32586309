// A disk on which one kind of operation fails: no purged or replaced object returns after the next start.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <mutex>
#include <vector>

#include "store/disk_format.hpp"
#include "store/disk_scene.hpp"
#include "support/made.hpp"

namespace garner::store {

namespace {

std::string head_of(fs::path const& file, Bytes bytes) {
    std::string head(bytes, '\0');
    std::ifstream(file, std::ios::binary).read(head.data(), static_cast<std::streamsize>(bytes));
    return head;
}

/// Decides the result of each operation by a rule of the test.
struct Rule : io::Faults {
    std::function<int(Operation, Bytes offset, std::size_t size)> error;   // must be set before the store is opened
    Verdict judge(Operation operation, Bytes offset, std::size_t size) override {
        return {error ? error(operation, offset, size) : 0, SIZE_MAX};
    }
};

}   // namespace

class DiskFaults : public DiskTier {
protected:
    DiskFaults() { options.faults = &rule; }
    ~DiskFaults() override { disk.reset(); }

    static std::string key(int i) { return "fhttp://a/" + std::to_string(i); }
    /// Writes several laps of the log.
    int fill() {
        int const count = 700;
        for (int i = 0; i < count; ++i) store(key(i), pattern(60'000, static_cast<unsigned>(i)));
        return count;
    }
    int found(int count) {
        int found = 0;
        for (int i = 0; i < count; ++i) found += load(key(i)) != nullptr;
        return found;
    }
    void forget_all(int count) {
        for (int i = 0; i < count; ++i) disk->forget(key(i));
        ASSERT_TRUE(settled(Survives::power));
        EXPECT_EQ(found(count), 0);
    }
    /// The store file as a kill would leave it, or an earlier copy.
    void keep_copy() const { fs::copy_file(file(), copy(), fs::copy_options::overwrite_existing); }
    void restart_with_copy() {
        auto const kept = copy() + "-kept";
        fs::rename(copy(), kept);
        disk.reset();
        fs::rename(kept, file());
        open();
    }
    std::string copy() const { return options.path + "/copy"; }
    Bytes segment_bytes() const { return disk::shape_of(options.size).segment_bytes; }
    bool is_segment_head(Bytes offset, std::size_t size) const {
        return size == disk::segment_head_bytes && offset >= disk::header_area &&
               (offset - disk::header_area) % segment_bytes() == 0;
    }
    /// True for a write in the first lap that returns to a written segment.
    bool is_wipe(Bytes offset, std::size_t size) {
        bool const back = offset < furthest;
        if (!back) furthest = offset;
        return back && is_segment_head(offset, size);
    }
    bool is_footer(Bytes offset, std::size_t size) const {
        return offset >= disk::header_area && (offset + size - disk::header_area) % segment_bytes() == 0;
    }

    Rule rule;
    std::atomic<Bytes> furthest{0};
    std::atomic<bool> wiping{false};
    std::atomic<int> faulty{0};   // state used by the rules
};

TEST_F(DiskFaults, what_was_evicted_stays_away_where_its_segment_cannot_be_wiped) {
    faulty = 1;
    rule.error = [this](auto operation, Bytes offset, std::size_t size) {
        return operation == io::Faults::Operation::write && faulty && is_segment_head(offset, size) ? EIO : 0;
    };
    open();
    auto const count = fill();
    EXPECT_GT(disk->stats().evicted, 0u);
    forget_all(count);
    restart();
    EXPECT_EQ(found(count), 0);
    faulty = 0;   // a slow machine writes the head of the next segment by itself
    EXPECT_EQ(store("fhttp://new/", "x"), NotStored::none);
    ASSERT_TRUE(settled());
    restart();
    EXPECT_EQ(body_of("fhttp://new/"), "x");
}

TEST_F(DiskFaults, what_lies_in_a_segment_out_of_use_does_not_outlive_its_tombstones) {
    Bytes const bad = disk::header_area + 7 * segment_bytes();
    rule.error = [this, bad](auto operation, Bytes offset, std::size_t) {
        return operation == io::Faults::Operation::write && faulty && offset >= bad && offset < bad + segment_bytes() ? EIO : 0;
    };
    options.size = 12 * MiB;
    open();
    for (int i = 0; i < 90; ++i) store("fhttp://first/" + std::to_string(i), pattern(60'000, 1));
    ASSERT_TRUE(settled());
    faulty = 1;
    auto const count = fill();
    EXPECT_GT(disk->stats().write_errors, 0u);
    EXPECT_EQ(disk->stats().state, DiskStats::State::working) << "one bad place does not stop the disk tier";
    forget_all(count);
    for (int i = 0; i < 90; ++i) disk->forget("fhttp://first/" + std::to_string(i));
    ASSERT_TRUE(settled());
    for (int i = 0; i < 300; ++i) {   // the segments of the tombstones are reused
        store("fhttp://later/" + std::to_string(i), pattern(60'000, 2));
        std::this_thread::sleep_for(1ms);
    }
    ASSERT_TRUE(settled());
    restart();
    EXPECT_EQ(found(count), 0);
    for (int i = 0; i < 90; ++i) EXPECT_EQ(load("fhttp://first/" + std::to_string(i)), nullptr) << i;
}

TEST_F(DiskFaults, what_is_purged_before_all_was_found_is_in_the_file_before_that_is_answered) {
    open();
    store(key(0), "old");
    disk.reset();
    faulty = 1;
    Bytes const second_segment = disk::header_area + segment_bytes();
    rule.error = [this, second_segment](auto operation, Bytes offset, std::size_t size) {
        bool const first = operation == io::Faults::Operation::read && is_footer(offset, size) && offset < second_segment;
        while (first && faulty) std::this_thread::sleep_for(1ms);
        return 0;
    };
    disk = test::made(DiskStore::open(options));
    EXPECT_EQ(disk->stats().state, DiskStats::State::recovering);
    EXPECT_TRUE(disk->forget(key(0))) << "recovery may still find the record";
    EXPECT_TRUE(settled());
    keep_copy();
    faulty = 0;
    restart_with_copy();
    EXPECT_EQ(load(key(0)), nullptr);
}

TEST_F(DiskFaults, a_power_failure_does_not_bring_back_what_was_evicted_and_then_purged) {
    options.sync = 10s;   // only waiting callers cause syncs
    rule.error = [this](auto operation, Bytes offset, std::size_t size) {
        if (operation == io::Faults::Operation::sync) keep_copy();   // everything written so far
        if (operation != io::Faults::Operation::write || !is_wipe(offset, size)) return 0;
        wiping = true;
        while (faulty) std::this_thread::sleep_for(1ms);
        return 0;
    };
    open();
    faulty = 1;
    for (int i = 1; !wiping; ++i)
        while (disk->store(parts(key(i), pattern(60'000, static_cast<unsigned>(i)))) == NotStored::too_slow && !wiping)
            std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(settled(Survives::power));
    EXPECT_TRUE(disk->may_have(key(1)));
    faulty = 0;
    ASSERT_TRUE(eventually([&] { return !disk->may_have(key(1)); }));
    disk->forget(key(1));
    ASSERT_TRUE(settled(Survives::power));
    restart_with_copy();
    EXPECT_EQ(load(key(1)), nullptr);
}

TEST_F(DiskFaults, what_was_evicted_stays_away_where_the_sync_behind_that_fails) {
    options.sync = 10s;
    rule.error = [this](auto operation, Bytes offset, std::size_t size) {
        if (operation == io::Faults::Operation::sync && !wiping) keep_copy();
        if (operation == io::Faults::Operation::sync) return faulty-- > 0 ? EIO : 0;
        if (operation == io::Faults::Operation::write && is_wipe(offset, size)) wiping = true;
        return 0;
    };
    open();
    store(key(1), pattern(60'000, 1));
    ASSERT_TRUE(settled(Survives::power));
    for (int i = 2; disk->may_have(key(1)); ++i)
        ASSERT_EQ(store(key(i), pattern(60'000, static_cast<unsigned>(i))), NotStored::none);
    disk->forget(key(1));
    faulty = 1;
    ASSERT_TRUE(settled(Survives::power));
    // Data written between the two syncs are lost; the header was synced separately.
    std::fstream(copy(), std::ios::in | std::ios::out | std::ios::binary) << head_of(file(), disk::header_area);
    restart_with_copy();
    EXPECT_EQ(load(key(1)), nullptr);
}

TEST_F(DiskFaults, a_footer_that_cannot_be_written_takes_no_record_along) {
    rule.error = [this](auto operation, Bytes offset, std::size_t size) {
        return operation == io::Faults::Operation::write && is_footer(offset, size) ? EIO : 0;
    };
    open();
    store("fhttp://a/", "kept");
    ASSERT_TRUE(settled());
    restart();   // this closes the segment
    EXPECT_EQ(body_of("fhttp://a/"), "kept");
    std::vector<DiskStore::Listed> all;
    for (std::uint32_t segment = 0; disk->list(segment, all); ++segment) {
    }
    ASSERT_EQ(all.size(), 1u) << "inspection lists the record";
    EXPECT_EQ(all[0].key, "fhttp://a/");
    DiskStore::Verified sum;
    for (std::uint32_t segment = 0; disk->verify(segment, sum); ++segment) {
    }
    EXPECT_EQ(sum.records, 1u);
}

TEST_F(DiskFaults, a_sync_that_failed_promises_nothing_of_what_was_written_before_it) {
    rule.error = [this](auto operation, Bytes, std::size_t) {
        return operation == io::Faults::Operation::sync && faulty-- > 0 ? EIO : 0;
    };
    open();
    store(key(0), "old");
    store(key(1), "old");
    ASSERT_TRUE(settled(Survives::power));
    faulty = 1;
    store(key(0), "new");
    disk->forget(key(1));
    ASSERT_TRUE(settled(Survives::power)) << "the next sync succeeds";
    EXPECT_LT(faulty, 1);
    EXPECT_EQ(disk->stats().write_errors, 1u);
    EXPECT_EQ(disk->stats().state, DiskStats::State::working);
    EXPECT_EQ(load(key(0)), nullptr) << "the record may not be on disk";
    store(key(2), "later");
    ASSERT_TRUE(settled(Survives::power));
    restart();
    EXPECT_EQ(load(key(0)), nullptr);
    EXPECT_EQ(load(key(1)), nullptr);
    EXPECT_EQ(body_of(key(2)), "later");
}

TEST_F(DiskFaults, nobody_waits_for_ever_for_a_disk_that_does_not_sync) {
    rule.error = [this](auto operation, Bytes, std::size_t) {
        return operation == io::Faults::Operation::sync && faulty ? EIO : 0;
    };
    open();
    faulty = 1;
    store(key(0), "new");
    EXPECT_FALSE(settled(Survives::power));
    EXPECT_TRUE(eventually([&] { return disk->stats().state == DiskStats::State::failing; }));
}

TEST_F(DiskFaults, a_read_that_takes_longer_than_patience_is_given_up_and_the_record_stays) {
    std::atomic<bool> released{false};
    options.patience = 100ms;
    options.readers = 1;
    open();
    store(key(0), "there");
    restart();   // data in a buffer would still be read from there
    rule.error = [&released, worker = std::this_thread::get_id()](auto operation, Bytes, std::size_t) {
        if (operation != io::Faults::Operation::read) return 0;
        if (std::this_thread::get_id() == worker) return EAGAIN;   // a read that would have to wait for the disk
        for (int tries = 0; tries < 1000 && !released; ++tries) std::this_thread::sleep_for(5ms);
        return 0;
    };
    auto const again = run([this, &released](net::Executor executor) -> net::awaitable<ObjectPtr> {
        auto const late = co_await disk->load(key(0), executor);
        EXPECT_EQ(late, nullptr);
        EXPECT_EQ(disk->stats().too_late, 1u);
        EXPECT_EQ(disk->stats().damaged, 0u);
        released = true;
        co_return co_await disk->load(key(0), executor);   // after the first read, on one thread
    });
    ASSERT_TRUE(again);
    EXPECT_EQ(again->bytes(), "there");
    disk.reset();
}

TEST_F(DiskFaults, a_read_that_was_given_up_before_it_began_is_never_done) {
    std::atomic<bool> released{false};
    std::atomic<int> reads{0};
    options.patience = 50ms;
    options.readers = 1;
    open();
    for (unsigned i = 0; i < 10; ++i) store(key(i), "there");
    restart();
    rule.error = [&, worker = std::this_thread::get_id()](auto operation, Bytes, std::size_t) {
        if (operation != io::Faults::Operation::read) return 0;
        if (std::this_thread::get_id() == worker) return EAGAIN;
        ++reads;
        for (int tries = 0; tries < 1000 && !released; ++tries) std::this_thread::sleep_for(5ms);
        return 0;
    };
    auto const last = run([&](net::Executor executor) -> net::awaitable<ObjectPtr> {
        for (unsigned i = 0; i < 9; ++i) EXPECT_EQ(co_await disk->load(key(i), executor), nullptr);
        released = true;
        co_return co_await disk->load(key(9), executor);
    });
    EXPECT_TRUE(last);
    EXPECT_EQ(reads, 2) << "only the first and the last load read";
    disk.reset();
}

TEST_F(DiskFaults, what_is_admitted_at_its_second_hit_comes_from_memory_when_that_says_so) {
    options.admit = DiskOptions::Admit::second_hit;
    open();
    EXPECT_EQ(store(key(0), "x"), NotStored::not_admitted);
    EXPECT_FALSE(disk->used(key(1))) << "the key is unknown";
    EXPECT_TRUE(disk->used(key(0)));
    EXPECT_EQ(store(key(0), "x"), NotStored::none);
    EXPECT_FALSE(disk->used(key(0))) << "the object is stored";
    auto const once = Object::make(parts(key(2), "once"), nullptr);
    EXPECT_EQ(store(key(2), "once"), NotStored::not_admitted);
    disk->demote(*once);
    EXPECT_EQ(load(key(2)), nullptr);
}

TEST_F(DiskFaults, a_store_without_which_something_was_forgotten_is_given_up) {
    rule.error = [this](auto operation, Bytes, std::size_t) {
        return operation == io::Faults::Operation::open && faulty ? EACCES : 0;
    };
    open();
    store(key(0), "old");
    for (bool const forgets : {false, true}) {
        disk.reset();
        faulty = 1;
        open();
        EXPECT_EQ(disk->stats().state, DiskStats::State::failing);
        if (forgets) EXPECT_FALSE(disk->forget(key(1))) << "the store is not open, so any key may be in it";
        disk.reset();
        faulty = 0;
        EXPECT_EQ(fs::exists(options.path + "/given-up"), forgets);
        auto const fault = DiskStore::open_existing(options).fault_text();
        EXPECT_EQ(fault.find("is discarded") != fault.npos, forgets) << fault;
        open();
        EXPECT_EQ(body_of(key(0)), forgets ? "nothing" : "old");
    }
    store(key(2), "new");
    restart();
    EXPECT_EQ(body_of(key(2)), "new");
    EXPECT_FALSE(fs::exists(options.path + "/given-up"));
}

TEST_F(DiskFaults, a_file_that_is_removed_is_answered_from_and_stored_to_no_more_until_it_is_back) {
    open();
    store(key(1), "kept");
    ASSERT_TRUE(settled());
    fs::rename(file(), options.path + "/moved");
    ASSERT_TRUE(eventually([&] { return disk->stats().state == DiskStats::State::failing; }));
    EXPECT_NE(disk->stats().trouble.find("was removed or replaced"), std::string::npos) << disk->stats().trouble;
    EXPECT_EQ(body_of(key(1)), "kept");
    EXPECT_EQ(store(key(2), "x"), NotStored::failing);
    EXPECT_TRUE(disk->forget(key(1)));
    EXPECT_TRUE(settled()) << "the removed file has the tombstone, in case it returns";
    fs::rename(options.path + "/moved", file());
    EXPECT_TRUE(eventually([&] { return store(key(2), "x") == NotStored::none; }));
    EXPECT_EQ(disk->stats().state, DiskStats::State::working);
    EXPECT_EQ(disk->stats().trouble, "");
    fs::remove(file());
    ASSERT_TRUE(eventually([&] { return disk->stats().state == DiskStats::State::failing; }));
    restart();
    EXPECT_EQ(disk->stats().state, DiskStats::State::working);
    EXPECT_EQ(load(key(2)), nullptr) << "a new one";
}

// ---- syncs that fail ----

TEST_F(DiskFaults, after_a_failed_sync_what_the_open_segment_has_is_written_again_with_its_head) {
    std::atomic<bool> fails{false};
    std::atomic<int> heads{0};
    rule.error = [&](Rule::Operation operation, Bytes offset, std::size_t) {
        if (operation == Rule::Operation::sync) return fails.exchange(false) ? EIO : 0;
        bool const begins = offset >= disk::header_area && (offset - disk::header_area) % segment_bytes() == 0;
        if (operation == Rule::Operation::write && begins) ++heads;
        return 0;
    };
    open();
    store(key(1), "on the disk");
    ASSERT_TRUE(settled(Survives::power));
    int const before = heads;
    fails = true;
    store(key(2), "may be lost");
    ASSERT_TRUE(eventually([&] { return heads > before; }));
    EXPECT_TRUE(eventually([&] { return load(key(2)) == nullptr; }));
    EXPECT_EQ(body_of(key(1)), "on the disk");
    store(key(3), "after it");
    ASSERT_TRUE(settled(Survives::power));
    keep_copy();
    restart_with_copy();
    EXPECT_EQ(body_of(key(1)), "on the disk");
    EXPECT_EQ(load(key(2)), nullptr);
    EXPECT_EQ(body_of(key(3)), "after it");
    disk.reset();   // the rule refers to local variables
}

TEST_F(DiskFaults, what_is_written_while_a_sync_fails_is_lost_with_it) {
    enum class Sync { works, is_to_fail, is_failing };
    std::atomic<Sync> sync{Sync::works};
    rule.error = [&](Rule::Operation operation, Bytes, std::size_t) {
        auto wanted = Sync::is_to_fail;
        if (operation != Rule::Operation::sync || !sync.compare_exchange_strong(wanted, Sync::is_failing)) return 0;
        for (int i = 0; i < 1'000 && sync == Sync::is_failing; ++i) std::this_thread::sleep_for(5ms);
        return EIO;
    };
    open();
    store(key(1), "on the disk");
    ASSERT_TRUE(settled(Survives::power));
    sync = Sync::is_to_fail;
    store(key(2), "before it");
    ASSERT_TRUE(eventually([&] { return sync == Sync::is_failing; }));
    store(key(3), "during it");
    ASSERT_TRUE(settled(Survives::process));
    EXPECT_EQ(body_of(key(3)), "during it");
    sync = Sync::works;
    EXPECT_TRUE(eventually([&] { return load(key(2)) == nullptr && load(key(3)) == nullptr; }));
    EXPECT_EQ(body_of(key(1)), "on the disk");
    disk.reset();   // the rule refers to local variables
}

TEST_F(DiskFaults, what_cannot_be_buried_before_the_end_is_not_found_by_the_next_start) {
    std::atomic<bool> fails{false};
    rule.error = [&](Rule::Operation operation, Bytes offset, std::size_t) {
        return fails && operation == Rule::Operation::write && offset >= disk::header_area ? EIO : 0;
    };
    open();
    store(key(1), "purged");
    ASSERT_TRUE(settled(Survives::power));
    fails = true;
    disk->forget(key(1));
    EXPECT_FALSE(settled());
    disk.reset();
    fails = false;
    open();
    EXPECT_EQ(load(key(1)), nullptr);
    store(key(2), "new");
    restart();
    EXPECT_EQ(body_of(key(2)), "new");
    disk.reset();   // the rule refers to local variables
}

TEST_F(DiskFaults, a_slow_disk_is_given_a_few_megabytes_at_a_time) {
    options.size = 2 * GiB;   // so that segments are longer than that
    options.buffer = 64 * MiB;
    std::atomic<bool> held{true};
    std::atomic<std::size_t> longest{0};
    rule.error = [&](Rule::Operation operation, Bytes offset, std::size_t size) {
        if (operation != Rule::Operation::write || offset < disk::header_area) return 0;
        longest = std::max<std::size_t>(longest, size);   // only one thread writes
        for (int i = 0; i < 1'000 && held; ++i) std::this_thread::sleep_for(5ms);
        return 0;
    };
    open();
    ASSERT_GE(segment_bytes(), 4 * MiB);
    for (int i = 0; i < 120; ++i) EXPECT_EQ(store(key(i), pattern(60'000, static_cast<unsigned>(i))), NotStored::none) << i;
    held = false;
    ASSERT_TRUE(eventually([&] { return settled(); }));
    EXPECT_GT(longest, 2 * MiB - 64 * KiB) << "records are written together";
    EXPECT_LE(longest, 2 * MiB + 64 * KiB);
    restart();
    for (int i = 0; i < 120; ++i) EXPECT_TRUE(body_of(key(i)) == pattern(60'000, static_cast<unsigned>(i))) << i;
    disk.reset();   // the rule refers to local variables
}

}   // namespace garner::store
