#include "io/service_manager.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace garner::io {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

/// Sets a variable of the environment until the end of the test.
class Variable {
public:
    Variable(char const* name, std::string const& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
    ~Variable() { ::unsetenv(name_); }
    Variable(Variable const&) = delete;

private:
    char const* name_;
};

/// The manager's end of the protocol.
class Manager {
public:
    explicit Manager(std::string const& name) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, name.data(), name.size());
        if (name.front() == '@') address.sun_path[0] = '\0';
        auto const size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
        EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    }
    ~Manager() { ::close(socket_); }
    Manager(Manager const&) = delete;

    /// The next message; empty if there is none.
    std::string heard() const {
        char text[512];
        auto const size = ::recv(socket_, text, sizeof(text), MSG_DONTWAIT);
        return size < 0 ? "" : std::string(text, static_cast<std::size_t>(size));
    }

private:
    int const socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
};

std::string own_id() { return std::to_string(::getpid()); }

TEST(ServiceManager, receives_each_state_as_one_datagram) {
    auto const path = (std::filesystem::temp_directory_path() / ("garner-notify-" + own_id())).string();
    Manager const manager(path);
    Variable const socket("NOTIFY_SOCKET", path);
    ServiceManager const told;
    told.ready("listens on 127.0.0.1:3128");
    EXPECT_EQ(manager.heard(), "READY=1\nSTATUS=listens on 127.0.0.1:3128");
    told.reloading();
    EXPECT_THAT(manager.heard(), MatchesRegex("RELOADING=1\nMONOTONIC_USEC=[1-9][0-9]*"));
    told.stopping(10s);
    auto const stopping = manager.heard();
    EXPECT_THAT(stopping, HasSubstr("STOPPING=1\n"));
    EXPECT_THAT(stopping, HasSubstr("\nEXTEND_TIMEOUT_USEC=10000000"));
    told.feed_watchdog();
    EXPECT_EQ(manager.heard(), "WATCHDOG=1");
    EXPECT_EQ(manager.heard(), "");
    std::filesystem::remove(path);
}

TEST(ServiceManager, may_have_an_abstract_socket_or_none) {
    auto const name = "@garner-notify-" + own_id();
    Manager const manager(name);
    ServiceManager().feed_watchdog();
    EXPECT_EQ(manager.heard(), "");
    Variable const socket("NOTIFY_SOCKET", name);
    ServiceManager().feed_watchdog();
    EXPECT_EQ(manager.heard(), "WATCHDOG=1");
}

TEST(ServiceManager, watches_the_process_that_it_names) {
    EXPECT_EQ(ServiceManager().watchdog(), std::nullopt);
    Variable const time("WATCHDOG_USEC", "30000000");
    EXPECT_EQ(ServiceManager().watchdog(), 30s);
    {
        Variable const id("WATCHDOG_PID", own_id());
        EXPECT_EQ(ServiceManager().watchdog(), 30s);
    }
    Variable const other("WATCHDOG_PID", "1");
    EXPECT_EQ(ServiceManager().watchdog(), std::nullopt);
}

TEST(ServiceManager, passes_sockets_to_the_process_that_it_names) {
    Variable const count("LISTEN_FDS", "0");
    EXPECT_THAT(inherited_sockets(), IsEmpty());
    Variable const two("LISTEN_FDS", "2");
    Variable const other("LISTEN_PID", "1");
    EXPECT_THAT(inherited_sockets(), IsEmpty());
    Variable const id("LISTEN_PID", own_id());
    EXPECT_THAT(inherited_sockets(), ElementsAre(3, 4));
    Variable const wrong("LISTEN_FDS", "-1");
    EXPECT_THAT(inherited_sockets(), IsEmpty());
}

TEST(Watchdog, is_fed_at_half_of_its_time) {
    Watchdog watchdog(30s);
    SteadyTime const start = steady_now();
    EXPECT_TRUE(watchdog.is_due(start, true));
    EXPECT_FALSE(watchdog.is_due(start + 14s, true));
    EXPECT_TRUE(watchdog.is_due(start + 15s, true));
    EXPECT_FALSE(watchdog.is_due(start + 16s, true));
}

TEST(Watchdog, is_not_fed_while_one_event_loop_does_not_run) {
    Watchdog watchdog(30s);
    SteadyTime const start = steady_now();
    ASSERT_TRUE(watchdog.is_due(start, true));
    EXPECT_FALSE(watchdog.is_due(start + 15s, false));
    EXPECT_TRUE(watchdog.is_due(start + 29s, true)) << "late is better than a restart";
}

TEST(Watchdog, is_never_due_without_a_time) { EXPECT_FALSE(Watchdog({}).is_due(steady_now(), true)); }

}   // namespace
}   // namespace garner::io
