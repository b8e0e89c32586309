// Garner and Squid as peers of each other, and under load.
#include <atomic>
#include <mutex>
#include <thread>

#include "story/mesh/squid.hpp"

namespace garner::test {

struct SquidAndUs : MeshWithSquid {
    SquidAndUs() {
        origin.otherwise([](Hand& hand) { hand.answer(fresh("at " + hand.request().head.target())); });
    }
    static std::string path(int number) { return "/page/" + std::to_string(number); }
};

TEST_F(SquidAndUs, are_siblings_of_each_other) {
    Proxy proxy(ours({squid_as("sibling")}));
    Squid squid(squid_with(us_as("sibling", proxy)));
    auto theirs = squid.client();
    Client client(proxy, origin);
    // Each fetches its half from the origin, then the other half from its peer.
    for (int i = 0; i < 20; ++i) {
        if (i % 2)
            EXPECT_EQ(client.get(path(i)).body(), "at " + path(i));
        else
            EXPECT_EQ(theirs.get(origin.url(path(i))).body(), "at " + path(i));
    }
    for (int i = 0; i < 20; ++i) {
        if (i % 2)
            EXPECT_EQ(theirs.get(origin.url(path(i))).body(), "at " + path(i));
        else
            EXPECT_EQ(client.get(path(i)).body(), "at " + path(i));
    }
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(origin.requests(path(i)), 1u) << i;
        if (i % 2)
            EXPECT_EQ(squid.logged(path(i), "TCP_MISS").front().hierarchy, "SIBLING_HIT") << i;
        else
            EXPECT_EQ(hierarchy(proxy.logged(path(i))), "SIBLING_HIT") << i;
    }
    EXPECT_EQ(squid.peer().status(), "Up");
    EXPECT_EQ(squid.peer().number("PINGS ACKED"), 20);
}

// Squid answers 403 to a request it has forwarded itself: Garner tries another source then.
TEST_F(SquidAndUs, are_parents_of_each_other_without_a_loop_that_a_client_sees) {
    Proxy proxy(ours({squid_as("parent")}));
    Squid squid(squid_with(us_as("parent", proxy)));
    auto theirs = squid.client();
    Client client(proxy, origin);
    for (int i = 0; i < 20; ++i) {
        auto reply = i % 2 ? client.get(path(i)) : theirs.get(origin.url(path(i)));
        EXPECT_EQ(reply.status(), 200) << i;
        EXPECT_EQ(reply.body(), "at " + path(i)) << i;
    }
    for (int i = 0; i < 20; ++i) EXPECT_EQ(origin.requests(path(i)), 1u) << i;
}

TEST_F(SquidAndUs, many_clients_of_both_at_a_time_make_one_request_each_to_the_origin_or_two) {
    Proxy proxy(ours({squid_as("sibling")}, {{"workers", 2}}));
    Squid squid(squid_with(us_as("sibling", proxy) + "collapsed_forwarding on\n"));
    std::vector<Client> clients;
    for (int i = 0; i < 20; ++i) clients.push_back(i % 2 ? Client(proxy) : squid.client());
    for (int round = 0; round < 10; ++round) {
        std::vector<Reply> replies;
        for (auto& client : clients) replies.push_back(client.get(origin.url(path(round))));
        for (auto& reply : replies) EXPECT_EQ(reply.body(), "at " + path(round));
        EXPECT_LE(origin.requests(path(round)), 2u);
    }
}

// Client threads that each send a limited number of requests, and count responses other than 200 with the right body.
struct ManyClients {
    ManyClients(SquidAndUs const& scene, Client const& client, int threads, int requests) {
        for (int t = 0; t < threads; ++t)
            threads_.emplace_back([this, &scene, client = Client(client), t, requests]() mutable {
                for (int i = 0; i < requests && !stopping_; ++i) {
                    auto const path = SquidAndUs::path(t * 100'000 + i);
                    auto reply = client.get(scene.origin.url(path));
                    bool const good = reply.status() == 200 && reply.body() == "at " + path;
                    ++(good ? good_ : bad_);
                    auto const seen = std::to_string(reply.status()) + " " + reply.detail() + reply.trouble();
                    if (!good) note(path + ": " + seen);
                    if (!good) client.close();
                }
            });
    }
    ~ManyClients() { stop(); }
    void stop() {
        stopping_ = true;
        for (auto& thread : threads_)
            if (thread.joinable()) thread.join();
    }
    int good() const { return good_; }
    int bad() const { return bad_; }
    std::string notes() {
        std::lock_guard const lock(mutex_);
        return notes_;
    }

private:
    void note(std::string const& line) {
        std::lock_guard const lock(mutex_);
        notes_ += line + "\n";
    }

    std::mutex mutex_;
    std::string notes_;
    std::atomic<bool> stopping_{false};
    std::atomic<int> good_{0}, bad_{0};
    std::vector<std::thread> threads_;
};

TEST_F(SquidAndUs, a_parent_killed_under_load_is_noticed_by_nobody) {
    auto squid = std::make_unique<Squid>(squid_with());
    Proxy proxy(ours({squid_as("parent")}, {{"workers", 2}}));
    ManyClients load(*this, Client(proxy), 8, 5'000);
    ASSERT_TRUE(eventually([&] { return load.good() > 100; }));
    squid->end(SIGKILL);
    auto const at_its_death = load.good();
    ASSERT_TRUE(eventually([&] { return load.good() > at_its_death + 200; }));
    squid = std::make_unique<Squid>(squid_with());
    EXPECT_TRUE(eventually([&] { return !squid->log().empty(); }));
    load.stop();
    EXPECT_EQ(load.bad(), 0) << load.notes();
}

// A response that has begun cannot be replaced: these bodies are so short that they arrive with their heads.
TEST_F(SquidAndUs, a_sibling_killed_under_load_is_noticed_by_nobody) {
    auto squid = std::make_unique<Squid>(squid_with());
    Proxy proxy(ours({squid_as("sibling", {{"proxy_only", true}})}, {{"workers", 2}}));
    auto warm = squid->client();
    for (int t = 0; t < 8; ++t)
        for (int i = 0; i < 150; ++i) EXPECT_EQ(warm.get(origin.url(path(t * 100'000 + i))).status(), 200);
    ManyClients load(*this, Client(proxy), 8, 150);
    ASSERT_TRUE(eventually([&] { return load.good() > 100; }));
    squid->end(SIGKILL);
    EXPECT_TRUE(eventually([&] { return load.good() + load.bad() == 8 * 150; }));
    load.stop();
    EXPECT_EQ(load.bad(), 0) << load.notes();
}

TEST_F(SquidAndUs, our_death_is_noticed_by_none_of_its_clients) {
    auto proxy = std::make_unique<Proxy>(ours({}));
    Squid squid(squid_with(us_as("sibling", *proxy)));
    EXPECT_EQ(squid.client().get(origin.url(path(0))).status(), 200);
    proxy->stop();
    for (int i = 1; i < 4; ++i) EXPECT_EQ(squid.client().get(origin.url(path(i))).status(), 200) << i;
}

}   // namespace garner::test
