// Reloads that change the disk while clients are served.
#include <atomic>
#include <random>
#include <thread>

#include "story/disk/disk.hpp"

namespace garner::test {

namespace {

class DiskReload : public DiskScene {
protected:
    /// A patch for the disk part of the configuration: reloaded, and applied.
    void reload(nlohmann::json const& part) {
        auto const before = generation();
        proxy().reconfigure(nlohmann::json{{"disk", part}}.dump());
        proxy().signal(SIGHUP);
        ASSERT_TRUE(eventually([&] { return generation() == before + 1; })) << part << proxy().errors();
    }
    int generation() { return proxy().stats()["config"]["generation"].get<int>(); }
    std::string place(char const* name) const { return dir().path(name).string(); }
    /// `at`: the place of a store; empty: none.
    nlohmann::json at(char const* name) const { return {{"path", *name ? place(name) : ""}}; }
    void wait_until_recovered() {
        EXPECT_TRUE(eventually([&] { return disk()["state"] == "working"; })) << disk().dump(1);
    }
};

/// Clients that read, and clients that renew and purge, until they are told to stop.
class LoadedReload : public DiskReload {
protected:
    static constexpr std::size_t works = 160;
    static constexpr auto pause = 8ms;   // with 2 ms an instrumented proxy used all processors
    void read(unsigned seed) {
        std::mt19937 random(seed);
        Client client(proxy(), origin());
        while (!over) {
            auto const number = random() % works;
            auto const path = Library::path(number);
            int const least = purged[number];
            auto const reply = client.get(path);
            auto const version = Library::version_of(path, reply.body());
            ++requests;
            bool const good = reply.status() == 200 && reply.complete() && version && *version >= least;
            std::this_thread::sleep_for(pause);
            if (good) continue;
            ++failures;
            ADD_FAILURE() << path << ": " << reply.status() << ", " << reply.body().size() << " bytes, version "
                          << version.value_or(0) << ", purged before " << least << reply.trouble();
        }
    }
    void purge(unsigned seed) {
        std::mt19937 random(seed);
        Client client(proxy(), origin());
        while (!over) {
            auto const number = random() % works;
            auto const now = library().renew(Library::path(number));
            auto const status = client.send("PURGE", Library::path(number)).status();
            EXPECT_TRUE(status == 200 || status == 404) << status;
            purged[number] = now;
            ++purges;
            std::this_thread::sleep_for(pause);
        }
    }

    std::vector<std::atomic<int>> purged = std::vector<std::atomic<int>>(works);
    std::atomic<bool> over{false};
    std::atomic<int> requests{0}, failures{0}, purges{0};
};

}   // namespace

TEST_F(LoadedReload, twenty_of_them_fail_no_request_and_bring_back_nothing) {
    start(little_memory);
    ask_all(works);
    std::vector<std::jthread> clients;
    for (unsigned i = 0; i < 3; ++i) clients.emplace_back([this, i] { read(i); });
    clients.emplace_back([this] { purge(10); });
    std::vector<nlohmann::json> const changes{
        {{"size", "96 MiB"}},
        {{"policy", "lru"}},
        at("b"),
        {{"threads", 3}},
        at("disk"),
        at(""),
        at("disk"),
        {{"size", "64 MiB"}, {"policy", "fifo-reinsertion"}},
        {{"buffer", "16 MiB"}},
        at("b"),
    };
    for (int round = 0; round < 2; ++round)
        for (auto const& change : changes) {
            std::this_thread::sleep_for(50ms);
            reload(change);
        }
    over = true;
    clients.clear();
    EXPECT_EQ(failures, 0);
    EXPECT_GT(requests, 200);
    EXPECT_GT(purges, 20);
    wait_until_recovered();
    kill();
    start(nlohmann::json{{"disk", at("b")}}.dump());
    for (std::size_t number = 0; number < works; ++number)
        EXPECT_GE(ask(Library::path(number)), purged[number]) << Library::path(number);
}

TEST_F(DiskReload, another_size_and_policy_keep_the_objects) {
    start(R"({"memory": {"object_max": "1 KiB"}})");
    ask_all(some);
    wait_until_written(some);
    auto const count = ask_all(some);
    EXPECT_GT(count, some / 2);
    for (auto const& change : {R"({"size": "128 MiB"})", R"({"policy": "lru"})", R"({"threads": 2, "buffer": "8 MiB"})"}) {
        reload(nlohmann::json::parse(change));
        wait_until_recovered();
        EXPECT_EQ(ask_all(some), count) << change;
    }
    EXPECT_EQ(disk()["path"], place("disk"));
    EXPECT_TRUE(proxy().says("changed: disk.policy: ")) << proxy().errors();
    EXPECT_THAT(proxy().errors(), Not(HasSubstr("waits for a restart")));
}

TEST_F(DiskReload, a_download_from_a_store_that_is_left_goes_on) {
    auto const film = pattern(8'000'000);
    origin().answer("/film", fresh(film));
    start(R"({"memory": {"object_max": "64 KiB"}})");
    EXPECT_EQ(get(proxy(), origin(), "/film").body(), film);
    wait_until_written(1);
    Client viewer(proxy(), origin());
    auto reply = viewer.get("/film");
    reply.early(1'000'000);
    reload(at(""));
    reply.early(2'000'000);
    EXPECT_FALSE(get(proxy(), origin(), "/film").hit());
    EXPECT_EQ(reply.body(), film);
    EXPECT_EQ(origin().requests("/film"), 2u) << "no rest was fetched";
}

TEST_F(DiskReload, a_store_at_a_bad_place_is_refused_as_a_whole) {
    start();
    ask("/1");
    wait_until_written(1);
    proxy().reconfigure(R"({"disk": {"path": "/dev/null/disk"}, "limits": {"hops_max": 7}})");
    proxy().signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return proxy().errors().find("/dev/null/disk/store") != std::string::npos; })) << proxy().errors();
    EXPECT_EQ(generation(), 1);
    EXPECT_EQ(disk()["path"], place("disk"));
    bool hit = false;
    ask("/1", {}, &hit);
    EXPECT_TRUE(hit);
}

}   // namespace garner::test
