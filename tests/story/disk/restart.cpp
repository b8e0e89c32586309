// Stored objects are served after a stop and after a kill, without asking the origin.
#include "story/disk/disk.hpp"

namespace garner::test {

namespace {

using Restart = DiskScene;

constexpr std::size_t hundred = 100;

}   // namespace

TEST_F(Restart, after_a_stop_everything_is_a_hit_without_a_question_to_the_origin) {
    start();
    EXPECT_EQ(ask_all(hundred), 0u);
    stop();
    library().renew_all();
    origin().forget_requests();
    start();
    EXPECT_EQ(ask_all(hundred), hundred);
    for (std::size_t i = 0; i < hundred; ++i) EXPECT_EQ(origin().requests(Library::path(i)), 0u) << i;
    EXPECT_EQ(proxy().logged(Library::path(1)).tag, "TCP_HIT");
    EXPECT_GE(figure("hits"), hundred);
    EXPECT_EQ(figure("damaged"), 0u);
}

TEST_F(Restart, after_a_kill_everything_is_a_hit_that_had_a_moment_to_get_to_the_file) {
    start();
    ask_all(hundred);
    wait_until_written(hundred);
    kill();
    library().renew_all();
    start();
    EXPECT_EQ(ask_all(hundred), hundred);
    EXPECT_EQ(figure("damaged"), 0u);
}

TEST_F(Restart, again_and_again_loses_nothing) {
    start();
    ask_all(hundred);
    for (int round = 0; round < 4; ++round) {
        stop();
        library().renew_all();
        start();
        EXPECT_EQ(ask_all(hundred), hundred) << round;
    }
}

TEST_F(Restart, heads_times_and_variants_come_back_as_they_were) {
    origin().by_hand("/page", [](Hand& hand) {
        hand.answer(fresh("in " + hand.request().head.field("Accept-Language"), 600,
                          {{"Vary", "Accept-Language"}, {"ETag", R"("1")"}, {"X-Of-Its-Own", "kept"}, {"Age", "100"}}));
    });
    start();
    for (std::string language : {"de", "en"}) get(proxy(), origin(), "/page", {{"Accept-Language", language}}).body();
    stop();
    start();
    for (std::string language : {"de", "en"}) {
        auto reply = get(proxy(), origin(), "/page", {{"Accept-Language", language}});
        EXPECT_TRUE(reply.hit()) << language;
        EXPECT_EQ(reply.body(), "in " + language);
        EXPECT_EQ(reply.field("X-Of-Its-Own"), "kept");
        EXPECT_EQ(reply.field("Vary"), "Accept-Language");
        EXPECT_GE(reply.age().value_or(0), 100);
    }
    EXPECT_EQ(get(proxy(), origin(), "/page", {{"Accept-Language", "en"}, {"If-None-Match", R"("1")"}}).status(), 304);
    EXPECT_FALSE(get(proxy(), origin(), "/page", {{"Accept-Language", "fr"}}).hit());
    EXPECT_EQ(origin().requests("/page"), 3u);
}

TEST_F(Restart, does_not_make_fresh_what_has_become_stale_meanwhile) {
    auto expiring = fresh("old", 2, {{"ETag", R"("1")"}});
    origin().answer("/page", expiring);
    start();
    get(proxy(), origin(), "/page").body();
    stop();
    pause_for(2500ms);
    origin().answer("/page", fresh("new"));
    start();
    auto reply = get(proxy(), origin(), "/page");
    EXPECT_EQ(reply.body(), "new");
    EXPECT_EQ(origin().last("/page").head.field("If-None-Match"), R"("1")") << "the stale object is validated, not removed";
}

TEST_F(Restart, a_304_lasts_as_what_it_freshened) {
    auto answer = fresh("same", 1, {{"ETag", R"("1")"}});
    origin().answer("/page", answer);
    start();
    get(proxy(), origin(), "/page").body();
    pause_for(1500ms);
    origin().answer("/page", Answer{.status = 304, .fields = {{"ETag", R"("1")"}, {"Cache-Control", "max-age=600"}}});
    EXPECT_EQ(get(proxy(), origin(), "/page").body(), "same");
    stop();
    start();
    auto reply = get(proxy(), origin(), "/page");
    EXPECT_EQ(reply.body(), "same");
    EXPECT_TRUE(reply.hit()) << "fresh for as long as the 304 said";
}

TEST_F(Restart, bodies_longer_than_memory_come_from_their_pieces_whole_and_in_part) {
    auto const body = pattern(9'000'000, 5);
    origin().answer("/film", fresh(body, 600, {{"ETag", R"("1")"}}));
    start();
    EXPECT_TRUE(get(proxy(), origin(), "/film").body() == body);
    for (int round = 0; round < 2; ++round) {
        auto whole = get(proxy(), origin(), "/film");
        EXPECT_TRUE(whole.body() == body);
        EXPECT_TRUE(whole.hit()) << round << whole.field("Cache-Status");
        for (std::size_t from : {0u, 262'143u, 262'144u, 4'000'000u, 8'999'000u}) {
            auto part =
                get(proxy(), origin(), "/film", {{"Range", "bytes=" + std::to_string(from) + "-" + std::to_string(from + 999)}});
            EXPECT_EQ(part.status(), 206);
            EXPECT_TRUE(part.body() == body.substr(from, 1000)) << from;
        }
        stop();
        start();
    }
    EXPECT_EQ(origin().requests("/film"), 1u);
}

TEST_F(Restart, while_a_body_comes_leaves_nothing_of_it) {
    for (bool kills : {false, true})
        for (std::size_t size : {30'000u, 3'000'000u}) {
            auto const path = "/film" + std::to_string(size) + (kills ? "killed" : "stopped");
            SCOPED_TRACE(path);
            auto const body = pattern(size, 1), other = pattern(size, 2);
            start(R"({"deadlines": {"drain": "1s"}})");
            auto slow = origin().hold(path);
            Client client(proxy(), origin());
            auto half = client.get(path);
            slow.head(fresh(""), size);
            slow.piece(body.substr(0, size / 2));
            EXPECT_GE(half.early(size / 2).size(), size / 2);
            if (kills)
                kill();
            else
                stop();
            slow.close();
            EXPECT_FALSE(half.complete());
            origin().answer(path, fresh(other));
            start();
            auto reply = get(proxy(), origin(), path);
            EXPECT_TRUE(reply.body() == other);
            EXPECT_FALSE(reply.hit());
            EXPECT_TRUE(get(proxy(), origin(), path).hit());
            stop();
        }
}

TEST_F(Restart, with_another_size_keeps_what_still_fits_or_says_that_it_begins_anew) {
    start();
    ask_all(hundred);
    stop();
    library().renew_all();
    start(R"({"disk": {"size": "128 MiB"}})");
    EXPECT_EQ(ask_all(hundred), hundred);
    EXPECT_GT(figure("size_bytes"), 100u << 20);
    stop();
    library().renew_all();
    start(R"({"disk": {"size": "32 MiB"}})");
    ask_all(hundred);
    EXPECT_LE(std::filesystem::file_size(file()), 32u << 20);
    EXPECT_EQ(ask_all(hundred), hundred);
}

TEST_F(Restart, what_the_log_has_come_round_to_is_gone_and_the_rest_is_there) {
    auto const more = R"({"disk": {"size": "16 MiB", "buffer": "2 MiB"}})";
    constexpr std::size_t many = 1200;   // more than twice the disk's size
    start(more);
    ask_all(many);
    EXPECT_GT(figure("evicted"), 0u);
    std::size_t refused = 0;   // on a busy machine the disk may be too slow for some
    auto const not_stored = disk()["not_stored"];
    for (auto const& count : not_stored) refused += count.get<std::size_t>();
    stop();
    auto const image = this->image();
    for (auto const& record : image.records()) EXPECT_TRUE(record.good_body) << record.key;
    library().renew_all();
    start(more);
    std::size_t newest = 0;
    for (std::size_t i = many; i-- > many - 100;) {
        bool hit = false;
        EXPECT_EQ(ask(Library::path(i), {}, &hit), hit ? 1 : 2) << i;
        newest += hit;
    }
    EXPECT_GE(newest + refused, 100u);
    EXPECT_GT(newest, 50u);
    bool hit = true;
    EXPECT_EQ(ask(Library::path(1), {}, &hit), 2);
    EXPECT_FALSE(hit);
    EXPECT_EQ(figure("damaged"), 0u);
}

}   // namespace garner::test
