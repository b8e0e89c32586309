// The addresses of this machine.
#include "net/address_watch.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>

namespace garner::net {
namespace {

TEST(AddressWatch, addresses_that_cannot_be_read_are_none_of_a_machine_without_addresses) {
    auto const own = interface_addresses();
    ASSERT_TRUE(own.has_value());
    EXPECT_NE(std::ranges::find(*own, IpAddress::v4(127, 0, 0, 1)), own->end());
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit none = before;
    none.rlim_cur = 0;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    bool const told = interface_addresses().has_value();
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_FALSE(told);
}

}   // namespace
}   // namespace garner::net
