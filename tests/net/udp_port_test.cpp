#include "net/udp_port.hpp"

#include <gtest/gtest.h>

#include "loop.hpp"
#include "support/made.hpp"

namespace garner::net {
namespace {

IpEndpoint loopback(std::uint16_t port = 0) { return {IpAddress::v4(127, 0, 0, 1), port}; }

std::unique_ptr<UdpPort> open(Loop& loop, IpEndpoint const& at, bool shared = false) {
    return test::made(UdpPort::open(loop.io, at, shared));
}

/// Receives datagrams, and echoes them on request.
struct Ear {
    Ear(Loop& loop, IpEndpoint const& at, bool shared = false) : port(open(loop, at, shared)) {
        port->start(
            [](void* self, std::span<char const> datagram, IpEndpoint const& from) {
                static_cast<Ear*>(self)->take({datagram.data(), datagram.size()}, from);
            },
            this);
    }
    void take(std::string_view datagram, IpEndpoint const& from) {
        heard.emplace_back(datagram);
        last = from;
        if (echoes) port->send(datagram, from);
        if (stops) port->stop();
    }
    std::unique_ptr<UdpPort> port;
    std::vector<std::string> heard;
    IpEndpoint last;
    bool echoes = false, stops = false;
};

TEST(UdpPort, answers_go_back_to_where_a_datagram_came_from) {
    for (auto const& address : {IpAddress::v4(127, 0, 0, 1), *parse_ip("::1")}) {
        Loop loop;
        Ear server(loop, {address, 0}), client(loop, {address, 0});
        server.echoes = true;
        client.port->send("question", server.port->local());
        client.port->flush();
        loop.run_until([&] { return !client.heard.empty(); });
        EXPECT_EQ(client.heard, std::vector<std::string>{"question"});
        EXPECT_EQ(client.last, server.port->local());
        EXPECT_EQ(server.last, client.port->local());
    }
}

TEST(UdpPort, a_port_of_any_address_speaks_both_families) {
    Loop loop;
    Ear server(loop, {{}, 0});
    server.echoes = true;
    for (auto const& address : {IpAddress::v4(127, 0, 0, 1), *parse_ip("::1")}) {
        Ear client(loop, {address, 0});
        client.port->send("x", {address, server.port->local().port});
        client.port->flush();
        loop.run_until([&] { return !client.heard.empty(); });
        EXPECT_EQ(server.last, client.port->local());   // IPv4 addresses have a single form
        client.port->stop();
        loop.run_for(milliseconds{1});
    }
}

TEST(UdpPort, nothing_leaves_before_the_flush_and_all_of_it_then) {
    Loop loop;
    Ear server(loop, loopback());
    auto client = open(loop, loopback());
    for (int i = 0; i < 10; ++i) client->send(std::to_string(i), server.port->local());
    loop.run_for(milliseconds{20});
    EXPECT_TRUE(server.heard.empty());
    for (int i = 10; i < 100; ++i) client->send(std::to_string(i), server.port->local());
    client->flush();
    loop.run_until([&] { return server.heard.size() == 100; });
    for (int i = 0; i < 100; ++i) EXPECT_EQ(server.heard[i], std::to_string(i));
    EXPECT_EQ(client->dropped.value(), 0u);
}

TEST(UdpPort, a_turn_reads_one_batch_and_lets_others_run) {
    Loop loop;
    Ear server(loop, loopback());
    auto client = open(loop, loopback());
    for (std::size_t i = 0; i < 3 * UdpPort::batch; ++i) client->send("x", server.port->local());
    client->flush();
    while (server.heard.size() < 3 * UdpPort::batch) {
        auto const before = server.heard.size();
        loop.io.run_one_for(milliseconds{100});
        EXPECT_LE(server.heard.size() - before, UdpPort::batch);
    }
}

TEST(UdpPort, what_is_too_long_or_cannot_go_there_is_dropped_and_counted) {
    Loop loop;
    Ear server(loop, loopback());
    auto client = open(loop, loopback());
    auto const whole = std::string(UdpPort::datagram_max, 'w');
    client->send(whole + "x", server.port->local());
    client->send("to the other family", {*parse_ip("::1"), server.port->local().port});
    EXPECT_EQ(client->dropped.value(), 2u);
    client->send("to port 0", loopback(0));
    client->send(whole, server.port->local());
    client->flush();
    EXPECT_EQ(client->dropped.value(), 3u);
    loop.run_until([&] { return !server.heard.empty(); });
    EXPECT_EQ(server.heard, std::vector{whole});

    asio::ip::udp::socket other(loop.io, asio::ip::udp::v4());
    other.send_to(asio::buffer(whole + "x"), {asio::ip::make_address("127.0.0.1"), server.port->local().port});
    loop.run_until([&] { return server.port->oversized.value() == 1; });
    EXPECT_EQ(server.heard.size(), 1u);
}

TEST(UdpPort, one_that_nobody_reads_blocks_nobody) {
    Loop loop;
    auto silent = open(loop, loopback()), client = open(loop, loopback());
    auto const big = std::string(8 * KiB, 'x');
    auto const begun = steady_now();
    for (int i = 0; i < 10'000; ++i) client->send(big, silent->local());
    client->flush();
    EXPECT_LT(steady_now() - begun, seconds{10});
}

TEST(UdpPort, a_handler_may_stop_it) {
    Loop loop;
    Ear server(loop, loopback());
    server.stops = true;
    auto client = open(loop, loopback());
    for (int i = 0; i < 5; ++i) client->send("x", server.port->local());
    client->flush();
    loop.run_until([&] { return !server.heard.empty(); });
    loop.run_for(milliseconds{20});
    EXPECT_EQ(server.heard.size(), 1u);
}

TEST(UdpPort, workers_share_a_port_and_others_do_not) {
    Loop loop;
    Ear first(loop, loopback(), true);
    auto const at = first.port->local();
    auto const is_free = UdpPort::is_free(at).fault_text();
    EXPECT_NE(is_free.find("UDP " + at.text()), std::string::npos) << is_free;
    EXPECT_FALSE(UdpPort::open(loop.io, at, false));
    Ear second(loop, at, true);
    for (int i = 0; i < 64; ++i) {
        auto client = open(loop, loopback());
        client->send("x", at);
        client->flush();
    }
    loop.run_until([&] { return first.heard.size() + second.heard.size() == 64; });
    EXPECT_GT(first.heard.size(), 0u);
    EXPECT_GT(second.heard.size(), 0u);
}

TEST(UdpPort, the_fault_names_an_address_that_is_not_ours) {
    Loop loop;
    auto const fault = UdpPort::open(loop.io, {IpAddress::v4(192, 0, 2, 1), 3130}, false).fault_text();
    EXPECT_NE(fault.find("192.0.2.1:3130"), std::string::npos) << fault;
    EXPECT_TRUE(UdpPort::is_free(loopback()));
}

}   // namespace
}   // namespace garner::net
