// The promise of a group under random faults: a short run of tools/group_soak.
#include "story/scene.hpp"
#include "support/child.hpp"
#include "support/hosts.hpp"
#include "support/places.hpp"
#include "support/programs.hpp"

namespace garner::test {

/// Another seed each time, which the output has. Without faults that need a kernel module or another package.
TEST(GroupSoak, no_answer_of_nine_members_is_older_than_the_lease_permits) {
    NEEDS("python3");
    NEEDS_HOSTS();
    auto const done = run({"python3", source("tools/group_soak"), "--rounds", "3", "--longest", "2", "--pause", "0.05", "--faults",
                           "cut,kill,stop,freeze,disk,full,origin", "--binary", garner_binary()},
                          Millis{240'000});
    EXPECT_EQ(done.code, 0) << done.output << done.errors;
    EXPECT_THAT(done.output, HasSubstr("; 0 violations"));
}

}   // namespace garner::test
