// Hosts with a network of their own on one machine: network namespaces on one switch, whose cables can be pulled.
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

/// Leaves the test out where hosts cannot be made, unless $GARNER_NEED_REAL says that they must be.
#define NEEDS_HOSTS()                                                                        \
    if (auto const why_not = ::garner::test::Network::missing(); !why_not.empty()) {         \
        if (std::getenv("GARNER_NEED_REAL")) FAIL() << "no network namespaces: " << why_not; \
        GTEST_SKIP() << "no network namespaces: " << why_not;                                \
    }

/// A network namespace. It has no name in the system, and is gone when the last socket and process in it are: whatever
/// becomes of the test, nothing stays behind.
class Namespace {
public:
    Namespace();   // throws Trouble when it may not be made
    Namespace(Namespace const&) = delete;
    ~Namespace();

    /// Runs `work` on a thread in there and waits for it: sockets that it opens and programs that it starts stay there.
    /// What it throws is thrown here.
    template <class Work>
    auto run(Work const& work) const -> std::invoke_result_t<Work>;
    /// Where `ip` and `nsenter --net=` find it as long as this lives.
    std::string path() const;

private:
    void run_there(std::function<void()> const& work) const;
    int fd_ = -1;
};

/// A machine with one address and one cable.
class Host {
public:
    /// The `number`th of a network with this switch; see Network::add_host().
    Host(Namespace const& hub, unsigned number);
    std::string const& address() const { return address_; }
    template <class Work>
    auto run(Work const& work) const {
        return inside_.run(work);
    }
    /// Pulls the cable out at the switch: what is sent in either direction is lost without a word.
    void cut();
    void heal();

private:
    Namespace const& hub_;
    std::string const port_;   // of the switch
    std::string const address_;
    Namespace inside_;
};

/// A switch and the hosts on it, 10.9.0.1 onwards; nothing else is reached from there.
class Network {
public:
    /// Why hosts cannot be made here; empty when they can.
    static std::string missing();

    Network();
    Host& add_host();

private:
    Namespace hub_;
    std::list<Host> hosts_;   // a list: they stay where they are
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
