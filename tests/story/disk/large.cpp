// Bodies larger than memory: stored on disk while received, read from there by followers, and never whole in memory.
#include <thread>

#include "story/disk/disk.hpp"

namespace garner::test {

namespace {

std::string const long_film = pattern(20 * 1024 * 1024, 7);

Fields const long_etag{{"ETag", "\"film\""}};

std::string in_chunks(std::string_view bytes) {
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += 50'000) text += chunk(bytes.substr(at, 50'000));
    return text + "0\r\n\r\n";
}

/// A film served with ranges.
void show_ranges(Origin& origin) {
    origin.by_hand("/film", [](Hand& hand) {
        std::size_t first = 0, last = long_film.size() - 1;
        auto const range = hand.request().head.field("Range");
        auto fields = long_etag;
        fields.emplace_back("Cache-Control", "max-age=600");
        if (std::sscanf(range.c_str(), "bytes=%zu-%zu", &first, &last) != 2)
            return hand.answer({.fields = fields, .body = long_film});
        fields.emplace_back("Content-Range",
                            "bytes " + std::to_string(first) + "-" + std::to_string(last) + "/" + std::to_string(long_film.size()));
        hand.answer({.status = 206, .fields = fields, .body = long_film.substr(first, last - first + 1)});
    });
}

std::string range_of(std::size_t first, std::size_t count) {
    return "bytes=" + std::to_string(first) + "-" + std::to_string(first + count - 1);
}

/// The figure is in bytes; memory in these scenes is 2 MiB.
std::uint64_t memory_used(Proxy const& proxy) { return proxy.stats()["cache"]["used_bytes"].get<std::uint64_t>(); }

}   // namespace

struct Large : DiskScene {
    Proxy& start(std::string const& more = "{}") {
        auto all = nlohmann::json::parse(little_memory);
        all.merge_patch(nlohmann::json::parse(more));
        return DiskScene::start(all.dump());
    }
};

TEST_F(Large, a_body_too_large_for_memory_is_stored_and_served_from_disk) {
    auto& proxy = start(R"({"workers": 1})");   // so that the newest line of the log is the wanted one
    origin().answer("/film", fresh(long_film, 600, long_etag));
    auto first = get(proxy, origin(), "/film");
    EXPECT_TRUE(first.body() == long_film);
    EXPECT_TRUE(first.stored());
    auto again = get(proxy, origin(), "/film");
    EXPECT_TRUE(again.hit());
    EXPECT_TRUE(again.body() == long_film);
    EXPECT_TRUE(again.complete());
    EXPECT_EQ(again.field("Content-Length"), std::to_string(long_film.size()));
    EXPECT_EQ(proxy.logged("/film", 2).tag, "TCP_HIT");
    EXPECT_EQ(Client(proxy, origin()).head("/film").field("Content-Length"), std::to_string(long_film.size()));
    EXPECT_EQ(get(proxy, origin(), "/film", {{"If-None-Match", "\"film\""}}).status(), 304);
    EXPECT_EQ(origin().requests("/film"), 1u);
    kill();
    start();
    auto after = get(this->proxy(), origin(), "/film");
    EXPECT_TRUE(after.hit());
    EXPECT_TRUE(after.body() == long_film);
    EXPECT_EQ(origin().requests("/film"), 1u);
}

TEST_F(Large, ranges_of_it_are_read_from_disk) {
    auto& proxy = start();
    origin().answer("/film", fresh(long_film, 600, long_etag));
    ASSERT_TRUE(get(proxy, origin(), "/film").body() == long_film);
    Client client(proxy, origin());
    for (std::size_t first : {std::size_t{0}, std::size_t{262'143}, std::size_t{5'000'000}, long_film.size() - 300'000}) {
        auto const range = "bytes=" + std::to_string(first) + "-" + std::to_string(first + 299'999);
        auto part = client.get("/film", {{"Range", range}});
        EXPECT_EQ(part.status(), 206);
        EXPECT_TRUE(part.body() == long_film.substr(first, 300'000)) << range;
    }
    auto several = client.get("/film", {{"Range", "bytes=9000000-9000009,10-19"}});
    EXPECT_EQ(several.status(), 206);
    EXPECT_THAT(several.body(), HasSubstr(long_film.substr(9'000'000, 10)));
    EXPECT_THAT(several.body(), HasSubstr(long_film.substr(10, 10)));
    EXPECT_EQ(origin().requests("/film"), 1u);
}

TEST_F(Large, parts_that_are_longer_than_memory_are_kept_once_each_and_become_the_whole) {
    auto& proxy = start();
    show_ranges(origin());
    constexpr std::size_t parts = 10;
    auto const bytes = long_film.size() / parts;
    auto ask = [&](Proxy& whom, std::size_t i) {
        auto part = get(whom, origin(), "/film", {{"Range", range_of(i * bytes, bytes)}});
        EXPECT_EQ(part.status(), 206);
        EXPECT_TRUE(part.body() == long_film.substr(i * bytes, bytes)) << i;
        return part.hit();
    };
    for (std::size_t i = 0; i < parts - 1; ++i) EXPECT_FALSE(ask(proxy, (i * 7) % parts)) << i;
    for (std::size_t i = 0; i < parts - 1; ++i) EXPECT_TRUE(ask(proxy, (i * 7) % parts)) << i;
    EXPECT_EQ(origin().requests("/film"), parts - 1);
    wait_until_written(parts - 1);
    EXPECT_LT(figure("written_bytes"), long_film.size() + long_film.size() / 20);
    kill();
    auto& after = start();
    EXPECT_TRUE(ask(after, 7));
    EXPECT_FALSE(ask(after, (9 * 7) % parts));
    auto whole = get(after, origin(), "/film");
    EXPECT_TRUE(whole.hit());
    EXPECT_TRUE(whole.body() == long_film);
    EXPECT_EQ(origin().requests("/film"), parts);
    EXPECT_LT(figure("written_bytes"), long_film.size() / 5) << "one part and a head are written";
}

TEST_F(Large, many_small_parts_cost_what_they_are_and_join_what_only_the_disk_has) {
    auto& proxy = start();
    show_ranges(origin());
    constexpr std::size_t some = 40, bytes = 20'000;
    // Consecutive parts overlap.
    auto ask = [&](Proxy& whom, std::size_t i) {
        auto part = get(whom, origin(), "/film", {{"Range", range_of(i * 15'000, bytes)}});
        EXPECT_TRUE(part.body() == long_film.substr(i * 15'000, bytes)) << i;
        return part.hit();
    };
    for (std::size_t i = 0; i < some / 2; ++i) EXPECT_FALSE(ask(proxy, i)) << i;
    wait_until_written(some / 2);
    kill();
    auto& after = start();
    for (std::size_t i = some / 2; i < some; ++i) EXPECT_FALSE(ask(after, i)) << i;
    for (std::size_t i = 0; i < some; ++i) EXPECT_TRUE(ask(after, i)) << i;
    auto all = get(after, origin(), "/film", {{"Range", range_of(0, some * 15'000)}});
    EXPECT_TRUE(all.hit());
    EXPECT_TRUE(all.body() == long_film.substr(0, some * 15'000));
    EXPECT_EQ(origin().requests("/film"), some);
    EXPECT_TRUE(eventually([&] { return figure("buffered_bytes") == 0u; }));
    EXPECT_LT(figure("written_bytes"), some * bytes);
}

TEST_F(Large, of_another_edition_parts_begin_anew) {
    auto& proxy = start();
    show_ranges(origin());
    ASSERT_EQ(get(proxy, origin(), "/film", {{"Range", range_of(0, 3'000'000)}}).status(), 206);
    auto const other = pattern(long_film.size(), 8);
    origin().answer("/film", {.status = 206,
                              .fields = {{"ETag", "\"other\""},
                                         {"Cache-Control", "max-age=600"},
                                         {"Content-Range", "bytes 3000000-5999999/" + std::to_string(long_film.size())}},
                              .body = other.substr(3'000'000, 3'000'000)});
    EXPECT_TRUE(get(proxy, origin(), "/film", {{"Range", range_of(3'000'000, 3'000'000)}}).body() ==
                other.substr(3'000'000, 3'000'000));
    auto const known = get(proxy, origin(), "/film", {{"Range", range_of(3'000'000, 1'000)}});
    EXPECT_TRUE(known.hit());
    origin().answer("/film", {.status = 206,
                              .fields = {{"ETag", "\"other\""},
                                         {"Cache-Control", "max-age=600"},
                                         {"Content-Range", "bytes 0-999/" + std::to_string(long_film.size())}},
                              .body = other.substr(0, 1'000)});
    EXPECT_TRUE(get(proxy, origin(), "/film", {{"Range", range_of(0, 1'000)}}).body() == other.substr(0, 1'000));
}

TEST_F(Large, a_body_of_unknown_length_outgrows_memory_and_goes_on_to_disk) {
    auto& proxy = start();
    origin().by_hand("/film", [](Hand& hand) {
        hand.send(Answer{.fields = {{"Cache-Control", "max-age=600"}}, .delimited = Delimited::by_chunks}.head_text());
        hand.send(in_chunks(long_film));
    });
    EXPECT_TRUE(get(proxy, origin(), "/film").body() == long_film);
    auto again = get(proxy, origin(), "/film");
    EXPECT_TRUE(again.hit());
    EXPECT_TRUE(again.body() == long_film);
    EXPECT_EQ(again.field("Content-Length"), std::to_string(long_film.size()));
    EXPECT_EQ(origin().requests("/film"), 1u);
}

TEST_F(Large, who_comes_late_joins_from_the_beginning_while_it_is_fetched) {
    auto& proxy = start();
    auto slow = origin().hold("/film");
    Client first(proxy, origin()), second(proxy, origin());
    auto a = first.get("/film");
    slow.head(fresh("", 600, long_etag), long_film.size());
    slow.piece(long_film.substr(0, 15'000'000));
    EXPECT_EQ(a.early(15'000'000).size(), 15'000'000u);
    EXPECT_LE(memory_used(proxy), 2u * 1024 * 1024);
    auto b = second.get("/film");
    EXPECT_TRUE(b.early(15'000'000) == long_film.substr(0, 15'000'000));
    EXPECT_EQ(b.outcome(), "collapsed");
    slow.piece(long_film.substr(15'000'000));
    slow.finish();
    EXPECT_TRUE(a.body() == long_film);
    EXPECT_TRUE(b.body() == long_film);
    EXPECT_TRUE(get(proxy, origin(), "/film").hit());
    EXPECT_EQ(origin().requests("/film"), 1u);
}

TEST_F(Large, who_reads_slowly_holds_nobody_up_and_is_not_given_up) {
    auto& proxy = start();
    auto slow = origin().hold("/film");
    Client lazy(proxy, origin());
    lazy.receive_buffer(16 * 1024);
    auto b = lazy.get("/film");
    slow.head(fresh("", 600, long_etag), long_film.size());
    Client quick(proxy, origin());
    auto a = quick.get("/film");
    slow.piece(long_film);
    slow.finish();
    EXPECT_TRUE(a.body() == long_film) << "the slow reader does not delay this one";
    // Longer than the limit for readers of an uncacheable response.
    pause_for(6000ms);
    EXPECT_TRUE(b.body() == long_film);
    EXPECT_TRUE(b.complete());
    EXPECT_EQ(origin().requests("/film"), 1u);
}

TEST_F(Large, what_the_disk_will_not_keep_either_passes_through) {
    auto& proxy = start(R"({"disk": {"object_max": "8 MiB"}})");
    origin().by_hand("/long", [](Hand& hand) {
        hand.send(Answer{.fields = {{"Cache-Control", "max-age=600"}}, .delimited = Delimited::by_chunks}.head_text());
        hand.send(in_chunks(long_film));
    });
    origin().answer("/film", fresh(long_film));
    for (int i = 1; i <= 2; ++i) {
        EXPECT_TRUE(get(proxy, origin(), "/long").body() == long_film);
        auto announced = get(proxy, origin(), "/film");
        EXPECT_TRUE(announced.body() == long_film);
        EXPECT_FALSE(announced.stored());
        EXPECT_EQ(origin().requests("/long"), static_cast<std::size_t>(i));
        EXPECT_EQ(origin().requests("/film"), static_cast<std::size_t>(i));
    }
}

TEST_F(Large, a_304_gives_it_a_new_head_and_writes_the_body_once) {
    auto& proxy = start();
    Fields more = long_etag;
    more.emplace_back("X-Edition", "first");
    Fields less = long_etag;
    less.emplace_back("X-Edition", "second");
    less.emplace_back("Cache-Control", "max-age=600");
    origin().answer("/film", {fresh(long_film, 0, more), Answer{.status = 304, .fields = less}});
    ASSERT_TRUE(get(proxy, origin(), "/film").body() == long_film);
    auto revalidated = get(proxy, origin(), "/film");
    EXPECT_EQ(revalidated.fwd_status(), 304);
    EXPECT_TRUE(revalidated.body() == long_film);
    auto hit = get(proxy, origin(), "/film");
    EXPECT_TRUE(hit.hit());
    EXPECT_EQ(hit.field("X-Edition"), "second");
    EXPECT_TRUE(hit.body() == long_film);
    EXPECT_TRUE(eventually([&] { return figure("written_bytes") >= long_film.size(); }));
    EXPECT_LT(figure("written_bytes"), long_film.size() + long_film.size() / 10);
}

TEST_F(Large, what_memory_holds_too_is_written_once_as_it_comes) {
    auto& proxy = start(R"({"workers": 1})");   // so that the newest line of the log is the wanted one
    auto const reel = pattern(700'000, 3);
    origin().answer("/reel", fresh(reel));
    ASSERT_TRUE(get(proxy, origin(), "/reel").body() == reel);
    auto again = get(proxy, origin(), "/reel");
    EXPECT_TRUE(again.hit());
    EXPECT_EQ(proxy.logged("/reel", 2).tag, "TCP_MEM_HIT");
    EXPECT_TRUE(eventually([&] { return figure("written_bytes") >= reel.size(); }));
    EXPECT_LT(figure("written_bytes"), reel.size() + reel.size() / 2);
    kill();
    start();
    EXPECT_TRUE(get(this->proxy(), origin(), "/reel").body() == reel);
    EXPECT_EQ(origin().requests("/reel"), 1u);
}

TEST_F(Large, what_broke_off_or_was_purged_meanwhile_is_never_found) {
    auto& proxy = start();
    auto broken = origin().hold("/broken");
    Client first(proxy, origin());
    auto a = first.get("/broken");
    broken.head(fresh("", 600), long_film.size());
    broken.piece(long_film.substr(0, 10'000'000));
    EXPECT_EQ(a.early(10'000'000).size(), 10'000'000u);
    broken.close();
    EXPECT_FALSE(a.complete());
    origin().answer("/broken", fresh(long_film));
    auto whole = get(proxy, origin(), "/broken");
    EXPECT_EQ(whole.outcome(), "uri-miss");
    EXPECT_TRUE(whole.body() == long_film);

    auto purged = origin().hold("/purged");
    Client second(proxy, origin());
    auto b = second.get("/purged");
    purged.head(fresh("", 600), long_film.size());
    purged.piece(long_film.substr(0, 10'000'000));
    EXPECT_EQ(b.early(10'000'000).size(), 10'000'000u);
    EXPECT_EQ(Client(proxy, origin()).send("PURGE", "/purged").status(), 200);
    purged.piece(long_film.substr(10'000'000));
    purged.finish();
    EXPECT_TRUE(b.body() == long_film) << "a reader that has begun reads to the end";
    origin().answer("/purged", fresh("another"));
    EXPECT_EQ(get(proxy, origin(), "/purged").body(), "another");
}

TEST_F(Large, a_variant_of_it_is_found_on_disk) {
    auto& proxy = start();
    auto more = long_etag;
    more.emplace_back("Vary", "Accept-Language");
    origin().answer("/film", fresh(long_film, 600, more));
    ASSERT_TRUE(get(proxy, origin(), "/film", {{"Accept-Language", "de"}}).body() == long_film);
    EXPECT_TRUE(eventually([&] { return proxy.stats()["cache"]["fills"] == 0; })) << "requests join the fill until it ends";
    EXPECT_TRUE(get(proxy, origin(), "/film", {{"Accept-Language", "de"}}).hit());
    EXPECT_FALSE(get(proxy, origin(), "/film", {{"Accept-Language", "fr"}}).hit());
    ASSERT_TRUE(eventually([&] { return figure("buffered_bytes") == 0; })) << "a kill loses what is not written yet";
    kill();
    start();
    EXPECT_TRUE(get(this->proxy(), origin(), "/film", {{"Accept-Language", "de"}}).hit());
    EXPECT_EQ(origin().requests("/film"), 2u);
}

TEST_F(Large, many_at_once_are_all_kept) {
    // Each has a window of up to 2 MiB, from the quarter of memory that fills may use.
    auto& proxy = start(R"({"workers": 2, "memory": {"size": "128 MiB"}, "disk": {"size": "256 MiB"}})");
    auto const reel = pattern(3'000'000, 5);
    constexpr int films = 12;
    for (int i = 0; i < films; ++i) origin().answer("/film" + std::to_string(i), fresh(reel));
    auto ask_each = [&] {
        std::vector<std::thread> clients;
        for (int i = 0; i < films; ++i)
            clients.emplace_back([&, i] { EXPECT_TRUE(get(proxy, origin(), "/film" + std::to_string(i)).body() == reel); });
        for (auto& client : clients) client.join();
    };
    ask_each();
    ask_each();
    for (int i = 0; i < films; ++i) EXPECT_EQ(origin().requests("/film" + std::to_string(i)), 1u) << i << disk().dump(1);
}

TEST_F(Large, a_body_of_unknown_length_that_is_asked_for_twice_passes_the_admission_filter) {
    auto& proxy = start(R"({"disk": {"admit": "second-hit"}})");
    auto const chunked = [](std::string_view bytes) {
        return [bytes](Hand& hand) {
            hand.send(Answer{.fields = {{"Cache-Control", "max-age=600"}}, .delimited = Delimited::by_chunks}.head_text());
            hand.send(in_chunks(bytes));
        };
    };
    origin().by_hand("/film", chunked(long_film));
    origin().by_hand("/short", chunked(std::string_view(long_film).substr(0, 100'000)));
    for (int i = 1; i <= 2; ++i) {
        auto reply = get(proxy, origin(), "/film");
        EXPECT_FALSE(reply.hit()) << i;
        EXPECT_TRUE(reply.body() == long_film) << "the client reads to the end; otherwise the fetch is aborted";
        EXPECT_TRUE(eventually([&] { return proxy.stats()["cache"]["fills"] == 0; })) << i;
    }
    auto third = get(proxy, origin(), "/film");
    EXPECT_TRUE(third.hit()) << third.field("Cache-Status") << disk().dump(1);
    EXPECT_TRUE(third.body() == long_film);
    EXPECT_EQ(figure("stored"), 1u);
    EXPECT_EQ(get(proxy, origin(), "/short").body().size(), 100'000u);
    EXPECT_TRUE(eventually([&] { return proxy.stats()["cache"]["fills"] == 0; }));
    EXPECT_EQ(figure("stored"), 1u) << "one request is not enough for second_hit";
    EXPECT_EQ(disk()["not_stored"]["asked for once only (disk.admit)"], 2u) << "each once: " << disk().dump(1);
}

}   // namespace garner::test
