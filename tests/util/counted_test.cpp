#include "util/counted.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace garner {
namespace {

struct Thing : Counted<Thing> {
    CountedBytes<Thing> bytes{10};
};

TEST(Counted, objects_count_from_their_begin_to_their_end) {
    {
        Thing one;
        Thing const copy = one;
        Thing const moved = std::move(one);
        EXPECT_EQ(Thing::alive(), 3u) << "an object that was moved from lives on";
        one = copy;
        EXPECT_EQ(Thing::alive(), 3u);
    }
    EXPECT_EQ(Thing::alive(), 0u);
    std::vector<Thing> things(5);
    things.erase(things.begin());
    EXPECT_EQ(Thing::alive(), 4u);
}

TEST(CountedBytes, move_with_their_object_and_are_copied_with_it) {
    struct Owner;
    using Of = CountedBytes<Owner>;
    {
        Of one(100);
        Of const copy = one;
        EXPECT_EQ(Of::sum(), 200u);
        Of moved = std::move(one);
        EXPECT_EQ(Of::sum(), 200u);
        moved = Of(7);
        EXPECT_EQ(Of::sum(), 107u);
        moved = copy;
        EXPECT_EQ(Of::sum(), 200u);
    }
    EXPECT_EQ(Of::sum(), 0u);
}

}   // namespace
}   // namespace garner
