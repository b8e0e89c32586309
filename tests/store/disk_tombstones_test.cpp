// Tombstones: pending while the log is full; callers wait until they are in the file.
#include "store/disk_tombstones.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <set>

namespace garner::store::disk {
namespace {

/// A hash with these first bits.
constexpr Fingerprint hash_with(Fingerprint bits) { return bits << 52 | bits; }

struct DiskTombstones : ::testing::Test {
    bool room = true, can_void = true;
    std::uint64_t end = 0, written = 0;
    int voided = 0;
    std::function<void()> while_voiding;
    std::set<Fingerprint> known;
    std::multiset<Fingerprint> written_ones;
    Tombstones tombstones{[this](Fingerprint hash) {
                              if (!room) return false;
                              written_ones.insert(hash);
                              end += 64;
                              return true;
                          },
                          [this](Fingerprint hash) { return known.contains(hash); },
                          [this] { return end; },
                          [this] { return written; },
                          [this] {
                              if (!can_void) return false;
                              ++voided;
                              if (while_voiding) while_voiding();
                              return true;
                          },
                          100};
    void write(Fingerprint hash) { Tombstones::Removal(tombstones, hash).write(); }
    void enqueue(Fingerprint hash) { Tombstones::Removal(tombstones, hash).enqueue(); }

    static constexpr Fingerprint seven = hash_with(7), eight = hash_with(8);
};

TEST_F(DiskTombstones, are_open_until_the_tombstone_is_in_the_file) {
    EXPECT_FALSE(tombstones.is_open(seven));
    write(seven);
    EXPECT_TRUE(tombstones.is_clear());
    EXPECT_TRUE(tombstones.is_open(seven)) << "a kill now would restore the record";
    EXPECT_TRUE(tombstones.is_open(seven));
    EXPECT_FALSE(tombstones.is_open(eight));
    written = 64;
    EXPECT_FALSE(tombstones.is_open(seven));
    write(seven);
    EXPECT_TRUE(tombstones.is_open(seven));
}

TEST_F(DiskTombstones, are_open_to_others_before_anything_is_taken_off_the_index) {
    {
        Tombstones::Removal first(tombstones, seven);
        EXPECT_FALSE(first.is_open_to_others());
        Tombstones::Removal second(tombstones, seven);
        EXPECT_TRUE(second.is_open_to_others()) << "the first removal may have found the record and has not written its tombstone";
    }
    EXPECT_FALSE(tombstones.is_open(seven)) << "neither removal found a record";
}

TEST_F(DiskTombstones, are_found_where_only_the_first_bits_of_a_hash_are_known) {
    write(seven >> 28 << 28);
    EXPECT_TRUE(tombstones.is_open(seven));
    write(eight);
    EXPECT_TRUE(tombstones.is_open(eight >> 32 << 32));
}

TEST_F(DiskTombstones, stay_open_while_the_tombstone_is_owed) {
    room = false;
    write(seven);
    written = 1'000;
    EXPECT_TRUE(tombstones.is_open(seven));
    EXPECT_FALSE(tombstones.flush());
    EXPECT_TRUE(tombstones.is_open(seven));
    room = true;
    end = 1'000;
    EXPECT_TRUE(tombstones.flush());
    EXPECT_EQ(written_ones, (std::multiset<Fingerprint>{seven}));
    EXPECT_TRUE(tombstones.is_open(seven)) << "it is in the log, and not yet in the file";
    written = end;
    EXPECT_FALSE(tombstones.is_open(seven));
}

TEST_F(DiskTombstones, one_that_is_owed_is_not_forgotten_for_another_in_its_place) {
    constexpr Fingerprint other = seven + 1;
    room = false;
    write(seven);
    room = true;
    write(other);
    written = end;
    EXPECT_TRUE(tombstones.is_open(seven));
    EXPECT_TRUE(tombstones.flush());
    written = end;
    EXPECT_FALSE(tombstones.is_open(seven));
    EXPECT_FALSE(tombstones.is_open(other));
}

TEST_F(DiskTombstones, what_came_since_says_itself_that_nothing_older_counts) {
    for (auto const hash : {seven, eight, seven}) enqueue(hash);
    known.insert(eight);
    end = 64;
    EXPECT_TRUE(tombstones.flush());
    EXPECT_EQ(written_ones, (std::multiset<Fingerprint>{seven}));
    EXPECT_TRUE(tombstones.is_open(eight));
    written = end;
    EXPECT_FALSE(tombstones.is_open(eight));
}

TEST_F(DiskTombstones, more_than_can_be_owed_makes_all_void) {
    room = false;
    for (Fingerprint i = 0; i < 100; ++i) enqueue(hash_with(i));
    for (Fingerprint i = 0; i < 100; ++i) enqueue(hash_with(i));
    tombstones.flush_by_voiding();
    EXPECT_EQ(voided, 0) << "a repeated hash takes no second place";
    enqueue(hash_with(100));
    room = true;
    EXPECT_FALSE(tombstones.flush());
    EXPECT_FALSE(tombstones.is_clear());
    EXPECT_TRUE(tombstones.is_open(hash_with(2'000))) << "some hash was discarded, so every hash may be open";
    can_void = false;
    tombstones.flush_by_voiding();
    EXPECT_FALSE(tombstones.is_clear());
    can_void = true;
    // Tombstones added while segments are voided may concern newer records.
    while_voiding = [&] { enqueue(seven); };
    tombstones.flush_by_voiding();
    EXPECT_FALSE(tombstones.is_clear());
    while_voiding = nullptr;
    tombstones.flush_by_voiding();
    EXPECT_EQ(voided, 2);
    EXPECT_TRUE(tombstones.is_clear());
    EXPECT_TRUE(tombstones.flush());
    EXPECT_TRUE(written_ones.empty());
    EXPECT_FALSE(tombstones.is_open(seven));
}

}   // namespace
}   // namespace garner::store::disk
