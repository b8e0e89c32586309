// The addresses of this machine, and when they change.
#pragma once
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <functional>
#include <optional>
#include <vector>

#include "net/asio.hpp"
#include "util/ip.hpp"

namespace garner::net {

/// The addresses of all interfaces; nothing when the system does not tell them, as without a free descriptor.
std::optional<std::vector<IpAddress>> interface_addresses();

/// Calls `changed` on the worker of `io` each time an interface may have got or lost an address: told by netlink, or every
/// 2 s where netlink is not to be had, or once `changed` returned false because it could not read the addresses.
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

}  // namespace garner::net
