#include "net/address_watch.hpp"

#include <ifaddrs.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>

#include "net/address.hpp"
#include "util/clock.hpp"

namespace garner::net {

namespace {

/// A socket that receives a message for each address change; -1 on failure.
int open_netlink() {
    int const fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    sockaddr_nl groups{};
    groups.nl_family = AF_NETLINK;
    groups.nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
    if (fd < 0 || ::bind(fd, reinterpret_cast<sockaddr const*>(&groups), sizeof groups) == 0) return fd;
    ::close(fd);
    return -1;
}

}   // namespace

std::optional<std::vector<IpAddress>> interface_addresses() {
    std::vector<IpAddress> own;
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0) return std::nullopt;
    for (auto* at = list; at; at = at->ifa_next) {
        auto const address = at->ifa_addr ? to_ip(*at->ifa_addr) : std::nullopt;
        if (address) own.push_back(*address);
    }
    ::freeifaddrs(list);
    return own;
}

AddressWatch::AddressWatch(asio::io_context& io, std::function<bool()> changed)
    : io_(io), changed_(std::move(changed)), timer_(io) {
    if (int const fd = open_netlink(); fd >= 0) netlink_.emplace(io.get_executor(), fd);
}

void AddressWatch::start() { asio::co_spawn(io_.get_executor(), run(), asio::detached); }

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
        if (!noted) netlink_.reset();   // no message comes when they become readable: the timer retries
    }
}

/// True when the addresses should be read again.
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

/// A message only signals a change: its contents may be incomplete (ENOBUFS). The timer takes over once netlink fails.
bool AddressWatch::drain() {
    char sink[8192];
    for (;;) {
        if (::recv(netlink_->native_handle(), sink, sizeof sink, 0) > 0 || errno == EINTR || errno == ENOBUFS) continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK) netlink_.reset();
        return true;
    }
}

}   // namespace garner::net
