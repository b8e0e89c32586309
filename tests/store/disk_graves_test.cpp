// Tombstones: owed while the log has no room, and waited for by whoever comes until they are in the file.
#include "store/disk_graves.hpp"

#include <gtest/gtest.h>

#include <set>

namespace garner::store::disk {
namespace {

struct DiskGraves : ::testing::Test {
    bool room = true;
    std::uint64_t end = 0, written = 0;
    std::set<Fingerprint> known;
    std::vector<Fingerprint> tombstones;
    Graves graves{[this](Fingerprint hash) {
                      if (!room) return false;
                      tombstones.push_back(hash);
                      end += 64;
                      return true;
                  },
                  [this](Fingerprint hash) { return known.contains(hash); }, [this] { return end; }, [this] { return written; }};
};

TEST_F(DiskGraves, are_open_until_the_tombstone_is_in_the_file) {
    EXPECT_FALSE(graves.is_open(7));
    graves.bury(7);
    EXPECT_TRUE(graves.is_clear());
    EXPECT_TRUE(graves.is_open(7)) << "a kill now would bring it back, whoever asks";
    EXPECT_TRUE(graves.is_open(7));
    EXPECT_FALSE(graves.is_open(8));
    written = 64;
    EXPECT_FALSE(graves.is_open(7));
    graves.bury(7);
    EXPECT_TRUE(graves.is_open(7));
}

TEST_F(DiskGraves, stay_open_while_the_tombstone_is_owed) {
    room = false;
    graves.bury(7);
    written = 1'000;
    EXPECT_TRUE(graves.is_open(7));
    EXPECT_FALSE(graves.pay());
    EXPECT_TRUE(graves.is_open(7));
    room = true;
    end = 1'000;
    EXPECT_TRUE(graves.pay());
    EXPECT_EQ(tombstones, std::vector<Fingerprint>{7});
    EXPECT_TRUE(graves.is_open(7)) << "it is in the log, and not yet in the file";
    written = end;
    EXPECT_FALSE(graves.is_open(7));
}

TEST_F(DiskGraves, one_that_is_owed_is_not_forgotten_for_another_in_its_place) {
    constexpr Fingerprint other = 7 + 4096;
    room = false;
    graves.bury(7);
    room = true;
    graves.bury(other);
    written = end;
    EXPECT_TRUE(graves.is_open(7));
    EXPECT_TRUE(graves.pay());
    written = end;
    EXPECT_FALSE(graves.is_open(7));
    EXPECT_FALSE(graves.is_open(other));
}

TEST_F(DiskGraves, what_came_since_says_itself_that_nothing_older_counts) {
    graves.owe({{7, 8, 7}});
    known.insert(8);
    EXPECT_TRUE(graves.pay());
    EXPECT_EQ(tombstones, std::vector<Fingerprint>{7});
    EXPECT_TRUE(graves.is_open(8));
    written = end;
    EXPECT_FALSE(graves.is_open(8));
}

}  // namespace
}  // namespace garner::store::disk
