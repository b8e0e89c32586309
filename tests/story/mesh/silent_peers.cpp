// Peers that accept connections and do not answer requests: the next source gets the request, too.
#include <atomic>

#include "story/mesh/squid.hpp"

namespace garner::test {

namespace {

using Clock = std::chrono::steady_clock;

std::string state_of(Proxy const& proxy, std::string const& name) {
    auto const stats = proxy.stats();
    for (auto const& peer : stats["peers"])
        if (peer["name"] == name) return peer["state"];
    return "";
}

/// A parent whose process is frozen while its kernel accepts connections.
struct Frozen {
    std::atomic<bool> is_frozen{true};
    std::atomic<int> waiting{0};
    Origin server;   // last member: its threads run until it is destroyed
    Frozen() {
        server.otherwise([this](Hand& hand) {
            ++waiting;
            while (is_frozen) pause_for(5ms);
            --waiting;
            hand.answer(fresh("thawed"));
        });
    }
    ~Frozen() { is_frozen = false; }
};

json parent(std::string const& name, std::uint16_t port, json const& more = json::object()) {
    json all{{"name", name},  {"host", "127.0.0.1"}, {"http_port", port},
             {"icp_port", 0}, {"no_query", true},    {"first_byte", "300ms"}};
    all.merge_patch(more);
    return all;
}

std::string with(std::vector<json> const& peers, json const& more = json::object()) {
    json patch{{"workers", 1},
               {"peers", peers},
               {"direct", {{"never", json::array({"all"})}}},
               {"access", json::parse(R"([{"allow": {"destination": ["127.0.0.0/8", "::1"], "port": ["1-65535"]}}])")}};
    patch.merge_patch(more);
    return patch.dump();
}

struct SilentPeers : ::testing::Test {
    Origin origin;
    Frozen frozen;
    Origin good;
    SilentPeers() {
        good.otherwise([](Hand& hand) { hand.answer(fresh("good")); });
    }
};

}   // namespace

TEST_F(SilentPeers, one_of_two_in_turns_costs_one_short_wait_and_is_used_again_when_it_answers) {
    json const in_turns{{"round_robin", true}};
    Proxy proxy(with({parent("frozen", frozen.server.port(), in_turns), parent("good", good.port(), in_turns)}));
    auto const begun = Clock::now();
    for (int i = 0; i < 6; ++i) {
        auto const reply = get(proxy, origin, "/" + std::to_string(i));
        ASSERT_TRUE(reply.ends_within(3s)) << i;
        EXPECT_EQ(reply.body(), "good") << i;
    }
    EXPECT_LT(Clock::now() - begun, 3s) << "each second one waits otherwise";
    EXPECT_TRUE(eventually([&] { return state_of(proxy, "frozen") == "dead"; })) << state_of(proxy, "frozen");
    EXPECT_TRUE(proxy.says("does not respond"));
    EXPECT_EQ(state_of(proxy, "good"), "alive");
    frozen.is_frozen = false;
    EXPECT_TRUE(eventually([&] { return state_of(proxy, "frozen") == "alive"; }, 25s)) << "the probes have asked it";
    for (int i = 0; i < 2; ++i) get(proxy, origin, "/after" + std::to_string(i)).body();
    EXPECT_THAT(frozen.server.requests("/after0") + frozen.server.requests("/after1") +
                    frozen.server.requests(origin.url("/after0")) + frozen.server.requests(origin.url("/after1")),
                1u);
}

TEST_F(SilentPeers, a_slow_response_is_used_and_does_not_count_against_the_peer) {
    auto const slow = [](std::string const& body) {
        return [body](Hand& hand) {
            pause_for(1s);
            hand.answer(fresh(body));
        };
    };
    good.otherwise(slow("good"));
    Origin other;
    other.otherwise(slow("other"));
    Proxy proxy(with({parent("good", good.port(), {{"default", true}}), parent("other", other.port())}));
    for (int i = 0; i < 3; ++i) {
        auto const path = "/" + std::to_string(i);
        EXPECT_EQ(get(proxy, origin, path).body(), "good") << "it was asked 300 ms before the other";
        auto const line = proxy.logged(path);
        EXPECT_EQ(hierarchy(line), "DEFAULT_PARENT");
        EXPECT_EQ(peer(line), "good");
    }
    EXPECT_EQ(state_of(proxy, "good"), "alive");
    EXPECT_EQ(state_of(proxy, "other"), "alive");
}

TEST_F(SilentPeers, one_that_answers_late_is_used_if_the_others_fail) {
    good.otherwise([](Hand& hand) { hand.answer({.status = 502}); });
    Proxy proxy(with({parent("frozen", frozen.server.port(), {{"default", true}}), parent("good", good.port())}));
    auto const reply = get(proxy, origin, "/page");
    ASSERT_TRUE(eventually([&] { return good.connections() > 0; }));
    pause_for(100ms);
    frozen.is_frozen = false;
    EXPECT_EQ(reply.body(), "thawed");
    EXPECT_EQ(state_of(proxy, "frozen"), "alive");
}

TEST_F(SilentPeers, a_client_without_a_seat_for_both_gets_the_response_of_the_next_one) {
    Proxy proxy(with({parent("frozen", frozen.server.port(), {{"default", true}}), parent("good", good.port())},
                     {{"limits", {{"connections_per_client", 1}}}}));
    Client client(proxy);
    EXPECT_EQ(client.get(origin.url("/page")).body(), "good");
    EXPECT_TRUE(eventually([&] { return state_of(proxy, "frozen") != "alive"; }));
}

TEST_F(SilentPeers, the_only_source_is_waited_for) {
    Proxy proxy(with({parent("frozen", frozen.server.port())}));
    auto const reply = get(proxy, origin, "/page");
    EXPECT_FALSE(reply.begins_within(1s));
    frozen.is_frozen = false;
    EXPECT_EQ(reply.body(), "thawed");
    EXPECT_EQ(state_of(proxy, "frozen"), "alive");
}

TEST_F(SilentPeers, a_client_that_leaves_ends_the_requests_to_all_of_them) {
    Frozen other;
    Proxy proxy(with({parent("frozen", frozen.server.port()), parent("other", other.server.port())}));
    {
        Client client(proxy);
        client.get(origin.url("/page"));
        ASSERT_TRUE(eventually([&] { return frozen.waiting == 1 && other.waiting == 1; }));
    }
    EXPECT_TRUE(eventually([&] { return !proxy.log().empty(); })) << "the request has ended";
    EXPECT_EQ(state_of(proxy, "frozen"), "alive") << "no source has answered";
}

TEST_F(SilentPeers, a_tunnel_is_opened_through_the_next_one) {
    Proxy next(R"({"access": [{"allow": {"destination": ["127.0.0.0/8", "::1"], "port": ["1-65535"]}}]})");
    origin.answer("/page", no_store("page"));
    Proxy proxy(with({parent("frozen", frozen.server.port(), {{"default", true}}), parent("next", next.port())}));
    for (int i = 0; i < 2; ++i) {
        auto const begun = Clock::now();
        Client client(proxy);
        ASSERT_EQ(client.connect_to("localhost:" + std::to_string(origin.port())).status(), 200);
        EXPECT_LT(Clock::now() - begun, 3s);
        EXPECT_EQ(client.get("/page").body(), "page");
    }
    EXPECT_THAT(state_of(proxy, "frozen"), AnyOf("suspect", "dead"));
}

struct SilentSquid : MeshWithSquid {};

TEST_F(SilentSquid, a_frozen_parent_costs_short_waits_and_is_used_again_when_it_goes_on) {
    origin.otherwise([](Hand& hand) { hand.answer(fresh("page")); });
    Squid squid(squid_with());
    Proxy proxy(ours({squid_as("parent", {{"icp_port", 0}, {"no_query", true}, {"default", true}})}));
    EXPECT_EQ(get(proxy, origin, "/first").body(), "page");
    EXPECT_EQ(peer(proxy.logged("/first")), "squid");
    squid.child().signal(SIGSTOP);
    for (int i = 0; i < 4; ++i) {
        auto const reply = get(proxy, origin, "/" + std::to_string(i));
        ASSERT_TRUE(reply.ends_within(5s));
        EXPECT_EQ(reply.body(), "page");
    }
    EXPECT_TRUE(eventually([&] { return state_of(proxy, "squid") == "dead"; })) << state_of(proxy, "squid");
    squid.child().signal(SIGCONT);
    EXPECT_TRUE(eventually([&] { return state_of(proxy, "squid") == "alive"; }, 25s)) << state_of(proxy, "squid");
    EXPECT_EQ(get(proxy, origin, "/last").body(), "page");
    EXPECT_EQ(peer(proxy.logged("/last")), "squid");
}

}   // namespace garner::test
