// The line is shared: users get equal parts, hits are free, caps hold.
#include <fstream>
#include <thread>

#include "story/scene.hpp"
#include "support/fake_peer.hpp"
#include "support/hosts.hpp"
#include "support/places.hpp"
#include "support/programs.hpp"
#include "support/websocket.hpp"

namespace garner::test {

namespace {

double seconds_of(std::function<void()> const& what) {
    auto const begun = std::chrono::steady_clock::now();
    what();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

Answer stored(std::size_t bytes) { return {.fields = {{"Cache-Control", "max-age=1000"}}, .body = pattern(bytes)}; }
Answer not_stored(std::size_t bytes) { return {.fields = {{"Cache-Control", "no-store"}}, .body = pattern(bytes)}; }

std::uint64_t on_line(Proxy const& proxy, char const* way) { return proxy.stats()["share"]["bytes"][way].get<std::uint64_t>(); }

/// Bytes that have been sent to the address.
std::uint64_t received_by(Proxy const& proxy, std::string const& address) {
    auto const stats = proxy.stats();
    for (auto const& subject : stats["share"]["subjects"])
        if (subject["name"] == address) return subject["down_bytes"].get<std::uint64_t>();
    return 0;
}

}   // namespace

TEST(Share, a_body_takes_the_time_that_the_line_needs_and_a_hit_none) {
    Origin origin;
    origin.answer("/stored", stored(1'500'000));
    origin.answer("/passed", not_stored(1'500'000));
    Proxy proxy(R"({"share": {"down": "1 MB/s"}})");
    for (char const* path : {"/stored", "/passed"}) {
        auto const took = seconds_of([&] { EXPECT_EQ(get(proxy, origin, path).body().size(), 1'500'000u); });
        EXPECT_GT(took, 0.9) << path;
        EXPECT_LT(took, 10) << path;
    }
    EXPECT_TRUE(eventually([&] { return on_line(proxy, "down") > 3'000'000u; }));   // counted when it has been sent
    auto const before = on_line(proxy, "down");
    EXPECT_LT(before, 3'010'000u);
    auto const took = seconds_of([&] { EXPECT_TRUE(get(proxy, origin, "/stored").hit()); });
    EXPECT_LT(took, 0.7);
    EXPECT_EQ(on_line(proxy, "down"), before) << "a hit is free";
    auto const share = proxy.stats()["share"];
    EXPECT_EQ(share["limit_bytes"]["down"], 1'000'000);
    EXPECT_EQ(share["limit_bytes"]["up"], 0);
    ASSERT_EQ(share["subjects"].size(), 1u) << share;
    EXPECT_EQ(share["subjects"][0]["name"], "127.0.0.1");
    EXPECT_EQ(share["subjects"][0]["down_bytes"], before);
}

TEST(Share, an_upload_takes_the_time_that_the_line_needs) {
    Origin origin;
    origin.answer("/take", not_stored(1));
    Proxy proxy(R"({"share": {"up": "1 MB/s"}})");
    auto const took = seconds_of([&] {
        Client client(proxy, origin);
        EXPECT_EQ(client.post("/take", pattern(1'500'000)).status(), 200);
    });
    EXPECT_GT(took, 0.9);
    EXPECT_TRUE(eventually([&] { return on_line(proxy, "up") > 1'500'000u; }));
}

TEST(Share, a_tunnel_takes_the_time_that_the_line_needs) {
    Origin origin;
    origin.answer("/passed", not_stored(1'500'000));
    Proxy proxy(R"({"share": {"down": "1 MB/s"},
                    "access": [{"allow": {"destination": ["127.0.0.0/8"], "port": ["1-65535"]}}]})");
    Client client(proxy);
    ASSERT_EQ(client.connect_to(origin.authority()).status(), 200);
    auto const took = seconds_of([&] {
        client.raw("GET /passed HTTP/1.1\r\nHost: " + origin.authority() + "\r\n\r\n");
        EXPECT_EQ(client.expect().body().size(), 1'500'000u);
    });
    EXPECT_GT(took, 0.9);
    EXPECT_TRUE(eventually([&] { return on_line(proxy, "down") > 1'500'000u; })) << "counted while the tunnel is open";
}

TEST(Share, a_WebSocket_is_counted_while_it_is_open) {
    Origin origin;
    origin.by_hand("/chat", websocket_echo);
    Proxy proxy(R"({"share": {"down": "10 MB/s"}})");
    Client client(proxy, origin);
    auto const reply = client.get("/chat", {{"Upgrade", "websocket"},
                                            {"Connection", "Upgrade"},
                                            {"Sec-WebSocket-Version", "13"},
                                            {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}});
    ASSERT_EQ(reply.status(), 101);
    auto const word = pattern(50'000);
    for (int i = 0; i < 10; ++i) {
        client.raw(websocket_frame(word, true));
        EXPECT_EQ(take_websocket_frame(client.wire()).size(), word.size());
    }
    EXPECT_TRUE(eventually([&] { return on_line(proxy, "down") > 500'000u && on_line(proxy, "up") > 500'000u; }));
    client.close();
}

TEST(Share, a_background_refresh_is_paid_by_the_client_that_was_answered) {
    Origin origin;
    origin.answer(
        "/page",
        {.fields = {{"Cache-Control", "max-age=1, stale-while-revalidate=600"}, {"Age", "5"}, {"ETag", R"("a")"}}, .body = "old"});
    Proxy proxy(R"({"share": {"down": "100 MB/s"}})");
    Client first(proxy, origin), second(proxy, origin);
    first.from("127.0.0.2");
    second.from("127.0.0.3");
    EXPECT_EQ(first.get("/page").body(), "old");
    origin.answer("/page", stored(300'000));
    EXPECT_EQ(second.get("/page").body(), "old");
    auto const paid_by_second = [&] {
        auto const stats = proxy.stats();
        std::size_t bytes = 0;
        for (auto const& subject : stats["share"]["subjects"])
            if (subject["name"] == "127.0.0.3") bytes = subject["down_bytes"].get<std::size_t>();
        return bytes;
    };
    EXPECT_TRUE(eventually([&] { return paid_by_second() > 300'000u; }));
}

TEST(Share, bytes_of_a_sibling_are_free) {
    Origin origin;
    FakePeer sibling{Icp::hit};
    origin.otherwise([](Hand& hand) { hand.answer(fresh("of the origin")); });
    sibling.http().otherwise([](Hand& hand) { hand.answer(fresh(pattern(300'000))); });
    nlohmann::json const peer{{"name", "sibling"},
                              {"type", "sibling"},
                              {"host", "127.0.0.1"},
                              {"http_port", sibling.http().port()},
                              {"icp_port", sibling.icp()}};
    nlohmann::json patch{{"share", {{"down", "100 MB/s"}}}};
    patch["peers"].push_back(peer);
    Proxy proxy(patch.dump());
    // On a busy machine a reply of the sibling may be late.
    EXPECT_TRUE(
        eventually([&, i = 0]() mutable { return get(proxy, origin, "/" + std::to_string(i++)).body().size() == 300'000u; }));
    get(proxy, origin, "/last").body();
    proxy.logged("/last");
    EXPECT_LT(on_line(proxy, "down"), 100'000u);
}

TEST(Share, a_wait_for_the_line_is_no_silence_of_the_origin_or_the_fill) {
    Origin origin;
    origin.answer("/stored", stored(4'000'000));
    origin.answer("/passed", not_stored(4'000'000));
    for (char const* path : {"/stored", "/passed"}) {
        Proxy proxy(R"({"share": {"down": "1 kB/s"}, "deadlines": {"body": "1s", "fill": "1s"}})");
        auto reply = get(proxy, origin, path);
        EXPECT_TRUE(eventually([&] { return proxy.stats()["share"]["waiting"]["down"] == 1; }));
        pause_for(Millis{3'000});
        proxy.reconfigure(R"({"share": {"down": 0}})");
        proxy.signal(SIGHUP);
        EXPECT_EQ(reply.body().size(), 4'000'000u) << path;
    }
}

TEST(Share, a_reload_changes_the_line_under_running_transfers) {
    Origin origin;
    origin.answer("/passed", not_stored(4'000'000));
    Proxy proxy(R"({"share": {"down": "100 kB/s"}})");
    auto reply = get(proxy, origin, "/passed");
    EXPECT_FALSE(reply.ends_within(Millis{500}));
    proxy.reconfigure(R"({"share": {"down": 0}})");
    proxy.signal(SIGHUP);
    EXPECT_TRUE(reply.ends_within(Millis{20'000}));
    EXPECT_EQ(reply.body().size(), 4'000'000u);
}

TEST(Share, a_transfer_that_waits_ends_with_the_proxy) {
    Origin origin;
    origin.answer("/passed", not_stored(4'000'000));
    origin.answer("/stored", stored(4'000'000));
    Proxy proxy(R"({"share": {"down": "10 kB/s"}, "deadlines": {"drain": "200ms", "drain_idle": "0s"}})");
    auto passed = get(proxy, origin, "/passed"), filled = get(proxy, origin, "/stored");
    EXPECT_TRUE(eventually([&] { return proxy.stats()["share"]["waiting"]["down"] == 2; }));
    proxy.stop();
}

TEST(Share, a_client_that_disconnects_waits_no_longer) {
    Origin origin;
    origin.answer("/passed", not_stored(4'000'000));
    origin.answer("/stored", stored(4'000'000));
    Proxy proxy(R"({"share": {"down": "1 kB/s"}, "deadlines": {"abandoned": "100ms"}})");
    auto const waiting = [&] { return proxy.stats()["share"]["waiting"]["down"].get<int>(); };
    {
        auto passed = get(proxy, origin, "/passed"), filled = get(proxy, origin, "/stored");
        EXPECT_TRUE(eventually([&] { return waiting() == 2; }));
    }
    EXPECT_TRUE(eventually([&] { return waiting() == 0; }));
}

TEST(Share, a_user_with_twice_the_weight_has_twice_the_rate) {
    Origin origin;
    origin.answer("/large", not_stored(20'000'000));
    Proxy proxy(R"({"share": {"down": "3 MB/s", "weights": [{"weight": 2, "source": ["127.0.0.3"]}]}})");
    std::vector<std::thread> users;
    for (auto const* address : {"127.0.0.2", "127.0.0.2", "127.0.0.2", "127.0.0.3"})   // connections do not count
        users.emplace_back([&proxy, &origin, address] {
            auto const reply = Client(proxy, origin).from(address).get("/large");
            EXPECT_EQ(reply.body().size(), 20'000'000u);
        });
    auto const moved = [&proxy] { return std::pair(received_by(proxy, "127.0.0.2"), received_by(proxy, "127.0.0.3")); };
    // Credits are used up, and bytes are paid that the kernel had received first.
    EXPECT_TRUE(eventually([&] { return moved().first > 1'000'000 && moved().second > 2'000'000; }));
    auto const before = moved();
    pause_for(Millis{4'000});
    auto const after = moved();
    auto const light = static_cast<double>(after.first - before.first), heavy = static_cast<double>(after.second - before.second);
    EXPECT_NEAR(heavy / light, 2, 0.2);
    EXPECT_LT(light + heavy, 3'000'000 * 5) << "the line is the limit";
    proxy.reconfigure(R"({"share": {"down": 0}})");
    proxy.signal(SIGHUP);
    for (auto& user : users) user.join();
}

TEST(Share, an_upload_is_in_every_counter_while_it_runs) {
    constexpr std::size_t half = 2'000'000;
    Origin origin;
    origin.by_hand("/up", [](Hand& hand) {
        hand.read_body();
        hand.answer(no_store("thanks"));
    });
    Proxy proxy(R"({"share": {"up": "1 GB/s"}, "caps": [{"name": "cap", "up": "900 MB/s"}],
                    "quotas": [{"name": "quota", "bytes": "1 GB"}]})");
    Client client(proxy, origin);
    auto const reply = client.begin("POST", "/up", {{"Content-Length", std::to_string(2 * half)}});
    client.raw(std::string(half, 'x'));
    auto const counters = [&] {
        auto const stats = proxy.stats();
        return std::vector<std::pair<std::string, std::size_t>>{
            {"client", stats["client"]["received_bytes"]},
            {"origin", stats["origin"]["sent_bytes"]},
            {"line", stats["share"]["bytes"]["up"]},
            {"subject", stats["share"]["subjects"].empty() ? 0 : stats["share"]["subjects"][0]["up_bytes"].get<std::size_t>()},
            {"cap", stats["caps"][0]["up_bytes"]},
            {"quota", stats["quotas"].empty() ? 0 : stats["quotas"][0]["bytes"].get<std::size_t>()}};
    };
    for (std::size_t i = 0; i < counters().size(); ++i) {
        EXPECT_TRUE(eventually([&] { return counters()[i].second > half; })) << counters()[i].first << " " << counters()[i].second;
        EXPECT_LT(counters()[i].second, half + 10'000) << counters()[i].first;
    }
    auto const metrics = proxy.metrics();
    for (auto const* name :
         {"garner_client_received_bytes_total ", "garner_origin_sent_bytes_total ", "garner_share_bytes_total{direction=\"up\"} ",
          "garner_cap_up_bytes_total{cap=\"cap\"} ", "garner_quota_bytes_total{quota=\"quota\"} "}) {
        auto const at = metrics.find(std::string("\n") + name);
        ASSERT_NE(at, metrics.npos) << name;
        EXPECT_GT(std::stod(metrics.substr(at + 1 + std::string(name).size())), half) << name;
    }
    EXPECT_EQ(proxy.stats()["requests"]["total"], 0) << "the request is not over";
    client.raw(std::string(half, 'x'));
    EXPECT_EQ(reply.body(), "thanks");
}

TEST(Share, a_cap_holds_while_the_line_is_free) {
    Origin origin;
    origin.answer("/passed", not_stored(1'500'000));
    Proxy proxy(R"({"caps": [{"name": "slow", "url_contains": ["passed"], "down": "1 MB/s"}]})");
    auto const took = seconds_of([&] { EXPECT_EQ(get(proxy, origin, "/passed").body().size(), 1'500'000u); });
    EXPECT_GT(took, 0.9);
    auto const caps = proxy.stats()["caps"];
    ASSERT_EQ(caps.size(), 1u);
    EXPECT_EQ(caps[0]["name"], "slow");
    EXPECT_TRUE(eventually([&] { return proxy.stats()["caps"][0]["down_bytes"] > 1'500'000; }));
    auto const told =
        run({garner_binary(), "explain", origin.url("/passed"), "--config", proxy.dir().path("garner.json").string()});
    EXPECT_THAT(told.output, HasSubstr("127.0.0.1 has a share with weight 1 of: no limit"));
    EXPECT_THAT(told.output, HasSubstr("slow: 8 Mbit/s down, each: client"));
}

TEST(Share, a_client_is_not_slowed_by_the_cap_of_another_one_whose_fetch_it_joins) {
    Origin origin;
    origin.answer("/film", stored(1'500'000));
    Proxy proxy(R"({"caps": [{"name": "guests", "source": ["127.0.0.2"], "down": "300 KB/s"}]})");
    Client guest(proxy, origin), other(proxy, origin);
    guest.from("127.0.0.2");
    other.from("127.0.0.3");
    auto const of_guest = seconds_of([&] {
        auto const first = guest.get("/film");
        EXPECT_GE(first.early(10'000).size(), 10'000u);
        auto const of_other = seconds_of([&] { EXPECT_EQ(other.get("/film").body().size(), 1'500'000u); });
        EXPECT_LT(of_other, 2.5) << "5 s with the cap";
        EXPECT_EQ(first.body().size(), 1'500'000u);
    });
    EXPECT_GT(of_guest, 3.5) << "the cap of the guest holds";
    EXPECT_EQ(origin.requests("/film"), 1u);
    auto const counted = [&] { return proxy.stats()["caps"][0]["down_bytes"].get<double>(); };
    EXPECT_TRUE(eventually([&] { return counted() >= 1'500'000; }));
    EXPECT_LT(counted(), 1'510'000) << "each byte once";
}

TEST(Share, a_capped_client_has_its_cap_when_it_joins_a_fetch_without_one) {
    Origin origin;
    auto film = origin.hold("/film");
    Proxy proxy(R"({"caps": [{"name": "guests", "source": ["127.0.0.2"], "down": "400 KB/s"}]})");
    Client guest(proxy, origin), other(proxy, origin);
    guest.from("127.0.0.2");
    other.from("127.0.0.3");
    auto const first = other.get("/film");
    film.head(stored(0), 1'000'000);
    film.piece(std::string(100'000, 'x'));
    EXPECT_EQ(first.early(100'000).size(), 100'000u);
    auto const of_guest = seconds_of([&] {
        auto const second = guest.get("/film");
        EXPECT_GE(second.early(10'000).size(), 10'000u);
        film.piece(std::string(900'000, 'x'));
        EXPECT_EQ(first.body().size(), 1'000'000u);
        EXPECT_EQ(second.body().size(), 1'000'000u);
    });
    EXPECT_GT(of_guest, 1.5);
    EXPECT_EQ(origin.requests("/film"), 1u);
}

TEST(Share, users_with_1_to_16_connections_get_equal_shares) {
    NEEDS("python3");
    NEEDS_HOSTS();
    TempDir dir;
    auto const file = dir.path("figures.json").string();
    constexpr Millis limit{240'000};
    auto const done = run({"python3", source("tools/bench/share"), "--short", "--binary", garner_binary(), "--json", file}, limit);
    ASSERT_EQ(done.code, 0) << done.output << done.errors;
    std::ifstream text(file);
    auto const figures = nlohmann::json::parse(text);
    ASSERT_EQ(figures["shares"].size(), 2u);
    // On a busy machine, with sanitizers, the workers may be too late to use the whole line.
    for (auto const& row : figures["shares"]) {
        EXPECT_GT(row["jain"], 0.95) << row;
        EXPECT_GT(row["used"], 0.6) << row;
        EXPECT_LT(row["used"], 1.1) << row;
        EXPECT_GT(row["lone_used"], 0.5) << row;
    }
    EXPECT_GT(figures["caps"][0]["used"], 0.8);
    EXPECT_LT(figures["caps"][0]["used"], 1.05);
}

}   // namespace garner::test
