// Recovery at start: unreadable places, and damaged or inconsistent heads, footers and records.
#include "store/disk_recovery.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include "store/disk_scene.hpp"
#include "support/disk_image.hpp"

namespace garner::store {

namespace {

using disk::header_area;

constexpr Bytes segment_bytes = 512 * KiB;   // segment size of small stores
constexpr Bytes start_of(unsigned segment) { return header_area + segment * segment_bytes; }

/// Reads that touch one range fail.
struct BadPlace : io::Faults {
    std::atomic<Bytes> from{0}, until{0};
    Verdict judge(Operation operation, Bytes offset, std::size_t size) override {
        bool const hit = operation == Operation::read && offset < until && offset + size > from;
        return {hit ? EIO : 0, SIZE_MAX};
    }
    void lies_at(Bytes offset, Bytes size) {
        from = offset;
        until = offset + size;
    }
    void is_gone() { until = 0; }
};

}   // namespace

class DiskRecovery : public DiskTier {
protected:
    DiskRecovery() { options.faults = &bad; }
    ~DiskRecovery() override { disk.reset(); }

    static constexpr unsigned some = 200;   // fill one and a half segments
    static std::string key(unsigned i) { return "fhttp://a/" + std::to_string(i); }
    static std::string body(unsigned i) { return pattern(4'000, i); }
    void fill() {
        open();
        for (unsigned i = 0; i < some; ++i) ASSERT_EQ(store(key(i), body(i)), NotStored::none);
        ASSERT_TRUE(settled());
    }
    unsigned found() {
        unsigned found = 0;
        for (unsigned i = 0; i < some; ++i) {
            auto const is = body_of(key(i));
            if (is == "nothing") continue;
            EXPECT_TRUE(is == body(i)) << i;
            ++found;
        }
        return found;
    }
    /// The file as a kill would leave it now.
    void kill() {
        auto const copy = options.path + "-copy";
        fs::copy_file(file(), copy);
        disk.reset();
        fs::rename(copy, file());
    }
    test::DiskImage image() const { return test::DiskImage::read(file()); }
    void write(Bytes at, std::string_view bytes) {
        std::fstream file(this->file(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(at));
        file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    void damage_head(unsigned segment) { write(start_of(segment) + 20, "damage"); }
    void blank_tail(unsigned segment) { write(start_of(segment + 1) - 64, std::string(64, '\0')); }

    BadPlace bad;
};

TEST_F(DiskRecovery, goes_over_a_bad_sector_and_does_not_make_it_permanent) {
    fill();
    kill();
    bad.lies_at(start_of(1) + 100'000, 512);
    open();
    auto const with_bad_sector = found();
    EXPECT_LT(with_bad_sector, some);
    EXPECT_GT(with_bad_sector, some - 40) << "at most 64 KiB of records are lost";
    kill();
    bad.is_gone();
    open();
    EXPECT_GE(found(), some - 1) << "only the record that a read found damaged was removed";
}

TEST_F(DiskRecovery, finds_a_segment_whose_head_cannot_be_read_by_its_footer_or_its_records) {
    fill();
    kill();
    for (unsigned segment : {0u, 1u}) {
        bad.lies_at(start_of(segment), 16);
        open();
        EXPECT_GT(found(), some - 40) << segment;
        EXPECT_EQ(disk->stats().segments_retired, 0u);
        kill();
    }
}

TEST_F(DiskRecovery, leaves_alone_what_cannot_be_read_at_all_and_what_is_purged_meanwhile_does_not_come_back) {
    fill();
    disk.reset();
    bad.lies_at(start_of(0), segment_bytes);
    open();
    EXPECT_EQ(disk->stats().segments_retired, 1u);
    EXPECT_EQ(body_of(key(0)), "nothing");
    EXPECT_TRUE(disk->forget(key(0))) << "the unreadable segment may have the record";
    EXPECT_TRUE(settled());
    EXPECT_EQ(store(key(1), "newer"), NotStored::none);
    disk.reset();
    bad.is_gone();
    open();
    EXPECT_EQ(body_of(key(0)), "nothing");
    EXPECT_EQ(body_of(key(1)), "newer");
    EXPECT_TRUE(body_of(key(2)) == body(2)) << "it can be read again";
}

TEST_F(DiskRecovery, does_not_take_a_segment_that_was_made_free_for_one_that_was_not_closed) {
    fill();
    disk.reset();
    damage_head(0);
    open();
    EXPECT_EQ(found(), some) << "the footer has the records";
    disk.reset();
    blank_tail(0);
    open();
    EXPECT_LT(found(), some / 2) << "the segment has neither head nor footer";
    disk.reset();
    fs::remove(file());
    fill();
    disk.reset();
    damage_head(1);
    blank_tail(1);
    open();
    EXPECT_GT(found(), some / 4) << "the newest segment may lack its footer";
}

TEST_F(DiskRecovery, believes_the_records_where_an_older_footer_stands_behind_them) {
    fill();
    disk.reset();
    auto const header = image().header();
    auto const generation = image().segments()[1].generation;
    disk::Footer const older{generation - 2, wall_now(), {}};
    auto const end = start_of(2);
    auto const tail = encode(older, disk::Location{header.id, older.generation, end});
    write(end - tail.size(), tail);
    damage_head(1);
    open();
    EXPECT_EQ(found(), some);
}

TEST_F(DiskRecovery, knows_by_what_made_a_later_segment_free_that_an_earlier_one_was) {
    open();
    for (unsigned i = 0; disk->stats().evicted < 300; ++i) ASSERT_EQ(store(key(i), body(i)), NotStored::none);
    disk.reset();
    // Two free segments; the wipe of the earlier one was lost.
    auto const before = image();
    test::DiskImage::Segment const* earliest = nullptr;
    unsigned free = 0;
    for (auto const& segment : before.segments()) {
        if (segment.generation != 0 || segment.left.empty()) continue;
        ++free;
        if (!earliest || segment.left[0].generation < earliest->left[0].generation) earliest = &segment;
    }
    ASSERT_GE(free, 2u);
    auto const generation = earliest->left[0].generation;
    std::array<char, disk::segment_head_bytes> head;
    encode(disk::SegmentHead{generation, wall_now()}, disk::Location{before.header().id, generation, earliest->place.at}, head);
    write(earliest->place.at, {head.data(), head.size()});
    for (int starts = 0; starts < 2; ++starts) {
        open();
        for (auto const& record : earliest->left) EXPECT_EQ(body_of(record.key), "nothing") << record.key;
        EXPECT_EQ(store("fhttp://new/", "x"), NotStored::none);
        disk.reset();
        auto const after = image();
        auto const newest = std::ranges::max_element(after.segments(), {}, &test::DiskImage::Segment::generation);
        EXPECT_GT(newest->wiped, generation) << "later segments announce the wipe";
    }
}

TEST_F(DiskRecovery, is_not_led_on_by_bodies_that_look_like_heads) {
    disk::StoreHeader header{.id = 1, .segment_bytes = static_cast<std::uint32_t>(16 * MiB), .segments = 1, .alignment = 16};
    disk::SegmentHead const segment{77, wall_now()};
    // Many heads in sequence, each claiming a long record: reading all of them in full would be a hundred gigabytes.
    std::string bytes(16 * MiB, '\0');
    auto const put = [&](Bytes at, auto value) { std::memcpy(bytes.data() + at, &value, sizeof value); };
    for (Bytes at = disk::segment_head_bytes; at + disk::record_head_bytes <= bytes.size(); at += disk::record_head_bytes) {
        put(at, std::array{'G', 'R', 'E', 'C'});
        put(at + 4, std::uint32_t{1});
        put(at + 32, segment.generation);
        put(at + 40, std::uint32_t{390'000});
    }
    disk::RecordParts parts;
    std::string_view const bodies[] = {"body"};
    std::string const key(500, 'k');
    parts.key = key;
    parts.body = bodies;
    parts.head.hash = 4711;
    Bytes const at = 15 * MiB;
    std::string record(parts.measure(), '\0');
    encode(parts, disk::Location{header.id, segment.generation, header.start_of(0) + at}, record);
    bytes.replace(at, record.size(), record);
    std::ofstream(file(), std::ios::binary) << std::string(header_area, '\0') << bytes;
    auto const opened = io::File::open(file().string(), io::File::Mode::write, nullptr);
    auto const walked = disk::walk(opened.file, header, 0, segment);
    auto const found = std::ranges::count(walked.entries, disk::RecordKind::object, &disk::FooterEntry::kind);
    EXPECT_EQ(found, 1);
    EXPECT_TRUE(std::ranges::any_of(walked.entries, [&](auto const& entry) { return entry.offset == at / disk::unit; }));
}

TEST_F(DiskRecovery, takes_no_memory_by_what_a_damaged_footer_says) {
    fill();
    restart();
    auto const memory = disk->stats().metadata;
    disk.reset();
    auto const image = this->image();
    for (auto const& segment : image.segments())
        if (segment.footer) write(segment.footer->tail.at + 32, std::string("\x00\x75\x00\x00", 4));
    open();
    EXPECT_EQ(found(), some);
    EXPECT_LT(disk->stats().metadata, memory + memory / 4);
}

TEST_F(DiskRecovery, tells_of_damaged_heads_in_a_segment_that_was_not_closed) {
    fill();
    kill();
    auto const records = image().records();
    for (auto const* record : {&records[some - 5], &records[some - 3]}) write(record->at() + 26, "damage");
    for (int starts = 0; starts < 2; ++starts) {
        open();
        DiskStore::Verified sum;
        for (std::uint32_t segment = 0; disk->verify(segment, sum); ++segment) {
        }
        EXPECT_EQ(sum.records, some) << starts;
        EXPECT_EQ(sum.damaged, 2u) << starts;
        disk.reset();
    }
}

TEST_F(DiskRecovery, forgets_what_was_being_written_when_the_process_ended_and_does_not_call_it_damaged) {
    fill();
    kill();
    auto const records = image().records();
    auto const& last = records[some - 1];
    auto const whole = image().bytes();
    for (auto const from : {last.at() + 26, last.at() + 3'000}) {   // in its head, and in its body
        write(0, whole);
        write(from, std::string(last.at() + last.bytes() - from, '\0'));
        for (int starts = 0; starts < 2; ++starts) {
            open();
            DiskStore::Verified sum;
            for (std::uint32_t segment = 0; disk->verify(segment, sum); ++segment) {
            }
            EXPECT_EQ(sum.records, some - 1) << starts;
            EXPECT_EQ(sum.damaged, 0u) << starts;
            EXPECT_EQ(found(), some - 1);
            EXPECT_EQ(disk->stats().damaged, 0u);
            disk.reset();
        }
    }
}

TEST_F(DiskRecovery, brings_back_nothing_older_where_the_newer_was_being_written) {
    fill();
    ASSERT_EQ(store(key(3), body(some)), NotStored::none);
    ASSERT_TRUE(settled());
    kill();
    auto const last = image().records().back();
    write(last.at() + 3'000, std::string(last.bytes() - 3'000, '\0'));
    for (int starts = 0; starts < 2; ++starts) {
        open();
        EXPECT_EQ(body_of(key(3)), "nothing") << starts;
        disk.reset();
    }
}

TEST_F(DiskRecovery, verify_forgets_and_counts_what_has_lost_its_segment) {
    fill();
    disk.reset();
    open();
    write(start_of(0), std::string(segment_bytes, '\0'));
    DiskStore::Verified sum;
    for (std::uint32_t segment = 0; disk->verify(segment, sum); ++segment) {
    }
    EXPECT_EQ(sum.records, some);
    EXPECT_GT(sum.damaged, some / 2);
    EXPECT_EQ(disk->stats().records, some - sum.damaged);
    EXPECT_EQ(found(), some - sum.damaged);
    EXPECT_EQ(disk->stats().damaged, 0u) << "lookups no longer read the damaged records";
    restart();
    EXPECT_EQ(found(), some - sum.damaged);
}

TEST_F(DiskRecovery, gives_generations_that_no_earlier_start_can_have_given) {
    for (int starts = 0; starts < 2; ++starts) {
        fill();
        disk.reset();
        auto const image = this->image();
        auto const least = image.header().epoch << 20;
        std::uint64_t newest = 0;
        for (auto const& segment : image.segments()) newest = std::max(newest, segment.generation);
        EXPECT_GE(newest, least);
        EXPECT_LT(newest, least + 100);
    }
}

}   // namespace garner::store
