#include "util/result.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace garner {
namespace {

Result<int> half(int number) {
    if (number % 2) return Fault{"3 is odd", "write an even number", "--number"};
    return number / 2;
}

TEST(Result, is_a_value_or_a_fault) {
    auto const good = half(4);
    ASSERT_TRUE(good);
    EXPECT_EQ(*good, 2);
    EXPECT_EQ(good.fault_text(), "");
    auto const bad = half(3);
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.fault().where, "--number");
    EXPECT_EQ(bad.fault_text(), "--number: 3 is odd; write an even number");
}

TEST(Result, a_fault_names_only_what_it_knows) {
    EXPECT_EQ(Fault{"no space left"}.text(), "no space left");
    EXPECT_EQ((Fault{.what = "no space left", .where = "/var/cache"}.text()), "/var/cache: no space left");
    EXPECT_EQ((Fault{"no space left", "delete files"}.text()), "no space left; delete files");
}

TEST(Result, moves_out_what_cannot_be_copied) {
    struct Base {
        virtual ~Base() = default;
    };
    struct Derived : Base {
        int number = 7;
    };
    Result<std::unique_ptr<Base>> made = std::make_unique<Derived>();
    ASSERT_TRUE(made);
    auto const taken = *std::move(made);
    EXPECT_EQ(static_cast<Derived&>(*taken).number, 7);
}

TEST(Result, without_a_value_tells_success_from_failure) {
    EXPECT_TRUE(Result<void>());
    Result<void> const failed = Fault{"input/output error"};
    EXPECT_FALSE(failed);
    EXPECT_EQ(failed.fault().what, "input/output error");
    EXPECT_TRUE(to_result(""));
    EXPECT_EQ(to_result("no space left").fault_text(), "no space left");
}

TEST(ResultDeathTest, reading_what_is_not_there_stops_the_process) {
    EXPECT_DEATH((void)*half(3), "broken invariant");
    EXPECT_DEATH((void)half(4).fault(), "broken invariant");
}

}   // namespace
}   // namespace garner
