// Clients that occupy connections, descriptors and memory without sending requests.
#include <arpa/inet.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cstring>
#include <deque>
#include <thread>

#include "hostile/hostile.hpp"
#include "story/rest.hpp"

namespace garner::test {

namespace {

/// A connection to the proxy from another address of this machine.
Wire connect_from(char const* address, std::uint16_t port) {
    int const fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in own{}, proxy{};
    own.sin_family = proxy.sin_family = AF_INET;
    ::inet_pton(AF_INET, address, &own.sin_addr);
    ::inet_pton(AF_INET, "127.0.0.1", &proxy.sin_addr);
    proxy.sin_port = htons(port);
    bool const connected = ::bind(fd, reinterpret_cast<sockaddr*>(&own), sizeof own) == 0 &&
                           ::connect(fd, reinterpret_cast<sockaddr*>(&proxy), sizeof proxy) == 0;
    if (!connected) throw Trouble(std::string("connect: ") + std::strerror(errno));
    return Wire(fd);
}

std::vector<Wire> connect_many(char const* address, Proxy const& proxy, std::size_t count) {
    std::vector<Wire> wires;
    for (std::size_t i = 0; i < count; ++i) wires.push_back(connect_from(address, proxy.port()));
    return wires;
}

std::size_t closed_of(std::vector<Wire>& wires) {
    return static_cast<std::size_t>(std::ranges::count_if(wires, [](Wire& wire) { return wire.peer_closed(); }));
}

}   // namespace

TEST(Hostile, silent_connections_of_one_client_make_room_for_others) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy(R"({"limits": {"connections_max": 40}, "deadlines": {"head": "10m"}})");
    Client idle(proxy, origin);
    EXPECT_EQ(idle.get("/page").body(), "x");
    auto attacker = connect_many("127.0.0.2", proxy, 120);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(get(proxy, origin, "/page").body(), "x") << i;
    EXPECT_TRUE(eventually([&] { return closed_of(attacker) >= 80; }));
    EXPECT_EQ(idle.get("/page").body(), "x");
    EXPECT_EQ(idle.connections(), 1) << "the client with most connections loses some; the longest idle one keeps its own";
}

TEST(Hostile, half_a_head_holds_no_place_at_the_limit) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy(R"({"limits": {"connections_max": 20}, "deadlines": {"head": "10m"}, "workers": 1})");
    auto attacker = connect_many("127.0.0.2", proxy, 22);
    for (auto& wire : attacker) wire.send("GET / HTTP/1.1\r\nX: ");
    EXPECT_EQ(get(proxy, origin, "/page").body(), "x");
    EXPECT_TRUE(eventually([&] { return closed_of(attacker) > 0; }));
}

TEST(Hostile, a_request_in_progress_keeps_its_connection_at_the_limit) {
    Origin origin;
    auto held = origin.hold("/slow");
    Proxy proxy(R"({"limits": {"connections_max": 20}})");
    Client working(proxy, origin);
    auto reply = working.get("/slow");
    held.arrived();
    auto attacker = connect_many("127.0.0.2", proxy, 60);
    EXPECT_TRUE(eventually([&] { return closed_of(attacker) >= 30; }));
    held.release(no_store("here"));
    EXPECT_EQ(reply.body(), "here");
}

TEST(Hostile, a_new_connection_has_time_for_its_request_while_all_others_work) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    auto held = origin.hold("/slow");
    Proxy proxy(R"({"limits": {"connections_max": 20}, "deadlines": {"head": "10m"}, "workers": 1})");
    std::deque<Client> working;
    for (int i = 0; i < 20; ++i) working.emplace_back(proxy, origin).get("/slow");
    EXPECT_TRUE(eventually([&] { return proxy.stats()["connections"]["now"] == 20; }));
    auto late = connect_many("127.0.0.2", proxy, 2);   // as many as are accepted beyond the limit
    std::this_thread::sleep_for(200ms);
    auto& first = late.front();
    first.send("GET " + origin.url("/page") + " HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_TRUE(eventually([&] {
        first.receive(Millis{10});
        return first.buffer().starts_with("HTTP/1.1 200");
    })) << first.buffer();
    EXPECT_EQ(get(proxy, origin, "/page").body(), "x") << "one that stays silent gives way";
    held.release(no_store("here"));
}

TEST(Hostile, a_denied_client_keeps_no_connection) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy(R"({"access": [{"deny": {"url_contains": ["/denied"]}},
                               {"allow": {"destination": ["127.0.0.0/8"], "port": ["1-65535"]}}]})");
    Client attacker(proxy, origin);
    auto reply = attacker.get("/denied");
    EXPECT_EQ(reply.status(), 403);
    EXPECT_EQ(lower(reply.field("Connection")), "close");
    EXPECT_TRUE(attacker.closed_by_proxy());
    EXPECT_EQ(get(proxy, origin, "/page").body(), "x");
}

TEST(Hostile, unfinished_heads_have_one_budget) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy(R"({"limits": {"heads_max": "256 KiB"}, "deadlines": {"head": "10m"}, "workers": 1})");
    std::string const large = "GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(60'000, 'a');
    auto attacker = connect_many("127.0.0.2", proxy, 12);
    for (auto& wire : attacker) wire.send(large);
    auto const refused = [](Wire& wire) {
        wire.receive(Millis{10});
        return wire.buffer().starts_with("HTTP/1.1 431 ");
    };
    EXPECT_TRUE(eventually([&] { return std::ranges::count_if(attacker, refused) >= 8; }));
    Client victim(proxy, origin);
    for (int i = 0; i < 5; ++i)
        EXPECT_EQ(victim.get("/page", {{"Cookie", std::string(10'000, 'c')}}).body(), "x") << "a head smaller than the attacker's";
}

TEST(Hostile, idle_connections_to_origins_give_their_descriptors_to_clients) {
    std::vector<std::unique_ptr<Origin>> origins;
    Proxy proxy(R"({"workers": 1, "pool": {"idle_timeout": "10m"}})");
    Client attacker(proxy);
    for (int i = 0; i < 30; ++i) {
        origins.push_back(std::make_unique<Origin>());
        origins.back()->answer("/page", i == 0 ? fresh("x") : no_store("y"));
        attacker.get(origins.back()->url("/page")).body();
    }
    auto const used = descriptors_of(proxy.child().pid());
    rlimit const few{used + 1, used + 1};
    ASSERT_EQ(::prlimit(proxy.child().pid(), RLIMIT_NOFILE, &few, nullptr), 0);
    std::vector<Client> victims(10, Client(proxy, *origins.front()));
    for (auto& victim : victims) EXPECT_EQ(victim.get("/page").body(), "x");
}

TEST(Hostile, a_visitor_behind_a_terminator_on_this_machine_purges_nothing) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy(Proxy::Setup{.accelerates = origin.url()});
    Client victim("127.0.0.1", proxy.accelerator());
    EXPECT_EQ(victim.get("/page").body(), "x");
    Client attacker("127.0.0.1", proxy.accelerator());
    EXPECT_EQ(attacker.send("PURGE", "/page").status(), 403);
    EXPECT_TRUE(victim.get("/page").hit());
}

}   // namespace garner::test
