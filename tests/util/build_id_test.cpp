#include "util/build_id.hpp"

#include <gtest/gtest.h>

namespace garner {

TEST(BuildId, is_the_same_each_time_and_in_hexadecimal_digits) {
    auto const id = build_id();
    EXPECT_GE(id.size(), 16u);
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos) << id;
    EXPECT_EQ(build_id(), id);
}

}   // namespace garner
