// A disk that is full, in use, missing or of another kind: clients see only misses, and the operator gets a message.
#include <sys/mount.h>

#include <fstream>

#include "story/disk/disk.hpp"
#include "support/small_disk.hpp"

namespace garner::test {

namespace {

constexpr std::size_t plenty = 60;

struct DiskFaults : DiskScene {
    static nlohmann::json disk_of(Proxy const& proxy) { return proxy.stats()["disk"]; }
    static bool is(Proxy const& proxy, std::string const& state) {
        return eventually([&] { return disk_of(proxy)["state"] == state; });
    }
    std::string on(std::string const& place) const {
        return patch(nlohmann::json{{"disk", {{"path", place}, {"size", "16 MiB"}, {"buffer", "2 MiB"}}}}.dump());
    }
    /// Every work is served correctly, from any source.
    void expect_served(Proxy const& proxy, std::size_t count = plenty) {
        for (std::size_t i = 0; i < count; ++i) {
            auto const path = Library::path(i);
            auto reply = get(proxy, origin(), path);
            EXPECT_TRUE(Library::version_of(path, reply.body())) << path << reply.trouble();
        }
    }
    /// Expects this error when the file in the store's place is not a store.
    void expect_failing(std::string const& trouble) {
        Proxy proxy(patch());
        EXPECT_TRUE(is(proxy, "failing"));
        EXPECT_THAT(disk_of(proxy)["trouble"].get<std::string>(), HasSubstr(trouble));
        EXPECT_TRUE(proxy.says(trouble)) << proxy.errors();
        expect_served(proxy);
        EXPECT_TRUE(get(proxy, origin(), Library::path(plenty - 1)).hit()) << "from memory";
    }
    void put_there(std::string const& bytes) {
        std::filesystem::create_directories(folder());
        std::ofstream(file(), std::ios::binary | std::ios::trunc) << bytes;
    }
};

}   // namespace

TEST_F(DiskFaults, a_second_process_on_one_directory_is_refused_and_the_first_goes_on) {
    start();
    ask_all(plenty);
    try {
        Proxy second(patch());
        FAIL() << "it started";
    } catch (Trouble const& refused) {
        EXPECT_THAT(refused.what(), HasSubstr("is in use by another process"));
        EXPECT_THAT(refused.what(), HasSubstr(file().string()));
    }
    EXPECT_EQ(ask_all(plenty), plenty);
    stop();
    start();
    EXPECT_EQ(ask_all(plenty), plenty);
}

TEST_F(DiskFaults, what_is_no_store_is_left_as_it_is_and_named) {
    put_there(pattern(100'000));
    expect_failing("not a disk store");
    EXPECT_EQ(read_file(file()), pattern(100'000));
}

TEST_F(DiskFaults, a_folder_at_the_stores_place_is_named_and_when_it_is_gone_the_disk_works) {
    std::filesystem::create_directories(file());
    Proxy proxy(patch());
    EXPECT_TRUE(is(proxy, "failing"));
    expect_served(proxy);
    std::filesystem::remove(file());
    EXPECT_TRUE(is(proxy, "working")) << disk_of(proxy).dump(1);
    auto const before = disk_of(proxy)["stored"].get<int>();
    library().renew_all();
    for (std::size_t i = 0; i < plenty; ++i) Client(proxy, origin()).get(Library::path(i), {{"Cache-Control", "no-cache"}}).body();
    EXPECT_TRUE(eventually([&] { return disk_of(proxy)["stored"].get<int>() >= before + static_cast<int>(plenty); }));
}

TEST_F(DiskFaults, a_directory_that_is_removed_while_it_runs_costs_nobody_an_answer) {
    auto& proxy = start();
    ask_all(plenty);
    std::filesystem::remove_all(folder());
    expect_served(proxy);
    EXPECT_TRUE(eventually([&] { return !disk()["trouble"].get<std::string>().empty(); }));
    EXPECT_THAT(disk()["trouble"].get<std::string>(), HasSubstr(file().string() + " was removed"));
    EXPECT_EQ(disk()["state"], "failing");
    library().renew_all();
    expect_served(proxy, 2 * plenty);
    stop();
    start();
    EXPECT_EQ(ask_all(plenty), 0u) << "a new one";
}

TEST_F(DiskFaults, a_store_that_is_cut_short_while_it_runs_costs_nobody_an_answer_and_begins_anew) {
    auto& proxy = start();
    ask_all(plenty);
    auto const whole = std::filesystem::file_size(file());
    std::filesystem::resize_file(file(), 100'000);
    library().renew_all();
    expect_served(proxy);
    EXPECT_TRUE(eventually([&] { return disk()["state"] == "failing"; }));
    EXPECT_THAT(disk()["trouble"].get<std::string>(), HasSubstr(file().string() + " was truncated"));
    expect_served(proxy, 2 * plenty);
    stop();
    start();
    EXPECT_EQ(disk()["state"], "working");
    EXPECT_EQ(ask_all(plenty), 0u) << "a new one";
    EXPECT_EQ(std::filesystem::file_size(file()), whole);
}

TEST_F(DiskFaults, a_full_disk_costs_nobody_an_answer_and_when_it_has_room_it_works) {
    auto const why_not = on_a_small_disk(4u << 20, [&](std::string const& place) {
        Proxy proxy(on(place));
        EXPECT_TRUE(is(proxy, "failing"));
        EXPECT_THAT(disk_of(proxy)["trouble"].get<std::string>(), HasSubstr("No space left on device"));
        expect_served(proxy);
        ASSERT_EQ(::mount("none", place.c_str(), nullptr, MS_REMOUNT, "size=64m"), 0);
        EXPECT_TRUE(is(proxy, "working")) << disk_of(proxy).dump(1);
        library().renew_all();
        expect_served(proxy, 3 * plenty);
        EXPECT_GT(disk_of(proxy)["stored"].get<int>(), 0);
    });
    if (!why_not.empty()) GTEST_SKIP() << why_not;
}

TEST_F(DiskFaults, a_disk_that_others_fill_up_afterwards_goes_on_working) {
    auto const why_not = on_a_small_disk(18u << 20, [&](std::string const& place) {
        Proxy proxy(on(place));
        EXPECT_TRUE(is(proxy, "working"));
        std::ofstream(place + "/others", std::ios::binary) << pattern(4'000'000);
        expect_served(proxy, 10 * plenty);   // more than one lap of the log
        auto const disk = disk_of(proxy);
        EXPECT_EQ(disk["write_errors"], 0) << disk.dump(1);
        EXPECT_EQ(disk["state"], "working");
        EXPECT_TRUE(eventually([&] { return disk_of(proxy)["evicted"].get<int>() > 0; }));
    });
    if (!why_not.empty()) GTEST_SKIP() << why_not;
}

}   // namespace garner::test
