#include <gtest/gtest.h>
TEST(Import, x) {}
