// Connections to origins count on the client that causes them: streams of HTTP/2, tunnels in them, and fills without their client.
#include <atomic>

#include "hostile/hostile.hpp"
#include "story/rest.hpp"
#include "support/raw_http2.hpp"

namespace garner::test {

namespace {

using namespace h2;   // the frames

struct Seats : ::testing::Test {
    ~Seats() override { is_over = true; }

    /// An accelerator with TLS, or without `origin_of_all` a forward proxy with TLS.
    Proxy::Setup setup(std::string const& patch, std::string const& origin_of_all) {
        return {.patch = patch,
                .tls = R"({"certificates": [{"chain": ")" + dir.write("chain.pem", certificate.pem()) + R"(", "key": ")" +
                       dir.write("key.pem", certificate.key_pem()) + R"("}]})",
                .secure_origin = origin_of_all};
    }
    /// All paths without a response of their own take `time`, or until is_over.
    void be_slow(Millis time) {
        origin.otherwise([this, time](Hand& hand) {
            auto const now = ++running;
            for (auto seen = most.load(); now > seen && !most.compare_exchange_weak(seen, now);) {
            }
            auto const until = std::chrono::steady_clock::now() + time;
            while (!is_over && std::chrono::steady_clock::now() < until) pause_for(5ms);
            --running;
            hand.answer(no_store("slow"));
        });
    }
    /// The connection that has seen the proxy listen has a seat for a moment.
    static bool is_free(Proxy const& proxy) {
        return eventually([&] { return proxy.stats()["connections"]["now"] == 0; });
    }
    static std::string path(std::uint32_t stream) { return "/slow/" + std::to_string(stream); }

    Certificate certificate{"localhost"};
    TempDir dir;
    std::atomic<bool> is_over{false};
    std::atomic<std::size_t> running{0}, most{0};
    Origin origin;
};

constexpr char const* one_seat = R"({"limits": {"connections_per_client": 1}, "deadlines": {"first_byte": "2s"}})";

}   // namespace

TEST_F(Seats, a_page_of_a_hundred_parts_loads_over_one_connection_with_four_fetches_at_a_time) {
    be_slow(20ms);
    Proxy proxy(setup(R"({"limits": {"connections_per_client": 4}})", origin.url()));
    ASSERT_TRUE(is_free(proxy));
    RawHttp2 client(proxy.secure());
    for (std::uint32_t stream = 1; stream < 200; stream += 2) ASSERT_TRUE(client.request(stream, path(stream)));
    EXPECT_TRUE(client.receives("slow", 100));
    EXPECT_EQ(most, 4u);
}

TEST_F(Seats, a_hit_needs_none_and_a_fetch_waits_for_one) {
    origin.answer("/page", fresh("stored"));
    origin.answer("/other", no_store("later"));
    auto held = origin.hold("/held");
    Proxy proxy(setup(R"({"limits": {"connections_per_client": 1}})", origin.url()));
    ASSERT_TRUE(is_free(proxy));
    RawHttp2 client(proxy.secure());
    ASSERT_TRUE(client.request(1, "/page"));
    ASSERT_TRUE(client.receives("stored", 1));
    ASSERT_TRUE(client.request(3, "/held"));
    held.arrived();
    ASSERT_TRUE(client.request(5, "/other") && client.request(7, "/page"));
    EXPECT_TRUE(client.receives("stored", 2));
    EXPECT_EQ(origin.requests("/other"), 0u);
    held.release(no_store("here"));
    EXPECT_TRUE(client.receives("later", 1));
}

TEST_F(Seats, a_fetch_that_gets_none_is_refused_at_the_deadline) {
    origin.answer("/other", no_store("later"));
    auto live = origin.hold("/live");
    Proxy proxy(setup(one_seat, origin.url()));
    ASSERT_TRUE(is_free(proxy));
    RawHttp2 client(proxy.secure());
    ASSERT_TRUE(client.request(1, "/live"));
    live.head({.fields = {{"Cache-Control", "no-store"}}, .delimited = Delimited::by_chunks});
    live.piece("live");
    ASSERT_TRUE(client.receives("live", 1));
    ASSERT_TRUE(client.request(3, "/other"));
    auto const refused = proxy.logged("/other");
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(refused.tag, "TCP_DENIED");
    EXPECT_EQ(origin.requests("/other"), 0u);
    ASSERT_TRUE(client.receives("too many connections and fetches", 1));
    live.finish();
    ASSERT_TRUE(client.request(5, "/other"));
    EXPECT_TRUE(client.receives("later", 1));
}

TEST_F(Seats, a_waiting_stream_that_is_reset_leaves_the_queue) {
    origin.answer("/other", no_store("later"));
    auto held = origin.hold("/held");
    Proxy proxy(setup(R"({"limits": {"connections_per_client": 1}})", origin.url()));
    ASSERT_TRUE(is_free(proxy));
    RawHttp2 client(proxy.secure());
    ASSERT_TRUE(client.request(1, "/held"));
    held.arrived();
    ASSERT_TRUE(client.request(3, "/gone"));
    ASSERT_TRUE(client.request(5, "/other") && client.send(frame(rst_frame, no_flag, 3, number(8))));
    EXPECT_TRUE(eventually([&] { return proxy.stats()["http2"]["streams"]["now"] == 2; }));
    held.release(no_store("here"));
    EXPECT_TRUE(client.receives("later", 1));
    EXPECT_EQ(origin.requests("/gone"), 0u);
}

TEST_F(Seats, streams_leave_some_for_clients_that_connect) {
    origin.answer("/page", fresh("x"));
    be_slow(60s);
    constexpr std::size_t connections = 5, streams = 40, limit = 40;
    Proxy proxy(setup(R"({"limits": {"connections_max": 40}})", origin.url()));
    Client early(proxy, origin);
    ASSERT_EQ(early.get("/page").body(), "x");
    auto const before = descriptors(proxy);
    std::vector<std::unique_ptr<RawHttp2>> attackers;
    for (std::size_t i = 0; i < connections; ++i) {
        attackers.push_back(std::make_unique<RawHttp2>(proxy.secure()));
        for (std::uint32_t stream = 1; stream < 2 * streams; stream += 2)
            ASSERT_TRUE(attackers.back()->request(stream, path(100 * static_cast<std::uint32_t>(i) + stream)));
    }
    EXPECT_TRUE(eventually([&] { return running >= limit / 2; }));
    pause_for(2500ms);   // one connection may begin sixteen fetches a second to one origin
    EXPECT_LE(most, limit * 3 / 4 + connections);
    EXPECT_LE(descriptors(proxy), before + limit + 2 * connections);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(get(proxy, origin, "/page").body(), "x") << i;
    is_over = true;
    for (auto& attacker : attackers) EXPECT_TRUE(attacker->receives("slow", streams));
}

TEST_F(Seats, a_tunnel_over_http2_takes_one) {
    Proxy proxy(setup(R"({"limits": {"connections_per_client": 1}})", ""));
    Origin second;
    ASSERT_TRUE(is_free(proxy));
    RawHttp2 client(proxy.secure());
    auto const open = [&](std::uint32_t stream, std::string const& authority) {
        return client.send(
            frame(headers_frame, end_headers, stream, field_block({{":method", "CONNECT"}, {":authority", authority}})));
    };
    ASSERT_TRUE(open(1, origin.authority()));
    ASSERT_TRUE(eventually([&] { return origin.connections() == 1; }));
    ASSERT_TRUE(open(3, second.authority()));
    pause_for(300ms);
    EXPECT_EQ(second.connections(), 0u);
    ASSERT_TRUE(client.send(frame(rst_frame, no_flag, 1, number(8))));
    EXPECT_TRUE(eventually([&] { return second.connections() == 1; }));
}

TEST_F(Seats, a_fill_keeps_the_one_of_a_client_that_has_left) {
    origin.answer("/page", fresh("x"));
    auto film = origin.hold("/film");
    Proxy proxy(R"({"limits": {"connections_per_client": 2}, "workers": 1})");
    ASSERT_TRUE(is_free(proxy));
    Client leader(proxy, origin);
    Client follower(proxy, origin);
    auto const first = leader.get("/film");
    film.arrived();
    auto const second = follower.get("/film");
    film.head(fresh(""), 8);
    film.piece("half");
    EXPECT_TRUE(eventually([&] { return proxy.stats()["connections"]["now"] == 2; }));
    leader.reset();
    EXPECT_TRUE(eventually([&] { return proxy.stats()["connections"]["now"] == 1; }));
    EXPECT_EQ(get(proxy, origin, "/page").status(), 429) << "the connection to the origin is open for the follower";
    film.piece("half");
    film.finish();
    EXPECT_EQ(second.body(), "halfhalf");
    EXPECT_TRUE(eventually([&] { return get(proxy, origin, "/page").status() == 200; }));
}

}   // namespace garner::test
