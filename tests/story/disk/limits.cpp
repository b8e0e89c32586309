// Admission to disk under the configured limits.
#include "story/disk/disk.hpp"

namespace garner::test {

namespace {

std::uint64_t seconds_since(std::chrono::steady_clock::time_point when) {
    return static_cast<std::uint64_t>(std::chrono::duration<double>(std::chrono::steady_clock::now() - when).count());
}

}   // namespace

struct Limits : DiskScene {
    std::size_t hits_after_restart(std::size_t count = some) {
        stop();
        start();
        return ask_all(count);
    }
};

TEST_F(Limits, second_hit_writes_what_was_asked_for_twice) {
    start(R"({"disk": {"admit": "second-hit"}})");
    for (std::size_t i = 0; i < some; ++i) ask(Library::path(i));
    for (std::size_t i = 0; i < some; i += 2) {
        bool hit = false;
        ask(Library::path(i), {}, &hit);
        EXPECT_TRUE(hit) << i;
    }
    wait_until_written(some / 2);
    EXPECT_EQ(figure("stored"), some / 2);
    stop();
    start();
    for (std::size_t i = 0; i < some; ++i) {
        bool hit = false;
        ask(Library::path(i), {}, &hit);
        EXPECT_EQ(hit, i % 2 == 0) << i;
    }
}

TEST_F(Limits, who_is_kept_out_for_now_is_not_told_that_it_is_too_large) {
    auto& proxy = start(R"({"disk": {"admit": "second-hit", "object_max": "8 MiB"}})");
    origin().answer("/film", fresh(pattern(3'000'000)));
    origin().answer("/epic", fresh(pattern(9'000'000)));
    EXPECT_THAT(get(proxy, origin(), "/film").field("Cache-Status"), HasSubstr("not admitted"));
    EXPECT_THAT(get(proxy, origin(), "/epic").field("Cache-Status"), HasSubstr("larger than object_max"));
    get(proxy, origin(), "/film").body();
    EXPECT_TRUE(get(proxy, origin(), "/film").hit());
}

TEST_F(Limits, second_hit_counts_a_miss_after_a_miss_too) {
    constexpr std::size_t many = 4 * some;   // more than memory holds
    start(R"({"disk": {"admit": "second-hit"}, "memory": {"size": "2 MiB"}})");
    ask_all(many);
    EXPECT_EQ(figure("stored"), 0u);
    ask_all(many);
    EXPECT_GT(figure("stored"), many / 2);
    EXPECT_LE(figure("stored"), many);
    EXPECT_GT(hits_after_restart(many), many / 2);
}

TEST_F(Limits, small_and_large_bodies_stay_out) {
    start(R"({"disk": {"object_min": "1000", "object_max": "30000"}})");
    ask_all(some);
    std::size_t fit = 0;
    for (std::size_t i = 0; i < some; ++i) {
        auto const size = Library::body(Library::path(i), 1).size();
        fit += size >= 1000 && size <= 30'000;
    }
    wait_until_written(fit);
    EXPECT_EQ(figure("stored"), fit);
    stop();
    start();
    for (std::size_t i = 0; i < some; ++i) {
        bool hit = false;
        auto const size = Library::body(Library::path(i), 1).size();
        ask(Library::path(i), {}, &hit);
        EXPECT_EQ(hit, size >= 1000 && size <= 30'000) << size;
    }
}

TEST_F(Limits, a_rate_bounds_what_newcomers_write_and_costs_nobody_an_answer) {
    auto const began = std::chrono::steady_clock::now();
    start(R"({"disk": {"rate_max": "20 KB"}})");
    for (int round = 0; round < 4; ++round) {
        library().renew_all();
        for (std::size_t i = 0; i < 2 * some; ++i) ask(Library::path(i), {{"Cache-Control", "no-cache"}});
    }
    auto const disk = this->disk();
    EXPECT_GT(disk["stored"].get<int>(), 0);
    EXPECT_GT(disk["not_stored"]["above disk.rate_max"].get<int>(), 0) << disk.dump(1);
    EXPECT_LT(disk["stored_bytes"].get<std::uint64_t>(), 20'000 * (seconds_since(began) + 2) + 300'000) << disk.dump(1);
    // An object that was not rewritten is not served in an older version either.
    stop();
    start();
    for (std::size_t i = 0; i < 2 * some; ++i) EXPECT_EQ(ask(Library::path(i)), library().version(Library::path(i))) << i;
}

TEST_F(Limits, what_is_refused_while_it_comes_is_counted_once) {
    auto& proxy = start(R"({"disk": {"rate_max": "1 KB"}})");
    for (auto const* path : {"/first", "/second"}) {
        origin().answer(path, fresh(pattern(300'000)));
        EXPECT_EQ(get(proxy, origin(), path).body().size(), 300'000u);
        EXPECT_TRUE(eventually([&] { return proxy.stats()["cache"]["fills"] == 0; }));
    }
    EXPECT_EQ(figure("stored"), 1u);
    EXPECT_EQ(disk()["not_stored"]["above disk.rate_max"], 1u) << disk().dump(1);
    EXPECT_TRUE(get(proxy, origin(), "/second").hit()) << "from memory";
}

TEST_F(Limits, SIGHUP_changes_what_comes_in_and_the_size) {
    auto& proxy = start();
    ask("/3");
    wait_until_written(1);
    proxy.reconfigure(R"({"disk": {"admit": "second-hit", "size": "128 MiB"}})");
    proxy.signal(SIGHUP);
    ASSERT_TRUE(eventually([&] { return proxy.child().errors().find("configuration reloaded") != std::string::npos; }));
    EXPECT_EQ(figure("size_bytes") >> 20, 127u);
    EXPECT_EQ(figure("stored"), 0u) << "its figures begin again";
    ask("/4");
    EXPECT_EQ(figure("stored"), 0u) << "one request is not enough for admission";
    ask("/4");   // a hit from memory
    EXPECT_TRUE(eventually([&] { return figure("stored") == 1; })) << disk().dump(1);
}

TEST_F(Limits, what_memory_is_too_small_for_lies_on_disk_alone_however_short) {
    auto& proxy = start(R"({"memory": {"object_max": "1 KiB"}})");
    std::uint64_t hits = 0;
    for (std::size_t const size : {1'025, 16'384, 30'000, 65'000, 65'535, 65'536, 65'537}) {
        auto const path = "/some" + std::to_string(size);
        auto const body = pattern(size, static_cast<unsigned>(size));
        origin().answer(path, fresh(body));
        EXPECT_THAT(get(proxy, origin(), path).field("Cache-Status"), HasSubstr("stored")) << size;
        // Until the fill ends, a request joins it, and is no hit.
        EXPECT_TRUE(eventually([&] { return proxy.stats()["cache"]["fills"] == 0; }));
        for (int times = 0; times < 2; ++times) {
            auto const again = get(proxy, origin(), path);
            EXPECT_TRUE(again.hit()) << size;
            EXPECT_TRUE(again.body() == body) << size;
            EXPECT_EQ(figure("hits"), ++hits) << size;
        }
    }
}

}   // namespace garner::test
