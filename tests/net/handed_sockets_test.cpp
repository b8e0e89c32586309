#include "net/handed_sockets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace garner::net {
namespace {

using testing::ElementsAre;

/// A bound UDP socket on loopback.
int bound_socket() {
    int const descriptor = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(descriptor, reinterpret_cast<sockaddr const*>(&at), sizeof at), 0);
    return descriptor;
}

void close_all(std::vector<int> const& descriptors) {
    for (int const one : descriptors) EXPECT_EQ(::close(one), 0);
}

TEST(HandedSockets, are_shared_so_that_each_worker_and_each_socket_is_used) {
    EXPECT_THAT(share_of(0, 2, 5), ElementsAre(0, 2, 4));
    EXPECT_THAT(share_of(1, 2, 5), ElementsAre(1, 3));
    EXPECT_THAT(share_of(2, 4, 2), ElementsAre(0));
    EXPECT_THAT(share_of(3, 4, 2), ElementsAre(1));
    EXPECT_THAT(share_of(0, 4, 0), ElementsAre());
}

TEST(HandedSockets, are_found_by_kind_and_endpoint) {
    HandedSockets handed;
    int const descriptor = bound_socket();
    auto const at = *bound_endpoint(descriptor);
    EXPECT_EQ(at.address.text(), "127.0.0.1");
    handed.add(named_socket("icp", at, 0, descriptor));
    EXPECT_EQ(handed.claim("htcp", at), std::nullopt);
    EXPECT_EQ(handed.claim("icp", {at.address, static_cast<std::uint16_t>(at.port - 1)}), std::nullopt);
    EXPECT_EQ(handed.claim("icp", {IpAddress::v4(127, 0, 0, 2), at.port}), std::nullopt);
    EXPECT_EQ(handed.claim("icp", at), at);
    auto const copies = handed.copies("icp", at, 1, 2);
    ASSERT_EQ(copies.size(), 1u);
    EXPECT_EQ(bound_endpoint(copies.front()), at);
    close_all(copies);
}

TEST(HandedSockets, of_any_port_are_given_once) {
    HandedSockets handed;
    int const first = bound_socket(), second = bound_socket();
    auto const one = *bound_endpoint(first), other = *bound_endpoint(second);
    handed.add(named_socket("listen", one, 0, first));
    handed.add(named_socket("listen", other, 0, second));
    IpEndpoint const any{one.address, 0};
    EXPECT_EQ(handed.claim("listen", any), one);
    EXPECT_EQ(handed.claim("listen", any), other);
    EXPECT_EQ(handed.claim("listen", any), std::nullopt);
}

TEST(HandedSockets, have_names) {
    HandedSockets handed;
    handed.add({"control", bound_socket()});
    EXPECT_EQ(handed.copy("stderr"), -1);
    int const copy = handed.copy("control");
    EXPECT_GE(copy, 0);
    ::close(copy);
}

}   // namespace
}   // namespace garner::net
