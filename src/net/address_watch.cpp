#include "net/address_watch.hpp"

#include <ifaddrs.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>

#include "util/clock.hpp"

namespace garner::net {

namespace {

std::optional<IpAddress> address_of(sockaddr const* address) {
    if (!address) return std::nullopt;
    if (address->sa_family == AF_INET)
        return IpAddress::v4(ntohl(reinterpret_cast<sockaddr_in const*>(address)->sin_addr.s_addr));
    if (address->sa_family != AF_INET6) return std::nullopt;
    std::array<std::uint8_t, 16> bytes;
    std::copy_n(reinterpret_cast<sockaddr_in6 const*>(address)->sin6_addr.s6_addr, 16, bytes.begin());
    return IpAddress::v6(bytes);
}

/// A socket that receives a message for each change of an address; -1 when there is none.
int open_netlink() {
    int const fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    sockaddr_nl groups{};
    groups.nl_family = AF_NETLINK;
    groups.nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
    if (fd < 0 || ::bind(fd, reinterpret_cast<sockaddr const*>(&groups), sizeof groups) == 0) return fd;
    ::close(fd);
    return -1;
}

}  // namespace

std::optional<std::vector<IpAddress>> interface_addresses() {
    std::vector<IpAddress> own;
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0) return std::nullopt;
    for (auto* at = list; at; at = at->ifa_next)
        if (auto const address = address_of(at->ifa_addr)) own.push_back(*address);
    ::freeifaddrs(list);
    return own;
}

AddressWatch::AddressWatch(asio::io_context& io, std::function<bool()> changed)
    : io_(io), changed_(std::move(changed)), timer_(io) {
    if (int const fd = open_netlink(); fd >= 0) netlink_.emplace(io.get_executor(), fd);
}

void AddressWatch::start() {
    asio::co_spawn(io_.get_executor(), run(), asio::detached);
}

void AddressWatch::stop() {
    asio::post(io_, [this] {
        stopped_ = true;
        netlink_.reset();
        timer_.cancel();
    });
}

awaitable<void> AddressWatch::run() {
    while (!stopped_) {
        bool const changed = co_await wait();   // g++ 12 traps on an await inside &&
        bool const noted = !changed || stopped_ || changed_();
        if (!noted) netlink_.reset();   // no message comes when they can be read: the timer looks again
    }
}

/// True when the addresses are to be looked at.
awaitable<bool> AddressWatch::wait() {
    if (netlink_) {
        auto [error] = co_await netlink_->async_wait(Descriptor::wait_read, as_values);
        if (error && error != asio::error::operation_aborted) netlink_.reset();
        co_return !error && drain();
    }
    constexpr milliseconds look_again{2'000};
    timer_.expires_after(look_again);
    auto [error] = co_await timer_.async_wait(as_values);
    co_return !error;
}

/// A message tells only that something changed: its contents may be incomplete (ENOBUFS). The timer takes over once netlink
/// fails.
bool AddressWatch::drain() {
    char sink[8192];
    for (;;) {
        if (::recv(netlink_->native_handle(), sink, sizeof sink, 0) > 0 || errno == EINTR || errno == ENOBUFS) continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK) netlink_.reset();
        return true;
    }
}

}  // namespace garner::net
