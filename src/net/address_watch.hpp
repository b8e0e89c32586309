// The addresses of this machine, and their changes.
#pragma once
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <functional>
#include <optional>
#include <vector>

#include "net/asio.hpp"
#include "util/ip.hpp"

namespace garner::net {

/// The addresses of all interfaces; nothing when the system call fails, for example without a free descriptor.
std::optional<std::vector<IpAddress>> interface_addresses();

/// Calls `changed` on the worker of `io` each time an interface may have gained or lost an address. Uses netlink, or a
/// timer of 2 s if netlink fails, or after `changed` returned false because it could not read the addresses.
class AddressWatch {
public:
    AddressWatch(asio::io_context& io, std::function<bool()> changed);
    /// From any thread, once.
    void start();
    /// From any thread; `changed` may still be called once.
    void stop();

private:
    using Descriptor = asio::posix::basic_stream_descriptor<Executor>;
    awaitable<void> run();
    awaitable<bool> wait();
    bool drain();

    asio::io_context& io_;
    std::function<bool()> changed_;
    Timer timer_;
    std::optional<Descriptor> netlink_;
    bool stopped_ = false;
};

}   // namespace garner::net
