// Objects that were purged, invalidated or replaced before a kill are gone after it.
#include "story/disk/disk.hpp"

namespace garner::test {

namespace {

/// Stores an object and makes a change; the proxy is killed as soon as it has answered.
struct KilledAfter : DiskScene {
    using Change = std::function<void(Client&, std::string const& path)>;

    void expect_gone(Change const& change, std::size_t rounds, bool settles) {
        for (std::size_t round = 0; round < rounds; ++round) {
            auto const path = Library::path(round);
            start();
            ask(path);
            if (settles) wait_until_written(1);
            auto const now = library().renew(path);
            Client client(proxy(), origin());
            change(client, path);
            kill();
            start();
            EXPECT_EQ(ask(path), now) << path;
            stop();
        }
    }
};

void purge(Client& client, std::string const& path) { EXPECT_EQ(client.send("PURGE", path).status(), 200) << path; }
void post(Client& client, std::string const& path) { EXPECT_EQ(client.post(path, "change").body(), "done"); }
void reload(Client& client, std::string const& path) {
    auto reply = client.get(path, {{"Cache-Control", "no-cache"}});
    EXPECT_EQ(Library::version_of(path, reply.body()), 2) << path;
}

}   // namespace

TEST_F(KilledAfter, a_PURGE_it_stays_purged) { expect_gone(purge, 8, true); }

TEST_F(KilledAfter, a_PURGE_of_what_was_stored_a_moment_before_it_stays_purged) { expect_gone(purge, 8, false); }

TEST_F(KilledAfter, a_POST_that_invalidates_it_stays_invalid) { expect_gone(post, 8, true); }

TEST_F(KilledAfter, a_reload_the_old_one_does_not_come_back) { expect_gone(reload, 16, true); }

TEST_F(KilledAfter, a_purge_by_another_cache_it_stays_purged) {
    auto const place = "127.0.0.1:" + std::to_string(free_port());
    auto const hears = nlohmann::json{{"htcp", {{"address", place}, {"clear_allow", {"127.0.0.0/8"}}}}}.dump();
    Proxy other(nlohmann::json{{"htcp", {{"purge_to", nlohmann::json::array({place})}}}}.dump());
    for (std::size_t round = 0; round < 6; ++round) {
        auto const path = Library::path(round);
        start(hears);
        ask(path);
        wait_until_written(1);
        auto const now = library().renew(path);
        auto const reply = Client(other, origin()).send("PURGE", path);
        EXPECT_EQ(reply.status(), 200) << reply.body();
        kill();
        start();
        EXPECT_EQ(ask(path), now) << path;
        stop();
    }
}

TEST_F(KilledAfter, a_PURGE_of_what_is_on_disk_alone_it_stays_purged) {
    constexpr std::size_t count = 60;
    start();
    ask_all(count);
    wait_until_written(count);
    stop();
    start();
    library().renew_all();
    Client client(proxy(), origin());
    for (std::size_t i = 0; i < count; i += 2) purge(client, Library::path(i));
    kill();
    start();
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(ask(Library::path(i)), i % 2 == 0 ? 2 : 1) << i;
    // Kill it once more: a tombstone survives the restart that loaded it.
    kill();
    start();
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(ask(Library::path(i)), i % 2 == 0 ? 2 : 1) << i;
}

TEST_F(KilledAfter, a_PURGE_in_the_first_moment_of_a_restart_it_stays_purged) {
    constexpr std::size_t count = 20;
    start();
    ask_all(count);
    for (std::size_t i = 0; i < count; ++i) {
        stop();
        auto const path = Library::path(i);
        library().renew(path);
        // A purge does not wait for the scan of the disk.
        Proxy early(patch());
        EXPECT_THAT(Client(early, origin()).send("PURGE", path).status(), AnyOf(200, 404));
        early.kill();
        start();
        EXPECT_EQ(ask(path), 2) << path;
    }
}

TEST_F(KilledAfter, a_PURGE_of_all_variants_none_comes_back) {
    int version = 1;
    origin().by_hand("/page", [&](Hand& hand) {
        hand.answer(
            fresh(hand.request().head.field("Accept-Language") + std::to_string(version), 600, {{"Vary", "Accept-Language"}}));
    });
    start();
    for (std::string language : {"de", "en"}) get(proxy(), origin(), "/page", {{"Accept-Language", language}}).body();
    version = 2;
    Client client(proxy(), origin());
    purge(client, "/page");
    kill();
    start();
    for (std::string language : {"de", "en"})
        EXPECT_EQ(get(proxy(), origin(), "/page", {{"Accept-Language", language}}).body(), language + "2");
}

}   // namespace garner::test
