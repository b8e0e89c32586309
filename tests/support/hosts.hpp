// Hosts with their own network on one machine: network namespaces on one switch, with cables that can be cut.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>

#include "support/wire.hpp"

namespace garner::test {

/// Skips the test if hosts cannot be created, unless $GARNER_NEED_REAL requires it.
#define NEEDS_HOSTS()                                                                        \
    if (auto const why_not = ::garner::test::Network::missing(); !why_not.empty()) {         \
        if (std::getenv("GARNER_NEED_REAL")) FAIL() << "no network namespaces: " << why_not; \
        GTEST_SKIP() << "no network namespaces: " << why_not;                                \
    }

/// A network namespace. It has no name in the system, and disappears with the
/// last socket and process in it, so that nothing is left even after a crash.
class Namespace {
public:
    Namespace();   // throws Trouble if it is not permitted
    Namespace(Namespace const&) = delete;
    ~Namespace();

    /// Runs `work` on a thread in this namespace and waits for it: its sockets
    /// and child processes stay there. Rethrows its exceptions.
    template <class Work>
    auto run(Work const& work) const -> std::invoke_result_t<Work>;
    /// The path for `ip` and `nsenter --net=`, valid during this object's lifetime.
    std::string path() const;

private:
    void run_there(std::function<void()> const& work) const;
    int fd_ = -1;
};

/// A host with one address and one cable.
class Host {
public:
    /// The host `number` of a network with this switch; see Network::add_host().
    Host(Namespace const& hub, unsigned number);
    std::string const& address() const { return address_; }
    template <class Work>
    auto run(Work const& work) const {
        return inside_.run(work);
    }
    /// Cuts the cable at the switch: packets in either direction are lost silently.
    void cut();
    void heal();
    /// Limits its line, by `tc`. Throws Trouble if the system cannot do that. Call it once.
    void limit(unsigned uplink_mbit, unsigned downlink_mbit);

private:
    Namespace const& hub_;
    std::string const port_;   // port of the switch
    std::string const address_;
    Namespace inside_;
};

/// A switch and its hosts, 10.9.0.1 onwards, without any other connection.
class Network {
public:
    /// The reason why hosts cannot be created; empty if they can.
    static std::string missing();

    Network();
    Host& add_host();

private:
    Namespace hub_;
    std::list<Host> hosts_;   // a list, because references stay valid
};

// ---- templates ----

template <class Work>
auto Namespace::run(Work const& work) const -> std::invoke_result_t<Work> {
    using Result = std::invoke_result_t<Work>;
    if constexpr (std::is_void_v<Result>) {
        run_there(work);
    } else {
        std::optional<Result> result;
        run_there([&] { result.emplace(work()); });
        return std::move(*result);
    }
}

}   // namespace garner::test
