// A disk that is much too slow: hits wait for it only up to the limit,
// objects it cannot take are not stored, and other requests are not affected.
#include <atomic>
#include <fstream>
#include <thread>

#include "story/disk/disk.hpp"
#include "support/places.hpp"

namespace garner::test {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds held{120'000};   // per operation while the disk is slow
constexpr std::chrono::milliseconds soon{15'000};    // far above the time limit, and far below `held`

struct Slow : DiskScene {
    std::string control() const { return dir().path("slow"); }
    void be_slow(std::chrono::milliseconds read, std::chrono::milliseconds write) const {
        std::ofstream(control() + ".new") << read.count() << " " << write.count() << "\n";
        std::filesystem::rename(control() + ".new", control());
    }
    void be_quick() const { std::filesystem::remove(control()); }
    Proxy::Setup on_slow_disk(std::string const& more) const {
        auto const* options = std::getenv("ASAN_OPTIONS");
        return {.patch = patch(more),
                .environment = {"LD_PRELOAD=" + built("libslow_disk.so"), "SLOW_DISK=" + control(),
                                // Needed if the sanitizer's runtime is a shared library.
                                "ASAN_OPTIONS=" + std::string(options ? options : "") + ":verify_asan_link_order=0"}};
    }
    template <class Work>
    static Clock::duration time_of(Work const& work) {
        auto const began = Clock::now();
        work();
        return Clock::now() - began;
    }
    static nlohmann::json disk_of(Proxy const& proxy) { return proxy.stats()["disk"]; }
};

}   // namespace

TEST_F(Slow, hits_wait_for_their_time_and_are_fetched_while_others_are_answered) {
    start();
    constexpr std::size_t some = 8;
    ask_all(some);
    wait_until_written(some);
    stop();
    Proxy proxy(on_slow_disk(R"({"workers": 1, "disk": {"timeout": "300ms", "threads": 2}})"));
    ASSERT_TRUE(eventually([&] { return disk_of(proxy)["state"] == "working"; }));
    origin().answer("/page", no_store("x"));
    be_slow(held, std::chrono::milliseconds{0});
    std::atomic<bool> over{false};
    std::thread others([&] {
        Client client(proxy, origin());
        for (int i = 0; !over || i < 10; ++i) EXPECT_LT(time_of([&] { EXPECT_EQ(client.get("/page").body(), "x"); }), soon) << i;
    });
    for (std::size_t i = 0; i < some; ++i) {
        auto const path = Library::path(i);
        EXPECT_LT(time_of([&] { EXPECT_TRUE(Library::version_of(path, get(proxy, origin(), path).body())) << path; }), soon);
    }
    over = true;
    others.join();
    EXPECT_GT(disk_of(proxy)["too_late"], 0) << disk_of(proxy).dump(1);
    EXPECT_EQ(disk_of(proxy)["damaged"], 0);
    EXPECT_EQ(disk_of(proxy)["hits"], 0);
    be_quick();
}

TEST_F(Slow, what_the_disk_cannot_take_is_not_stored_and_counted_and_later_it_is) {
    Proxy proxy(on_slow_disk(R"({"memory": {"size": "2 MiB"}, "disk": {"size": "16 MiB", "buffer": "2 MiB"}})"));
    ASSERT_TRUE(eventually([&] { return disk_of(proxy)["state"] == "working"; }));
    constexpr unsigned many = 80;
    auto const path = [](unsigned i) { return "/some/" + std::to_string(i); };
    for (unsigned i = 0; i < many; ++i) origin().answer(path(i), fresh(pattern(60'000, i)));
    be_slow(held, held);
    for (unsigned i = 0; i < many; ++i)
        EXPECT_LT(time_of([&] { EXPECT_TRUE(get(proxy, origin(), path(i)).body() == pattern(60'000, i)) << i; }), soon) << i;
    auto const disk = disk_of(proxy);
    EXPECT_GT(disk["not_stored"]["the disk is too slow"], 0) << disk.dump(1);
    EXPECT_EQ(disk["state"], "working");
    be_quick();
    ASSERT_TRUE(eventually([&] { return disk_of(proxy)["buffered_bytes"] == 0; })) << disk_of(proxy).dump(1);
    auto const before = disk_of(proxy)["stored"].get<int>();
    EXPECT_TRUE(get(proxy, origin(), path(many - 1)).body() == pattern(60'000, many - 1));
    origin().answer("/new", fresh("x"));
    EXPECT_EQ(get(proxy, origin(), "/new").body(), "x");
    EXPECT_TRUE(eventually([&] { return disk_of(proxy)["stored"].get<int>() > before; }));
}

TEST_F(Slow, whoever_was_given_all_of_a_newer_one_does_not_meet_the_older_while_the_disk_takes_it) {
    Proxy proxy(on_slow_disk(R"({"workers": 1, "memory": {"size": "16 MiB"}, "disk": {"buffer": "2 MiB"}})"));
    auto const path = Library::path(6'000'000);
    auto const film = [](unsigned version) { return pattern(3'000'000, version); };
    origin().answer(path, fresh(film(1), 600, {{"ETag", "\"1\""}}));
    EXPECT_TRUE(get(proxy, origin(), path).body() == film(1));
    EXPECT_TRUE(eventually([&] { return get(proxy, origin(), path).hit(); }));
    ASSERT_TRUE(eventually([&] { return disk_of(proxy)["buffered_bytes"] == 0; }));
    origin().answer(path, fresh(film(2), 600, {{"ETag", "\"2\""}}));
    auto const before = origin().requests(path);
    be_slow(std::chrono::milliseconds{0}, std::chrono::milliseconds{300});
    EXPECT_TRUE(get(proxy, origin(), path, {{"Cache-Control", "no-cache"}}).body() == film(2));
    EXPECT_TRUE(get(proxy, origin(), path).body() == film(2));
    EXPECT_EQ(origin().requests(path), before + 1) << "the second response comes from the first fetch";
    be_quick();
}

TEST_F(Slow, a_purge_tells_the_peers_before_the_disk_has_confirmed_it) {
    auto const htcp = "127.0.0.1:" + std::to_string(free_port());
    Proxy far(nlohmann::json{{"htcp", {{"address", htcp}, {"allow", {"127.0.0.0/8"}}, {"clear_allow", {"127.0.0.0/8"}}}}}.dump());
    Proxy proxy(on_slow_disk(nlohmann::json{{"htcp", {{"purge_to", {htcp}}}}}.dump()));
    ASSERT_TRUE(eventually([&] { return disk_of(proxy)["state"] == "working"; }));
    auto const path = Library::path(1);
    for (auto* each : {&far, &proxy}) {
        get(*each, origin(), path).body();
        EXPECT_TRUE(eventually([&] { return get(*each, origin(), path).hit(); }));
    }
    be_slow(held, held);
    std::atomic<bool> answered{false};
    std::thread purging([&] {
        auto reply = Client(proxy, origin()).send("PURGE", path);
        EXPECT_THAT(reply.status(), AnyOf(200, 503));   // 503 after 5 s
        answered = true;
        EXPECT_THAT(reply.body(), HasSubstr("peer " + htcp + ": purged"));
    });
    EXPECT_TRUE(eventually([&] { return !get(far, origin(), path).hit(); }));
    EXPECT_FALSE(answered);
    be_quick();
    purging.join();
}

}   // namespace garner::test
