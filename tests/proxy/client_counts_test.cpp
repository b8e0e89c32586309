// Connections by client.
#include <gtest/gtest.h>

#include "proxy/counters.hpp"

namespace garner::proxy {
namespace {

IpAddress const one = IpAddress::v4(127, 0, 0, 1), other = IpAddress::v4(127, 0, 0, 2);

TEST(ClientCounts, the_busiest_client_has_most_connections) {
    ClientCounts counts;
    EXPECT_EQ(counts.busiest(), std::nullopt);
    counts.enter(one, 0);
    counts.enter(other, 0);
    EXPECT_EQ(counts.busiest(), std::nullopt) << "clients with one connection each are equal";
    counts.enter(other, 0);
    EXPECT_EQ(counts.busiest(), other);
    counts.leave(other);
    EXPECT_EQ(counts.busiest(), std::nullopt);
}

TEST(ClientCounts, a_program_on_this_machine_is_the_busiest_client_with_three_quarters_of_all_connections) {
    ClientCounts counts;
    for (int i = 0; i < 3; ++i) counts.enter(one, 0);
    EXPECT_EQ(counts.busiest(), one);
    auto const far = IpAddress::v4(192, 0, 2, 1);
    for (int i = 0; i < 2; ++i) counts.enter(far, 0);
    EXPECT_EQ(counts.busiest(), far);
    for (int i = 0; i < 3; ++i) counts.enter(one, 0);
    EXPECT_EQ(counts.busiest(), one);
}

TEST(ClientCounts, a_client_at_its_limit_is_refused_and_not_counted) {
    ClientCounts counts;
    EXPECT_TRUE(counts.enter(one, 1));
    EXPECT_FALSE(counts.enter(one, 1));
    counts.leave(one);
    EXPECT_TRUE(counts.enter(one, 1));
}

}   // namespace
}   // namespace garner::proxy
