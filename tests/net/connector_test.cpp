// Connecting: which address wins, when an attempt is given up, and the reported errors.
#include "net/connector.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>

#include "net/ip_text.hpp"
#include "net/listener.hpp"
#include "net/loop.hpp"
#include "support/fake_dns.hpp"

namespace garner::net {
namespace {

using testing::HasSubstr;

struct ConnectorScene {
    ConnectorScene() {
        options.attempt_delay = milliseconds{250};
        options.timeout = seconds{10};
    }
    void name(char const* host, std::vector<Address> addresses) { cache.store(host, std::move(addresses), seconds{60}); }

    Connected connect(std::string host, std::uint16_t port, AddressFilter allowed = {}, ConnectStop* stop = nullptr) {
        Connector connector(loop.io, loop.wheel, resolver, options);
        ConnectTarget target{.host = std::move(host), .port = port, .more_attempts = more_attempts};
        auto begun = steady_now();
        auto result = loop.run(connector.connect(target, allowed, stop));
        EXPECT_GE(result.took, milliseconds{0});
        EXPECT_LE(result.took, std::chrono::ceil<milliseconds>(steady_now() - begun));
        EXPECT_EQ(result.transport == nullptr, result.failure != ConnectFailure::none);
        EXPECT_EQ(result.reason.empty(), result.failure == ConnectFailure::none) << result.reason;
        return result;
    }

    test::FakeDns dns;
    Loop loop;
    ResolverOptions dns_options = [this] {
        ResolverOptions made;
        made.hosts_file = "";
        made.servers = {dns.server()};
        return made;
    }();
    NameCache cache{dns_options};
    Resolver resolver{loop.io, loop.wheel, cache, dns_options};
    ConnectorOptions options;
    MoreAttempts* more_attempts = nullptr;
};

/// Addresses of loopback on one port that answer no connection.
struct SilentAddresses {
    explicit SilentAddresses(int count) {
        for (int i = 0; i < count; ++i) {
            auto const text = "127.0.3." + std::to_string(i + 1);
            holes.push_back(std::make_unique<Blackhole>(text, port()));
            addresses.push_back(ip(text.c_str()));
        }
    }
    std::uint16_t port() const { return holes.empty() ? 0 : holes.front()->port(); }
    std::vector<std::unique_ptr<Blackhole>> holes;
    std::vector<Address> addresses;
};

std::ptrdiff_t open_descriptors() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

/// Permits so many attempts beside the first one.
struct Permits : MoreAttempts {
    explicit Permits(int some) : left(some) {}
    bool enter() override { return left > 0 && left-- > 0; }
    void leave() override { ++left; }
    int left;
};

TEST(Connector, connects_to_a_literal_without_nagle) {
    ConnectorScene scene;
    Listener listener;
    auto result = scene.connect("127.0.0.1", listener.port());
    ASSERT_TRUE(result.transport) << result.reason;
    EXPECT_EQ(result.address, ip("127.0.0.1"));
    EXPECT_FALSE(result.transport->secure());
    int no_delay = 0;
    socklen_t size = sizeof no_delay;
    ::getsockopt(result.transport->descriptor(), IPPROTO_TCP, TCP_NODELAY, &no_delay, &size);
    EXPECT_EQ(no_delay, 1);
}

TEST(Connector, connects_over_ipv6) {
    if (!has_ipv6()) GTEST_SKIP() << "no IPv6 here";
    ConnectorScene scene;
    Listener listener("::1");
    EXPECT_EQ(scene.connect("::1", listener.port()).address, ip("::1"));
    EXPECT_EQ(scene.connect("localhost", listener.port()).address, ip("::1"));
}

TEST(Connector, a_name_is_resolved_and_a_bad_one_said) {
    ConnectorScene scene;
    Listener listener;
    scene.dns.set("origin.test", {.v4 = {"127.0.0.1"}});
    EXPECT_EQ(scene.connect("origin.test", listener.port()).failure, ConnectFailure::none);
    auto gone = scene.connect("gone.test", listener.port());
    EXPECT_EQ(gone.failure, ConnectFailure::dns);
    EXPECT_EQ(gone.reason, "no such host");
}

TEST(Connector, a_closed_port_is_refused) {
    ConnectorScene scene;
    std::uint16_t port = Listener().port();
    auto result = scene.connect("127.0.0.1", port);
    EXPECT_EQ(result.failure, ConnectFailure::refused);
    EXPECT_EQ(result.reason, "127.0.0.1: Connection refused");
    EXPECT_EQ(result.address, ip("127.0.0.1"));
}

TEST(Connector, an_address_without_a_route_is_unreachable) {
    ConnectorScene scene;
    EXPECT_EQ(scene.connect("255.255.255.255", 80).failure, ConnectFailure::unreachable);
}

TEST(Connector, the_next_address_is_tried_at_once_when_one_fails) {
    ConnectorScene scene;
    scene.options.attempt_delay = seconds{20};
    Listener listener("127.0.0.3");
    scene.name("origin.test", {ip("127.0.0.1"), ip("127.0.0.2"), ip("127.0.0.3")});
    auto result = scene.connect("origin.test", listener.port());
    EXPECT_EQ(result.address, ip("127.0.0.3"));
    EXPECT_LT(result.took, scene.options.timeout / 2);
}

TEST(Connector, a_dead_first_address_costs_the_attempt_delay_only) {
    ConnectorScene scene;
    Blackhole dead("127.0.0.1");
    Listener alive("127.0.0.2", dead.port());
    scene.name("origin.test", {ip("127.0.0.1"), ip("127.0.0.2")});
    auto result = scene.connect("origin.test", dead.port());
    EXPECT_EQ(result.address, ip("127.0.0.2"));
    EXPECT_GE(result.took, milliseconds{250});
    EXPECT_LT(result.took, scene.options.timeout / 2);
    scene.loop.run_for(milliseconds{50});   // the losing attempt ends by itself
}

TEST(Connector, sixteen_silent_addresses_cost_four_descriptors) {
    ConnectorScene scene;
    scene.options.attempt_delay = milliseconds{10};
    scene.options.timeout = seconds{2};
    SilentAddresses const dead(16);
    scene.name("origin.test", dead.addresses);
    std::ptrdiff_t at_once = 0;
    auto const before = open_descriptors();
    Timer timer(scene.loop.io.get_executor(), milliseconds{400});
    timer.async_wait([&](Error) { at_once = open_descriptors() - before; });
    std::size_t tried = 0;
    AddressFilter count = [&](Address const&) -> char const* { return ++tried, nullptr; };
    EXPECT_EQ(scene.connect("origin.test", dead.port(), count).failure, ConnectFailure::timed_out);
    EXPECT_EQ(at_once, 4);
    EXPECT_EQ(tried, 16u) << "a quarter of the timeout for each four";
}

TEST(Connector, an_address_behind_four_silent_ones_is_reached_after_a_quarter_of_the_timeout) {
    ConnectorScene scene;
    scene.options.attempt_delay = milliseconds{10};
    scene.options.timeout = seconds{4};
    SilentAddresses dead(4);
    Listener alive("127.0.0.2", dead.port());
    dead.addresses.push_back(ip("127.0.0.2"));
    scene.name("origin.test", dead.addresses);
    auto const result = scene.connect("origin.test", dead.port());
    EXPECT_EQ(result.address, ip("127.0.0.2"));
    EXPECT_GE(result.took, milliseconds{1'000});
    EXPECT_LT(result.took, milliseconds{3'500});
}

TEST(Connector, an_attempt_that_fails_keeps_no_descriptor) {
    ConnectorScene scene;
    scene.options.timeout = seconds{1};
    SilentAddresses dead(1);
    for (int i = 1; i <= 10; ++i) dead.addresses.push_back(ip(("127.0.4." + std::to_string(i)).c_str()));
    scene.name("origin.test", dead.addresses);
    std::ptrdiff_t at_once = 0;
    auto const before = open_descriptors();
    Timer timer(scene.loop.io.get_executor(), milliseconds{600});
    timer.async_wait([&](Error) { at_once = open_descriptors() - before; });
    EXPECT_EQ(scene.connect("origin.test", dead.port()).failure, ConnectFailure::timed_out);
    EXPECT_EQ(at_once, 1);
}

TEST(Connector, attempts_that_are_not_permitted_take_turns) {
    ConnectorScene scene;
    scene.options.attempt_delay = milliseconds{10};
    scene.options.timeout = seconds{4};
    SilentAddresses dead(1);
    Listener alive("127.0.0.2", dead.port());
    dead.addresses.push_back(ip("127.0.0.2"));
    scene.name("origin.test", dead.addresses);
    Permits none(0);
    scene.more_attempts = &none;
    auto const late = scene.connect("origin.test", dead.port());
    EXPECT_EQ(late.address, ip("127.0.0.2"));
    EXPECT_GE(late.took, milliseconds{1'000});
    Permits one(1);
    scene.more_attempts = &one;
    auto const soon = scene.connect("origin.test", dead.port());
    EXPECT_EQ(soon.address, ip("127.0.0.2"));
    EXPECT_LT(soon.took, milliseconds{1'000});
    EXPECT_EQ(one.left, 1) << "given back";
}

TEST(Connector, the_patience_with_an_attempt_lets_all_addresses_have_their_time) {
    constexpr milliseconds timeout{10'000};
    EXPECT_EQ(Connector::patience(timeout, 4, 16), milliseconds{2'500});
    EXPECT_EQ(Connector::patience(timeout, 4, 5), milliseconds{2'500});
    EXPECT_EQ(Connector::patience(timeout, 1, 16), milliseconds{625});
    EXPECT_EQ(Connector::patience(timeout, 1, 2), milliseconds{2'500});
}

TEST(Connector, families_take_turns_and_ipv6_begins) {
    if (!has_ipv6()) GTEST_SKIP() << "no IPv6 here";
    ConnectorScene scene;
    std::vector<std::string> seen;
    scene.name("origin.test", {ip("127.0.0.1"), ip("127.0.0.2"), ip("::1"), ip("127.0.0.3")});
    std::uint16_t port = Listener().port();
    AddressFilter note = [&](Address const& address) -> char const* {
        seen.push_back(address.to_string());
        return nullptr;
    };
    EXPECT_EQ(scene.connect("origin.test", port, note).failure, ConnectFailure::refused);
    EXPECT_THAT(seen, testing::ElementsAre("::1", "127.0.0.1", "127.0.0.2", "127.0.0.3"));
}

TEST(Connector, a_dead_ipv6_falls_back_to_ipv4) {
    if (!has_ipv6()) GTEST_SKIP() << "no IPv6 here";
    ConnectorScene scene;
    Blackhole dead("::1");
    Listener alive("127.0.0.1", dead.port());
    auto result = scene.connect("localhost", dead.port());
    EXPECT_EQ(result.address, ip("127.0.0.1"));
    EXPECT_LT(result.took, scene.options.timeout / 2);
}

TEST(Connector, a_silent_origin_is_given_up_at_the_timeout) {
    ConnectorScene scene;
    scene.options.timeout = milliseconds{600};
    Blackhole dead("127.0.0.1");
    Blackhole dead_too("127.0.0.2", dead.port());
    scene.name("origin.test", {ip("127.0.0.1"), ip("127.0.0.2")});
    auto result = scene.connect("origin.test", dead.port());
    EXPECT_EQ(result.failure, ConnectFailure::timed_out);
    EXPECT_EQ(result.reason, "no response within 600 ms");
    EXPECT_GE(result.took, milliseconds{600});
    EXPECT_LT(result.took, milliseconds{1'200});
    scene.loop.run_for(milliseconds{50});
}

TEST(Connector, forbidden_addresses_are_never_connected_to) {
    ConnectorScene scene;
    Listener forbidden("127.0.0.1");
    AddressFilter filter = [](Address const& address) -> char const* {
        return address == ip("127.0.0.1") ? "loopback is closed" : nullptr;
    };
    auto refused = scene.connect("127.0.0.1", forbidden.port(), filter);
    EXPECT_EQ(refused.failure, ConnectFailure::forbidden);
    EXPECT_EQ(refused.reason, "127.0.0.1: loopback is closed");

    Listener open("127.0.0.2", forbidden.port());
    scene.name("origin.test", {ip("127.0.0.1"), ip("127.0.0.2")});
    EXPECT_EQ(scene.connect("origin.test", forbidden.port(), filter).address, ip("127.0.0.2"));

    ::fcntl(forbidden.descriptor(), F_SETFL, O_NONBLOCK);
    EXPECT_EQ(::accept(forbidden.descriptor(), nullptr, nullptr), -1);
}

TEST(Connector, what_an_origin_said_outweighs_what_was_forbidden) {
    ConnectorScene scene;
    std::uint16_t port = Listener().port();
    scene.name("origin.test", {ip("127.0.0.1"), ip("127.0.0.2")});
    AddressFilter filter = [](Address const& address) -> char const* { return address == ip("127.0.0.2") ? "closed" : nullptr; };
    EXPECT_EQ(scene.connect("origin.test", port, filter).failure, ConnectFailure::refused);
}

TEST(Connector, a_hundred_addresses_are_not_all_tried) {
    ConnectorScene scene;
    std::vector<Address> many;
    for (int i = 1; i <= 100; ++i) many.push_back(asio::ip::make_address("127.0.1." + std::to_string(i)));
    scene.name("origin.test", many);
    std::size_t seen = 0;
    AddressFilter count = [&](Address const&) -> char const* {
        ++seen;
        return "no";
    };
    EXPECT_EQ(scene.connect("origin.test", 80, count).failure, ConnectFailure::forbidden);
    EXPECT_EQ(seen, Connector::attempts_max);
}

TEST(Connector, no_descriptors_left_is_told_apart) {
    ConnectorScene scene;
    Listener listener;
    // UBSan opens a pipe when it first sees a type. A failure before
    // the limit makes it see all types, and the limit is lowered as late as possible.
    std::uint16_t closed = Listener().port();
    EXPECT_EQ(scene.connect("127.0.0.1", closed).failure, ConnectFailure::refused);
    rlimit before{};
    ::getrlimit(RLIMIT_NOFILE, &before);
    AddressFilter exhaust = [&](Address const&) -> char const* {
        rlimit none = before;
        none.rlim_cur = 3;
        ::setrlimit(RLIMIT_NOFILE, &none);
        return nullptr;
    };
    auto result = scene.connect("127.0.0.1", listener.port(), exhaust);
    ::setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_EQ(result.failure, ConnectFailure::no_descriptors);
    EXPECT_THAT(result.reason, HasSubstr("Too many open files"));
    EXPECT_EQ(scene.connect("127.0.0.1", listener.port()).failure, ConnectFailure::none);
}

TEST(Connector, can_be_stopped_while_it_connects) {
    ConnectorScene scene;
    scene.options.timeout = seconds{20};
    Blackhole dead;
    ConnectStop stop;
    Timer timer(scene.loop.io.get_executor(), milliseconds{50});
    timer.async_wait([&](Error) { stop.request(); });
    auto result = scene.connect("127.0.0.1", dead.port(), {}, &stop);
    EXPECT_EQ(result.failure, ConnectFailure::cancelled);
    EXPECT_LT(result.took, milliseconds{2'000});
}

TEST(Connector, can_be_stopped_while_it_resolves_and_before_it_begins) {
    ConnectorScene scene;
    scene.dns.set("silent.test", {.kind = test::FakeDns::Name::silent});
    ConnectStop stop;
    Timer timer(scene.loop.io.get_executor(), milliseconds{50});
    timer.async_wait([&](Error) { stop.request(); });
    auto result = scene.connect("silent.test", 80, {}, &stop);
    EXPECT_EQ(result.failure, ConnectFailure::cancelled);
    EXPECT_LT(result.took, milliseconds{2'000});
    EXPECT_EQ(scene.connect("127.0.0.1", 80, {}, &stop).failure, ConnectFailure::cancelled);
}

TEST(Connector, unfinished_attempts_may_outlive_everything_but_the_worker) {
    Blackhole dead;
    ConnectorScene scene;
    Connector connector(scene.loop.io, scene.loop.wheel, scene.resolver, scene.options);
    ConnectTarget target{.host = "127.0.0.1", .port = dead.port()};
    AddressFilter all;
    bool has_ended = false;
    auto const end = [&has_ended](std::exception_ptr, Connected) { has_ended = true; };
    asio::co_spawn(scene.loop.io, connector.connect(target, all), end);
    scene.loop.run_for(milliseconds{100});
    EXPECT_FALSE(has_ended);
    // Destroys the loop together with the attempt and its coroutine; sanitizers detect errors.
}

}   // namespace
}   // namespace garner::net
