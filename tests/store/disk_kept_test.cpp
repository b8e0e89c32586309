// Recently used objects are rewritten before their disk segment is reclaimed, even under many writes.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "store/disk_format.hpp"
#include "store/disk_log.hpp"
#include "store/disk_scene.hpp"

namespace garner::store {

namespace {

std::string const used_key = "fhttp://used/";

/// Blocks one thread that reads at `offset`, once; can make writes fail.
struct HeldRead : io::Faults {
    std::atomic<bool> armed{false}, held{false};
    std::atomic<int> write_error{0};
    Bytes offset = 0;
    Verdict judge(Operation operation, Bytes at, std::size_t) override {
        if (operation == Operation::write) return {write_error, SIZE_MAX};
        if (operation != Operation::read || at != offset || !armed.exchange(false)) return {0, SIZE_MAX};
        held = true;
        for (int tries = 0; tries < 20'000 && held; ++tries) std::this_thread::sleep_for(1ms);
        return {0, SIZE_MAX};
    }
};

}   // namespace

class DiskKept : public DiskTier {
protected:
    ~DiskKept() override { disk.reset(); }

    std::string const used = pattern(2'000, 4'711);
    static std::string key(unsigned i) { return "fhttp://a/" + std::to_string(i); }
    static std::string body(unsigned i) { return pattern(8'000, i); }
    static constexpr Bytes first_record = disk::header_area + disk::segment_head_bytes;

    HeldRead reads;
};

TEST_F(DiskKept, what_is_written_again_while_it_is_read_is_read_at_its_new_place) {
    options.faults = &reads;
    open();
    ASSERT_EQ(store(used_key, used), NotStored::none);
    for (unsigned i = 0; disk->stats().written_bytes < 2 * MiB; ++i) ASSERT_EQ(store(key(i), body(i)), NotStored::none);
    ASSERT_TRUE(settled());
    reads.offset = first_record;
    reads.armed = true;
    std::string read;
    std::jthread reader([&] { read = body_of(used_key); });
    EXPECT_TRUE(eventually([&] { return reads.held.load(); }));
    for (unsigned i = 0; disk->stats().laps < 1 || disk->stats().written_bytes < 19 * MiB; ++i)
        ASSERT_EQ(store(key(i), body(i + 1)), NotStored::none);
    reads.held = false;
    reader.join();
    EXPECT_TRUE(read == used) << read.size();
    EXPECT_EQ(disk->stats().misses, 0u);
}

TEST_F(DiskKept, what_is_to_be_written_again_when_the_disk_fails_is_so_when_it_works_again) {
    options.faults = &reads;
    open();
    ASSERT_EQ(store(used_key, used), NotStored::none);
    for (unsigned i = 0; disk->stats().written_bytes < 2 * MiB; ++i) ASSERT_EQ(store(key(i), body(i)), NotStored::none);
    for (int uses = 0; uses < 3; ++uses) ASSERT_EQ(body_of(used_key), used);
    reads.offset = first_record;
    reads.armed = true;
    unsigned next = 1'000;
    for (; !reads.held; ++next) ASSERT_EQ(store(key(next), body(next)), NotStored::none);
    reads.write_error = EIO;
    EXPECT_TRUE(eventually([&] {
        disk->store(parts(key(next), body(next)));
        return disk->stats().state == DiskStats::State::failing;
    }));
    reads.write_error = 0;
    reads.held = false;
    EXPECT_TRUE(eventually([&] { return store(key(next), body(next)) == NotStored::none; }));
    for (; next < 10'000 && disk->stats().reinserted_bytes == 0; ++next) ASSERT_EQ(store(key(next), body(next)), NotStored::none);
    EXPECT_EQ(body_of(used_key), used);
}

TEST_F(DiskKept, what_is_used_stays_though_it_fills_segments_that_lie_side_by_side) {
    open();
    constexpr unsigned hot = 24, first_newcomer = 1'000;   // 60,000 bytes each: an eleventh of the store
    for (unsigned i = 0; i < hot; ++i) ASSERT_EQ(store(key(i), pattern(60'000, i)), NotStored::none);
    unsigned next = first_newcomer;
    for (Bytes const lap : {1, 2, 3}) {
        for (unsigned i = 0; i < hot; ++i)
            ASSERT_TRUE(body_of(key(i)) == pattern(60'000, i)) << i << " in lap " << lap << ": " << disk->stats().too_late
                                                               << " loads too late, " << disk->stats().misses << " missed";
        for (; disk->stats().written_bytes < lap * 14 * MiB; ++next)
            ASSERT_EQ(store(key(next), pattern(60'000, next)), NotStored::none);
        ASSERT_TRUE(settled());
    }
    std::set<std::string> met;
    std::uint64_t last = 0;
    for (auto here = disk->segment_from(0); here; here = disk->segment_from(here->generation + 1)) {
        EXPECT_GT(here->generation, last) << "in the order of the log";
        last = here->generation;
        std::vector<DiskStore::Listed> listed;
        EXPECT_TRUE(disk->list(here->segment, listed));
        for (auto const& one : listed) EXPECT_TRUE(met.insert(one.key).second) << one.key;
    }
    for (unsigned i = 0; i < hot; ++i) EXPECT_TRUE(met.contains(key(i))) << i;
    auto const stats = disk->stats();
    EXPECT_GT(stats.reinserted_bytes, hot * 60'000);
    EXPECT_LT(static_cast<double>(stats.reinserted_bytes), 0.2 * static_cast<double>(stats.written_bytes));
}

TEST_F(DiskKept, newcomers_leave_two_segments_to_what_is_written_again_though_it_has_opened_one_of_them) {
    constexpr std::uint32_t retired = 6;
    auto const shape = disk::shape_of(options.size);
    disk::StoreHeader header{.id = 1, .segment_bytes = shape.segment_bytes, .segments = 9, .alignment = 16};
    auto const opened = io::File::open(options.path + "/log", io::File::Mode::create);
    ASSERT_TRUE(opened.file) << io::text_of_error(opened.error);
    auto const none_is_lost = [](auto...) { ADD_FAILURE(); };
    disk::Log log(opened.file, header, 16, 8 * header.segment_bytes, 1s, none_is_lost, [](auto) { return true; });
    for (std::uint32_t i = 0; i < header.segments; ++i)
        log.adopt(i, {0, {}, disk::Log::Use::free, i == retired ? disk::Log::failures_max : std::uint8_t{0}});
    log.begin(0, 1, 0);
    disk::RecordHead head;
    head.kind = disk::RecordKind::filler;
    head.body_bytes = 60'000;
    std::set<std::uint32_t> segments;
    auto const append = [&](disk::Purpose purpose) {
        auto const room = log.reserve(head, purpose);
        if (!room) return false;
        segments.insert(log.segment_of(room->place.offset));
        log.commit(*room);
        return true;
    };
    auto const append_all = [&](disk::Purpose purpose) {
        for (int tries = 0; tries < 300; ++tries) {
            while (append(purpose)) tries = 0;
            std::this_thread::sleep_for(1ms);
        }
    };
    append_all(disk::Purpose::newcomer);
    EXPECT_EQ(segments.size(), header.segments - 3) << "the segment out of use is not counted";
    EXPECT_TRUE(append(disk::Purpose::kept));
    EXPECT_EQ(segments.size(), header.segments - 2) << "the record for kept objects opens a segment";
    EXPECT_FALSE(append(disk::Purpose::newcomer)) << "newcomers may not use the segment of kept objects";
    EXPECT_FALSE(log.is_full());
    append_all(disk::Purpose::kept);
    EXPECT_EQ(segments.size(), header.segments - 1);
    EXPECT_FALSE(segments.contains(retired));
    EXPECT_TRUE(log.is_full());
    log.end();
}

}   // namespace garner::store
