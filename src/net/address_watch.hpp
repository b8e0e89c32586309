// The addresses of this machine, and when they change.
#pragma once
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <functional>
#include <optional>
#include <vector>

#include "net/asio.hpp"
#include "util/ip.hpp"

namespace garner::net {

/// The addresses of all interfaces; empty when the system does not say.
std::vector<IpAddress> interface_addresses();

/// Calls `changed` on the worker of `io` each time an interface may have got or lost an address: told by netlink, or every
/// 2 s where netlink is not to be had.
class AddressWatch {
public:
    AddressWatch(asio::io_context& io, std::function<void()> changed);
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
    std::function<void()> changed_;
    Timer timer_;
    std::optional<Descriptor> netlink_;
    bool stopped_ = false;
};

}  // namespace garner::net
