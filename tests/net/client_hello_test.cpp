// The server name in a ClientHello's extension.
#include "net/client_hello.hpp"

#include <gtest/gtest.h>

#include <string>

namespace garner::net {
namespace {

using namespace std::string_literals;

TEST(ClientHello, the_host_name_is_found) {
    EXPECT_EQ(server_name_in("\0\x0d\0\0\x0aproxy.test"s), "proxy.test");
    EXPECT_EQ(server_name_in("\0\x12\x07\0\x02xx\0\0\x0aproxy.test"s), "proxy.test");   // after a name of another type
}

TEST(ClientHello, a_malformed_extension_has_no_host_name) {
    for (auto const& malformed :
         {""s, "\0"s, "\0\0"s, "\0\x01\0"s, "\0\x0d\0\0\x0bproxy.test"s, "\0\x0c\0\0\x0aproxy.test"s, "\0\x0e\0\0\x0aproxy.test"s,
          "\0\x0d\0\0\x0aproxy.test!"s, "\0\x05\x07\0\x02xx"s, "\xff\xff\0\xff\xff"s})
        EXPECT_EQ(server_name_in(malformed), "") << testing::PrintToString(malformed);
}

}   // namespace
}   // namespace garner::net
