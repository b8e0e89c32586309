// Lost pieces of a long body are fetched from the origin, unnoticed by the client.
#include <fstream>
#include <list>

#include "story/disk/disk.hpp"

namespace garner::test {

namespace {

constexpr std::size_t length = 3 * 1024 * 1024;
std::string const film = pattern(length, 7);
std::string const clip = film.substr(0, 600'000);   // fits in memory
Fields const etag{{"ETag", R"("film")"}};

/// The first byte of a range; all ranges in these scenes have one.
std::size_t first_of(std::string const& range) { return std::stoul(range.substr(range.find('=') + 1)); }
std::size_t last_of(std::string const& range, std::size_t size) {
    auto const last = range.substr(range.find('-') + 1);
    return last.empty() ? size - 1 : std::stoul(last);
}

/// An origin with Range and If-Range. `of_ranges`: framing of its 206 responses; `excess`: bytes after the requested ones.
void serve(Origin& origin, std::string const& path, std::string const& body, std::string const& tag = R"("film")",
           Delimited of_ranges = Delimited::by_length, std::string const& excess = "") {
    origin.by_hand(path, [&body, tag, of_ranges, excess](Hand& hand) {
        hand.read_body();
        Fields const fields{{"ETag", tag}, {"Cache-Control", "max-age=600"}};
        auto const range = hand.request().head.field("Range");
        auto const if_range = hand.request().head.field("If-Range");
        if (range.empty() || (!if_range.empty() && if_range != tag)) return hand.answer({.fields = fields, .body = body});
        auto const first = first_of(range), last = last_of(range, body.size());
        auto more = fields;
        more.emplace_back("Content-Range",
                          "bytes " + std::to_string(first) + "-" + std::to_string(last) + "/" + std::to_string(body.size()));
        hand.answer({.status = 206, .fields = more, .body = body.substr(first, last - first + 1) + excess, .delimited = of_ranges});
    });
}

struct Lost : DiskScene {
    /// Stores the film on disk alone and damages some of its pieces. Returns their offsets.
    std::vector<std::uint64_t> store_and_damage(std::vector<std::size_t> const& which, std::string const& more = little_memory) {
        start(more);
        serve(origin(), "/film", film);
        EXPECT_TRUE(get(proxy(), origin(), "/film").body() == film);
        stop();
        std::vector<std::uint64_t> firsts;
        auto const image = this->image();
        auto pieces = image.records();
        std::erase_if(pieces, [](DiskImage::Record const& record) { return record.kind != DiskImage::Kind::piece; });
        std::fstream file(this->file(), std::ios::binary | std::ios::in | std::ios::out);
        for (auto const number : which) {
            auto const at = pieces.at(number).body.at + 50'000;
            file.seekp(static_cast<std::streamoff>(at)).put(static_cast<char>(image.bytes()[at] ^ 1));
            firsts.push_back(pieces[number].first);
        }
        file.close();
        start(more);
        return firsts;
    }
};

}   // namespace

TEST_F(Lost, a_damaged_piece_in_the_middle_is_fetched_and_the_next_answer_is_right_too) {
    auto const damaged = store_and_damage({2});
    auto reply = get(proxy(), origin(), "/film");
    EXPECT_TRUE(reply.hit());
    EXPECT_TRUE(reply.body() == film);
    EXPECT_TRUE(reply.complete());
    EXPECT_EQ(origin().requests("/film"), 2u);
    EXPECT_EQ(origin().last("/film").head.field("Range"), "bytes=" + std::to_string(damaged[0]) + "-");
    EXPECT_EQ(origin().last("/film").head.field("If-Range"), R"("film")");
    EXPECT_EQ(figure("damaged"), 1u);
    EXPECT_EQ(proxy().stats()["origin"]["resumed"], 1u);
    EXPECT_EQ(proxy().logged("/film").tag, "TCP_HIT");
    EXPECT_EQ(proxy().logged("/film").all["hierarchy"], "HIER_DIRECT");

    auto again = get(proxy(), origin(), "/film");
    EXPECT_FALSE(again.hit()) << "the damaged object was removed";
    EXPECT_TRUE(again.body() == film);
    auto mended = get(proxy(), origin(), "/film");
    EXPECT_TRUE(mended.hit());
    EXPECT_TRUE(mended.body() == film);
    EXPECT_EQ(origin().requests("/film"), 3u);
    EXPECT_EQ(figure("damaged"), 1u);
}

TEST_F(Lost, the_rest_may_come_chunked_or_until_the_connection_ends_and_is_counted) {
    for (auto const delimited : {Delimited::by_chunks, Delimited::by_close}) {
        store_and_damage({2});
        serve(origin(), "/film", film, R"("film")", delimited);
        auto reply = get(proxy(), origin(), "/film");
        EXPECT_TRUE(reply.complete());
        EXPECT_TRUE(reply.body() == film);
        stop();
        std::filesystem::remove_all(folder());
    }
    store_and_damage({2});
    serve(origin(), "/film", film, R"("film")", Delimited::by_chunks, "more");
    auto reply = get(proxy(), origin(), "/film");
    EXPECT_FALSE(reply.complete()) << "the body is longer than the stored length";
    EXPECT_TRUE(film.starts_with(reply.body()));
}

TEST_F(Lost, of_a_range_only_what_is_missing_of_it_is_fetched) {
    auto const damaged = store_and_damage({2});
    auto const first = damaged[0] - 100'000, last = damaged[0] + 300'000;
    auto reply = Client(proxy(), origin()).get("/film", {{"Range", "bytes=" + std::to_string(first) + "-" + std::to_string(last)}});
    EXPECT_EQ(reply.status(), 206);
    EXPECT_TRUE(reply.body() == film.substr(first, last - first + 1));
    EXPECT_TRUE(reply.complete());
    EXPECT_EQ(origin().last("/film").head.field("Range"), "bytes=" + std::to_string(damaged[0]) + "-" + std::to_string(last));
}

TEST_F(Lost, several_ranges_go_on_from_disk_behind_what_was_fetched) {
    auto const damaged = store_and_damage({2});
    auto const first = damaged[0] + 10;
    auto reply = Client(proxy(), origin())
                     .get("/film", {{"Range", "bytes=" + std::to_string(first) + "-" + std::to_string(first + 99'999) + ",5-14"}});
    EXPECT_EQ(reply.status(), 206);
    EXPECT_TRUE(reply.complete());
    EXPECT_NE(reply.body().find(film.substr(first, 100'000)), std::string::npos);
    EXPECT_THAT(reply.body(), HasSubstr(film.substr(5, 10)));
}

TEST_F(Lost, an_origin_that_knows_no_ranges_sends_all_of_it_again) {
    store_and_damage({2});
    origin().answer("/film", fresh(film, 600, etag));
    auto reply = get(proxy(), origin(), "/film");
    EXPECT_TRUE(reply.body() == film);
    EXPECT_TRUE(reply.complete());
}

TEST_F(Lost, what_the_origin_has_changed_meanwhile_breaks_the_answer_off_and_the_next_is_the_new_one) {
    auto const damaged = store_and_damage({2});
    auto const other = pattern(length, 8);
    serve(origin(), "/film", other, R"("another")");
    auto reply = get(proxy(), origin(), "/film");
    EXPECT_FALSE(reply.complete());
    EXPECT_TRUE(reply.body() == film.substr(0, damaged[0]));
    auto again = get(proxy(), origin(), "/film");
    EXPECT_TRUE(again.body() == other);
    EXPECT_TRUE(again.complete());
}

TEST_F(Lost, who_wants_stored_answers_only_gets_nothing_from_the_origin) {
    auto const damaged = store_and_damage({2});
    auto reply = Client(proxy(), origin()).get("/film", {{"Cache-Control", "only-if-cached"}});
    EXPECT_FALSE(reply.complete());
    EXPECT_TRUE(reply.body() == film.substr(0, damaged[0]));
    EXPECT_EQ(origin().requests("/film"), 1u);
}

TEST_F(Lost, the_client_may_go_on_with_its_connection) {
    store_and_damage({4, 9});
    Client client(proxy(), origin());
    EXPECT_TRUE(client.get("/film").body() == film);
    EXPECT_TRUE(client.get("/film").body() == film);
    EXPECT_EQ(figure("damaged"), 1u) << "bytes fetched from the origin are not read from the disk";
}

// Memory allows about twenty of the thirty pieces that the clients would pin. System buffers do not count.
TEST_F(Lost, clients_that_take_nothing_keep_little_and_nobody_from_what_is_short) {
    start(R"({"memory": {"size": "2 MiB"}, "disk": {"buffer": "2 MiB", "timeout": "1s"}})");
    constexpr int lazy = 30;
    auto const film = pattern(12 * 1024 * 1024, 9);
    serve(origin(), "/film", film);
    ASSERT_TRUE(get(proxy(), origin(), "/film").body() == film);
    ask("/0");
    ASSERT_TRUE(eventually([&] { return figure("buffered_bytes") == 0; }));

    std::list<Client> clients;
    std::list<Reply> replies;
    for (int i = 0; i < lazy; ++i) {
        clients.emplace_back(proxy(), origin()).receive_buffer(16 * 1024);
        replies.push_back(clients.back().get("/film"));
        EXPECT_EQ(replies.back().status(), 200);
    }
    ASSERT_TRUE(eventually([&] { return figure("too_late") > 0; })) << disk().dump(1);
    for (int i = 0; i < 10; ++i) {
        bool hit = false;
        ask("/0", {}, &hit);
        EXPECT_TRUE(hit);
    }
    for (auto& reply : replies) {
        EXPECT_TRUE(reply.body() == film);
        EXPECT_TRUE(reply.complete());
    }
    // Readers that waited too long fetch the body from the start or from where the disk stopped, depending on their progress.
    EXPECT_GT(origin().requests("/film"), 1u);
}

// A body that is to be loaded into memory is verified before its first byte is sent.
TEST_F(Lost, what_cannot_be_brought_into_memory_is_not_there) {
    auto const enough = R"({"memory": {"size": "64 MiB", "object_max": "8 MiB"}})";
    store_and_damage({2}, enough);
    auto reply = get(proxy(), origin(), "/film");
    EXPECT_FALSE(reply.hit());
    EXPECT_TRUE(reply.stored());
    EXPECT_TRUE(reply.body() == film);
    EXPECT_EQ(origin().last("/film").head.field("Range"), "");
    EXPECT_TRUE(get(proxy(), origin(), "/film").hit());
    EXPECT_EQ(origin().requests("/film"), 2u);
    EXPECT_EQ(figure("damaged"), 1u);
}

TEST_F(Lost, parts_that_only_the_disk_has_are_completed) {
    start();
    serve(origin(), "/clip", clip);
    auto const half = clip.size() / 2;
    auto part = Client(proxy(), origin()).get("/clip", {{"Range", "bytes=0-" + std::to_string(half - 1)}});
    EXPECT_TRUE(part.body() == clip.substr(0, half));
    wait_until_written(1);
    kill();
    start();
    auto whole = get(proxy(), origin(), "/clip");
    EXPECT_TRUE(whole.body() == clip);
    EXPECT_TRUE(whole.stored());
    EXPECT_EQ(origin().last("/clip").head.field("Range"), "bytes=" + std::to_string(half) + "-");
    wait_until_written(1);
    kill();
    start();
    auto again = get(proxy(), origin(), "/clip");
    EXPECT_TRUE(again.hit());
    EXPECT_TRUE(again.body() == clip);
    EXPECT_EQ(origin().requests("/clip"), 2u);
}

}   // namespace garner::test
