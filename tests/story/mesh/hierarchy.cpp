// A hierarchy fetches once, remembers failures and detects loops, and serves its content when its uplink is down.
#include <algorithm>
#include <fstream>

#include "story/mesh/mesh.hpp"
#include "support/fake_dns.hpp"

namespace garner::test {

using Clock = std::chrono::steady_clock;

namespace {

/// `clients` per cache request one URL at the same time.
std::vector<Seen> ask_all_at_once(Host const& from, std::deque<CacheHost> const& caches, OriginHost const& origin,
                                  std::string const& path, unsigned clients) {
    std::vector<Seen> seen(caches.size() * clients);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < seen.size(); ++i)
        threads.emplace_back([&, i] { seen[i] = ask(from, caches[i % caches.size()], origin, path); });
    for (auto& thread : threads) thread.join();
    return seen;
}

void answer_slowly(OriginHost& origin, std::string const& path) {
    origin.origin().by_hand(path, [path](Hand& hand) {
        hand.read_body();
        pause_for(400ms);
        hand.answer(fresh(OriginHost::body_of(path)));
    });
}

/// Children that are siblings of each other, below some parents.
struct TwoLevels {
    TwoLevels(int parent_count, int child_count, std::string const& as_parent = "{}") {
        for (int i = 0; i < parent_count; ++i) parents.emplace_back(network.add_host());
        for (int i = 0; i < child_count; ++i) children.emplace_back(network.add_host());
        for (auto& child : children) {
            for (auto const& parent : parents) child.add_peer(parent, "parent", as_parent);
            for (auto const& other : children)
                if (&other != &child) child.add_peer(other, "sibling");
        }
        for (auto& parent : parents) parent.start();
        for (auto& child : children) child.start();
    }
    Network network;
    OriginHost origin{network.add_host()};
    Host& clients{network.add_host()};
    std::deque<CacheHost> parents, children;
};

/// Three caches in a row.
struct Chain {
    Network network;
    OriginHost origin{network.add_host()};
    Host& clients{network.add_host()};
    CacheHost top{network.add_host()}, middle{network.add_host()}, child{network.add_host()};
    Chain() {
        middle.add_peer(top, "parent");
        child.add_peer(middle, "parent");
    }
};

int status_of(Host const& from, CacheHost const& cache, std::string const& url) {
    return from.run([&] { return Client(cache.host().address(), CacheHost::port).get(url).status(); });
}

/// Connections refused by this host (RFC 4022, tcpOutRsts).
long refused_by(Host const& host) {
    return host.run([] {
        std::ifstream file("/proc/thread-self/net/snmp");
        std::string names, values;
        while (std::getline(file, names) && std::getline(file, values))
            if (names.starts_with("Tcp:")) break;
        std::istringstream name_words(names), value_words(values);
        for (std::string name, value; name_words >> name && value_words >> value;)
            if (name == "OutRsts") return std::stol(value);
        throw Trouble("no OutRsts in /proc/net/snmp");
    });
}

}   // namespace

TEST(MeshHierarchy, many_clients_of_many_children_cost_one_fetch) {
    NEEDS_HOSTS();
    TwoLevels mesh(1, 3);
    answer_slowly(mesh.origin, "/film");
    for (auto const& seen : ask_all_at_once(mesh.clients, mesh.children, mesh.origin, "/film", 4)) EXPECT_EQ(seen.wrong, "");
    EXPECT_EQ(mesh.origin.origin().requests("/film"), 1u);
}

TEST(MeshHierarchy, parents_of_one_group_share_the_urls_and_each_is_fetched_once) {
    NEEDS_HOSTS();
    // Without queries: a late reply on a busy machine would send a child to the other parent.
    TwoLevels mesh(2, 3, R"({"group": "top", "no_query": true})");
    for (int i = 0; i < 8; ++i) {
        auto const path = "/film/" + std::to_string(i);
        answer_slowly(mesh.origin, path);
        for (auto const& seen : ask_all_at_once(mesh.clients, mesh.children, mesh.origin, path, 2)) EXPECT_EQ(seen.wrong, "");
        EXPECT_EQ(mesh.origin.origin().requests(path), 1u) << path;
    }
    // The port of the origin is part of the URLs, so in one run of 128 all of these belong to the same parent.
    auto const is_idle = [](auto const& parent) { return parent.requests() == 0; };
    for (int i = 8; i < 40 && std::ranges::any_of(mesh.parents, is_idle); ++i)
        ask_all_at_once(mesh.clients, mesh.children, mesh.origin, "/film/" + std::to_string(i), 1);
    EXPECT_TRUE(std::ranges::none_of(mesh.parents, is_idle)) << "one parent got all requests";
}

TEST(MeshHierarchy, a_name_that_is_not_known_is_asked_for_once_at_each_level) {
    NEEDS_HOSTS();
    Chain chain;
    std::vector<std::unique_ptr<FakeDns>> servers;
    for (auto* cache : {&chain.top, &chain.middle, &chain.child}) {
        servers.push_back(cache->host().run([] { return std::make_unique<FakeDns>(); }));
        cache->start(R"({"dns": {"servers": [")" + servers.back()->server() + R"("]}})");
    }
    auto const asked = [&] {
        std::vector<int> queries;
        for (auto& server : servers) queries.push_back(server->queries("nowhere.test").udp);
        return queries;
    };
    EXPECT_GE(status_of(chain.clients, chain.child, "http://nowhere.test/page"), 500);
    auto const first = asked();
    for (auto queries : first) EXPECT_LE(queries, 2) << "A and AAAA";
    for (auto* cache : {&chain.child, &chain.middle, &chain.top})
        for (auto page : {"page", "other"})
            EXPECT_GE(status_of(chain.clients, *cache, std::string("http://nowhere.test/") + page), 500);
    // The second URL may query servers that the first did not reach; the third uses negative entries.
    for (auto queries : asked()) EXPECT_LE(queries, 2) << "A and AAAA, and no more";
}

TEST(MeshHierarchy, an_origin_that_refuses_is_tried_once_at_each_level) {
    NEEDS_HOSTS();
    Chain chain;
    for (auto* cache : {&chain.top, &chain.middle, &chain.child}) cache->start();
    auto const url = "http://" + chain.origin.host().address() + ":1234/page";
    auto const before = refused_by(chain.origin.host());
    EXPECT_GE(status_of(chain.clients, chain.child, url), 500);
    auto const first = refused_by(chain.origin.host()) - before;
    EXPECT_GE(first, 1);
    EXPECT_LE(first, 3);
    for (int i = 0; i < 10; ++i) EXPECT_GE(status_of(chain.clients, chain.child, url), 500);
    EXPECT_EQ(refused_by(chain.origin.host()) - before, first) << "the failure is remembered";
}

TEST(MeshHierarchy, parents_of_each_other_do_no_harm) {
    NEEDS_HOSTS();
    Network network;
    OriginHost origin(network.add_host());
    auto& clients = network.add_host();
    CacheHost one(network.add_host()), other(network.add_host());
    one.add_peer(other, "parent");
    other.add_peer(one, "parent");
    one.start();
    other.start();
    for (int i = 0; i < 5; ++i) EXPECT_EQ(ask(clients, one, origin, "/page/" + std::to_string(i)).wrong, "");
    EXPECT_LE(one.requests() + other.requests(), 15u)
        << "three requests a page: the client's, the parent's, and the one that loops back";
}

// Each cache asks the other for the URL that it is fetching itself: neither may wait for the other.
TEST(MeshHierarchy, parents_of_each_other_do_not_wait_for_each_other) {
    NEEDS_HOSTS();
    Network network;
    OriginHost origin(network.add_host());
    auto& clients = network.add_host();
    std::deque<CacheHost> caches;
    for (int i = 0; i < 2; ++i) caches.emplace_back(network.add_host());
    caches[0].add_peer(caches[1], "parent");
    caches[1].add_peer(caches[0], "parent");
    for (auto& cache : caches) cache.start();
    for (int i = 0; i < 4; ++i)
        for (auto const& seen : ask_all_at_once(clients, caches, origin, "/page/" + std::to_string(i), 2)) {
            EXPECT_EQ(seen.wrong, "");
            EXPECT_LT(seen.took, 2500ms);
        }
}

TEST(MeshHierarchy, parents_of_each_other_that_may_not_go_to_the_origin_say_so) {
    NEEDS_HOSTS();
    Network network;
    OriginHost origin(network.add_host());
    auto& clients = network.add_host();
    CacheHost one(network.add_host()), other(network.add_host());
    one.add_peer(other, "parent");
    other.add_peer(one, "parent");
    auto const never = R"({"direct": {"never": [{"method": ["GET"]}]}})";
    one.start(never);
    other.start(never);
    auto const begun = Clock::now();
    EXPECT_THAT(status_of(clients, one, origin.url("/page")), AnyOf(502, 503, 504, 508));
    EXPECT_LT(Clock::now() - begun, 3s);
    EXPECT_LE(one.requests() + other.requests(), 4u);
    EXPECT_EQ(origin.origin().requests("/page"), 0u);
}

TEST(MeshHierarchy, what_is_stored_is_served_on_when_the_uplink_fails) {
    NEEDS_HOSTS();
    TwoLevels mesh(1, 2);
    auto& child = mesh.children[0];
    auto& other = mesh.children[1];
    EXPECT_EQ(ask(mesh.clients, child, mesh.origin, "/mine").wrong, "");
    EXPECT_EQ(ask(mesh.clients, other, mesh.origin, "/siblings").wrong, "");
    EXPECT_EQ(ask(mesh.clients, mesh.parents[0], mesh.origin, "/parents").wrong, "");
    mesh.origin.host().cut();
    for (auto path : {"/mine", "/siblings", "/parents"}) {
        auto const seen = ask(mesh.clients, child, mesh.origin, path);
        EXPECT_EQ(seen.wrong, "") << path;
        EXPECT_LT(seen.took, 2500ms) << path;
    }
    mesh.origin.host().heal();
    EXPECT_TRUE(eventually([&] { return ask(mesh.clients, child, mesh.origin, "/new").wrong.empty(); }));
}

}   // namespace garner::test
