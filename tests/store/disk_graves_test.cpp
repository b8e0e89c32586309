// Tombstones: owed while the log has no room, and waited for by whoever comes until they are in the file.
#include "store/disk_graves.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <set>

namespace garner::store::disk {
namespace {

/// With these first bits.
constexpr Fingerprint hash_with(Fingerprint bits) { return bits << 52 | bits; }

struct DiskGraves : ::testing::Test {
    bool room = true, can_void = true;
    std::uint64_t end = 0, written = 0;
    int voided = 0;
    std::function<void()> while_voiding;
    std::set<Fingerprint> known;
    std::multiset<Fingerprint> tombstones;
    Graves graves{[this](Fingerprint hash) {
                      if (!room) return false;
                      tombstones.insert(hash);
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
    void bury(Fingerprint hash) { Graves::Digging(graves, hash).bury(); }
    void owe(Fingerprint hash) { Graves::Digging(graves, hash).owe(); }

    static constexpr Fingerprint seven = hash_with(7), eight = hash_with(8);
};

TEST_F(DiskGraves, are_open_until_the_tombstone_is_in_the_file) {
    EXPECT_FALSE(graves.is_open(seven));
    bury(seven);
    EXPECT_TRUE(graves.is_clear());
    EXPECT_TRUE(graves.is_open(seven)) << "a kill now would bring it back, whoever asks";
    EXPECT_TRUE(graves.is_open(seven));
    EXPECT_FALSE(graves.is_open(eight));
    written = 64;
    EXPECT_FALSE(graves.is_open(seven));
    bury(seven);
    EXPECT_TRUE(graves.is_open(seven));
}

TEST_F(DiskGraves, are_open_to_others_before_anything_is_taken_off_the_index) {
    {
        Graves::Digging first(graves, seven);
        EXPECT_FALSE(first.is_open_to_others());
        Graves::Digging second(graves, seven);
        EXPECT_TRUE(second.is_open_to_others()) << "the first may have found it, and has written nothing yet";
    }
    EXPECT_FALSE(graves.is_open(seven)) << "neither found anything";
}

TEST_F(DiskGraves, are_found_where_only_the_first_bits_of_a_hash_are_known) {
    bury(seven >> 28 << 28);
    EXPECT_TRUE(graves.is_open(seven));
    bury(eight);
    EXPECT_TRUE(graves.is_open(eight >> 32 << 32));
}

TEST_F(DiskGraves, stay_open_while_the_tombstone_is_owed) {
    room = false;
    bury(seven);
    written = 1'000;
    EXPECT_TRUE(graves.is_open(seven));
    EXPECT_FALSE(graves.pay());
    EXPECT_TRUE(graves.is_open(seven));
    room = true;
    end = 1'000;
    EXPECT_TRUE(graves.pay());
    EXPECT_EQ(tombstones, (std::multiset<Fingerprint>{seven}));
    EXPECT_TRUE(graves.is_open(seven)) << "it is in the log, and not yet in the file";
    written = end;
    EXPECT_FALSE(graves.is_open(seven));
}

TEST_F(DiskGraves, one_that_is_owed_is_not_forgotten_for_another_in_its_place) {
    constexpr Fingerprint other = seven + 1;
    room = false;
    bury(seven);
    room = true;
    bury(other);
    written = end;
    EXPECT_TRUE(graves.is_open(seven));
    EXPECT_TRUE(graves.pay());
    written = end;
    EXPECT_FALSE(graves.is_open(seven));
    EXPECT_FALSE(graves.is_open(other));
}

TEST_F(DiskGraves, what_came_since_says_itself_that_nothing_older_counts) {
    for (auto const hash : {seven, eight, seven}) owe(hash);
    known.insert(eight);
    end = 64;
    EXPECT_TRUE(graves.pay());
    EXPECT_EQ(tombstones, (std::multiset<Fingerprint>{seven}));
    EXPECT_TRUE(graves.is_open(eight));
    written = end;
    EXPECT_FALSE(graves.is_open(eight));
}

TEST_F(DiskGraves, more_than_can_be_owed_makes_all_void) {
    room = false;
    for (Fingerprint i = 0; i < 100; ++i) owe(hash_with(i));
    for (Fingerprint i = 0; i < 100; ++i) owe(hash_with(i));
    graves.pay_by_voiding();
    EXPECT_EQ(voided, 0) << "the same names take no more room than once";
    owe(hash_with(100));
    room = true;
    EXPECT_FALSE(graves.pay());
    EXPECT_FALSE(graves.is_clear());
    EXPECT_TRUE(graves.is_open(hash_with(2'000))) << "of which one nobody knows any more";
    can_void = false;
    graves.pay_by_voiding();
    EXPECT_FALSE(graves.is_clear());
    can_void = true;
    // What comes while it is done may be for what came into the log since.
    while_voiding = [&] { owe(seven); };
    graves.pay_by_voiding();
    EXPECT_FALSE(graves.is_clear());
    while_voiding = nullptr;
    graves.pay_by_voiding();
    EXPECT_EQ(voided, 2);
    EXPECT_TRUE(graves.is_clear());
    EXPECT_TRUE(graves.pay());
    EXPECT_TRUE(tombstones.empty());
    EXPECT_FALSE(graves.is_open(seven));
}

}  // namespace
}  // namespace garner::store::disk
