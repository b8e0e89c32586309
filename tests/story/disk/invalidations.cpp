// Invalidations by tag and prefix hold for objects on disk: after a kill, after a stop, with a full or lost list.
#include <fstream>

#include "story/disk/disk.hpp"

namespace garner::test {

namespace {

struct Outdated : DiskScene {
    void purge(std::string const& form) {
        auto const reply = Client("127.0.0.1", proxy().admin()).post("/purge", form, {{"Garner-Admin", "1"}});
        EXPECT_EQ(reply.status(), 200) << reply.body();
    }
    std::string prefix() { return "prefix=" + origin().url("/"); }
    std::filesystem::path list() const { return folder() / "invalidations"; }
    /// Stores the first works, which are then on disk.
    void store(std::size_t count) {
        start();
        ask_all(count);
        wait_until_written(count);
    }
};

}   // namespace

TEST_F(Outdated, after_a_kill_nothing_comes_back) {
    store(some);
    library().renew_all();
    purge(prefix());
    kill();
    start();
    for (std::size_t i = 0; i < some; ++i) EXPECT_EQ(ask(Library::path(i)), 2) << i;
    kill();
    start();
    bool hit = false;
    for (std::size_t i = 0; i < some; ++i) EXPECT_EQ(ask(Library::path(i)), 2) << i;
    ask(Library::path(0), {}, &hit);
    EXPECT_TRUE(hit);
}

TEST_F(Outdated, what_was_stored_afterwards_is_a_hit_after_a_restart) {
    store(some);
    library().renew_all();
    purge(prefix());
    ask_all(some);
    wait_until_written(2 * some);
    kill();
    start();
    EXPECT_EQ(ask_all(some), some);
    for (std::size_t i = 0; i < some; ++i) EXPECT_EQ(ask(Library::path(i)), 2) << i;
}

TEST_F(Outdated, a_soft_one_is_validated_after_a_kill) {
    store(4);
    purge(prefix() + "&soft=1");
    kill();
    start();
    auto const before = origin().requests("/0");
    bool hit = true;
    EXPECT_EQ(ask("/0", {}, &hit), 1);
    EXPECT_FALSE(hit);
    EXPECT_EQ(origin().requests("/0"), before + 1);
    EXPECT_FALSE(origin().last("/0").head.field("If-None-Match").empty());
    ask("/0", {}, &hit);
    EXPECT_TRUE(hit);
}

TEST_F(Outdated, tags_are_read_from_the_records) {
    std::atomic<int> version{1};
    origin().by_hand("/tagged", [&](Hand& hand) {
        hand.answer(fresh("version " + std::to_string(version++), 600, {{"Cache-Groups", "\"one\", \"two\""}}));
    });
    start();
    EXPECT_EQ(get(proxy(), origin(), "/tagged").body(), "version 1");
    wait_until_written(1);
    stop();
    start();
    EXPECT_TRUE(get(proxy(), origin(), "/tagged").hit());
    stop();
    start();
    purge("tag=two&origin=" + origin().url("/"));
    EXPECT_EQ(get(proxy(), origin(), "/tagged").body(), "version 2");
}

TEST_F(Outdated, a_damaged_list_outdates_everything_before_it) {
    store(4);
    kill();
    std::ofstream(list(), std::ios::app) << "this is no line of the list\n";
    start();
    EXPECT_EQ(ask_all(4), 0u);
    EXPECT_EQ(ask_all(4), 4u);
}

TEST_F(Outdated, a_list_that_cannot_be_written_empties_the_next_start) {
    store(4);
    kill();
    std::filesystem::remove(list());
    std::filesystem::create_directories(list() / "in the way");
    start();
    kill();
    start();
    EXPECT_EQ(ask_all(4), 0u) << "a list that cannot be read may have been about anything";
    purge(prefix());
    kill();
    std::filesystem::remove_all(list());
    start();
    EXPECT_EQ(ask_all(4), 0u);
}

TEST_F(Outdated, a_list_that_is_full_empties_the_next_start) {
    store(4);
    kill();
    std::filesystem::resize_file(list(), 64u << 20);
    start();
    EXPECT_EQ(ask_all(4), 0u);
    kill();
    start();
    EXPECT_LT(std::filesystem::file_size(list()), 100u);
}

}   // namespace garner::test
