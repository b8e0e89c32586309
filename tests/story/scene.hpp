// Included by every scene: the three actors, and common helpers.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/client.hpp"
#include "support/origin.hpp"
#include "support/proxy.hpp"

namespace garner::test {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using namespace std::chrono_literals;

}   // namespace garner::test
