#include "policy/options.hpp"

#include <gtest/gtest.h>

#include <array>

namespace garner::policy {
namespace {

constexpr std::array<std::string_view, 2> aims{"objects", "bytes"};
constexpr std::array settings{
    Setting{.name = "lambda", .what = "", .initial = 0.8, .least = 0, .most = 1},
    Setting{.name = "aim", .what = "", .initial = 1, .choices = aims},
};

TEST(PolicySettings, are_read_in_any_order_and_have_initial_values) {
    EXPECT_EQ(*read_settings("", settings), (std::vector<double>{0.8, 1}));
    EXPECT_EQ(*read_settings("aim=objects:lambda=0.25", settings), (std::vector<double>{0.25, 0}));
}

TEST(PolicySettings, name_what_is_wrong_and_the_mend) {
    EXPECT_EQ(read_settings("beta=1", settings).fault_text(), "no setting \"beta\"; valid settings: lambda, aim");
    EXPECT_EQ(read_settings("lambda=2", settings).fault_text(), "\"lambda\": \"2\" is not a number from 0 to 1");
    EXPECT_EQ(read_settings("lambda=nan", settings).fault_text(), "\"lambda\": \"nan\" is not a number from 0 to 1");
    EXPECT_EQ(read_settings("lambda", settings).fault_text(), "\"lambda\": \"\" is not a number from 0 to 1");
    EXPECT_EQ(read_settings("aim=both", settings).fault_text(), "\"aim\": \"both\" is not one of objects, bytes");
}

}   // namespace
}   // namespace garner::policy
