// Parts of objects that are not stored whole: stored, combined under one strong validator, and never used as the whole.
#include <random>

#include "story/rules/film.hpp"
#include "story/scene.hpp"
#include "support/fake_dns.hpp"
#include "support/programs.hpp"

namespace garner::test {

namespace {

/// An origin that knows If-None-Match and single ranges with If-Range.
struct Parts : ::testing::Test {
    Origin origin;
    Proxy proxy;
    std::string bytes = film;
    Fields fields{{"ETag", R"("v1")"}, {"Cache-Control", "max-age=600"}, {"Content-Type", "video/film"}};

    void SetUp() override {
        origin.by_hand("/film", [this](Hand& hand) {
            auto const& head = hand.request().head;
            auto range = head.field("Range");
            bool ours = !head.has("If-Range") || head.field("If-Range") == fields[0].second;
            if (head.has("If-None-Match") && head.field("If-None-Match") == fields[0].second)
                return hand.answer({.status = 304, .fields = fields});
            if (range.empty() || !ours) return hand.answer({.fields = fields, .body = bytes});
            std::size_t first = 0;
            std::size_t last = bytes.size() - 1;
            if (std::sscanf(range.c_str(), "bytes=-%zu", &first) == 1)
                first = bytes.size() - first;
            else
                std::sscanf(range.c_str(), "bytes=%zu-%zu", &first, &last);
            auto more = fields;
            more.emplace_back("Content-Range",
                              "bytes " + std::to_string(first) + "-" + std::to_string(last) + "/" + std::to_string(bytes.size()));
            hand.answer({.status = 206, .fields = more, .body = bytes.substr(first, last - first + 1)});
        });
    }
    /// Requests the whole body; returns "hit", or the Range that the origin got.
    std::string whole_by(Fields more = {}) {
        auto whole = get(proxy, origin, "/film", more);
        EXPECT_EQ(whole.status(), 200);
        EXPECT_FALSE(whole.has("Content-Range"));
        EXPECT_EQ(whole.field("Content-Length"), std::to_string(bytes.size()));
        EXPECT_EQ(whole.field("ETag"), fields[0].second);
        EXPECT_TRUE(whole.body() == bytes);
        return whole.hit() ? "hit" : origin.last("/film").head.field("Range");
    }
    Reply part(std::string const& range, Fields more = {}) {
        more.emplace_back("Range", "bytes=" + range);
        return get(proxy, origin, "/film", more);
    }
    void part_that_is_stale() {
        fields.emplace_back("Age", "900");
        part("0-999").body();
        fields.pop_back();
    }
    /// True if the response was a hit and correct.
    bool hit(std::string const& range, Fields more = {}) {
        auto reply = part(range, more);
        std::size_t first = 0;
        std::size_t last = 0;
        std::sscanf(range.c_str(), "%zu-%zu", &first, &last);
        EXPECT_EQ(reply.status(), 206) << range;
        EXPECT_EQ(reply.field("Content-Range"), "bytes " + range + "/100000");
        EXPECT_EQ(reply.field("Content-Type"), "video/film");
        EXPECT_TRUE(reply.body() == bytes.substr(first, last - first + 1)) << range;
        return reply.hit();
    }
    std::size_t asked() const { return origin.requests("/film"); }
};

}   // namespace

TEST_F(Parts, a_part_answers_for_itself_and_for_what_lies_inside) {
    auto first = part("1000-1999");
    EXPECT_EQ(first.body(), film.substr(1000, 1000));
    EXPECT_TRUE(first.stored());
    EXPECT_TRUE(hit("1000-1999"));
    EXPECT_TRUE(hit("1500-1500"));
    EXPECT_EQ(asked(), 1u);
    EXPECT_FALSE(hit("999-1999"));
    EXPECT_FALSE(hit("1000-2000"));
    EXPECT_FALSE(hit("50000-50010"));
}

TEST_F(Parts, a_part_never_answers_a_request_without_Range) {
    part("0-99998").body();
    EXPECT_FALSE(Client(proxy, origin).head("/film").hit());
    auto whole = get(proxy, origin, "/film", {{"If-None-Match", R"("v0")"}});
    EXPECT_EQ(whole.status(), 200);
    EXPECT_TRUE(whole.body() == film);
    EXPECT_EQ(whole.outcome(), "partial");
    EXPECT_TRUE(get(proxy, origin, "/film").hit());
    EXPECT_EQ(asked(), 3u);
}

TEST_F(Parts, parts_of_one_representation_are_joined) {
    part("0-999").body();
    part("2000-2999").body();
    part("900-2100").body();
    EXPECT_EQ(asked(), 3u);
    EXPECT_TRUE(hit("0-2999"));
    EXPECT_TRUE(hit("950-2050"));
    auto several = part("0-9,2500-2509");
    EXPECT_TRUE(several.hit());
    EXPECT_THAT(several.field("Content-Type"), StartsWith("multipart/byteranges"));
    EXPECT_THAT(several.body(), HasSubstr("Content-Range: bytes 2500-2509/100000\r\n\r\n" + film.substr(2500, 10)));
    EXPECT_FALSE(hit("0-3000"));
}

TEST_F(Parts, once_nothing_is_missing_they_are_the_whole) {
    for (auto range : {"60000-99999", "0-29999", "30000-59999"}) part(range).body();
    auto whole = get(proxy, origin, "/film");
    EXPECT_TRUE(whole.hit());
    EXPECT_EQ(whole.status(), 200);
    EXPECT_FALSE(whole.has("Content-Range"));
    EXPECT_EQ(whole.field("Content-Length"), "100000");
    EXPECT_TRUE(whole.body() == film);
    EXPECT_TRUE(hit("29990-60010"));
    EXPECT_EQ(get(proxy, origin, "/film", {{"If-None-Match", R"("v1")"}}).status(), 304);
    EXPECT_EQ(asked(), 3u);
}

TEST_F(Parts, a_whole_takes_the_place_of_parts) {
    part("0-9").body();
    get(proxy, origin, "/film").body();
    EXPECT_TRUE(hit("50000-50009"));
    EXPECT_EQ(proxy.stats()["cache"]["objects"], 1);
    EXPECT_EQ(asked(), 2u);
}

TEST_F(Parts, another_validator_begins_anew) {
    part("0-49999").body();
    bytes = pattern(100'001).substr(1);
    fields[0].second = R"("v2")";
    part("50000-99999").body();
    EXPECT_TRUE(hit("50000-99999"));
    EXPECT_FALSE(hit("0-9"));
    EXPECT_TRUE(hit("0-9"));
}

TEST_F(Parts, another_length_begins_anew) {
    part("0-49999").body();
    bytes += "more";
    part("50000-99999").body();
    EXPECT_EQ(part("0-9").outcome(), "partial");
}

TEST_F(Parts, without_a_strong_validator_they_are_kept_alone) {
    for (Fields::value_type validator : {Fields::value_type{"ETag", R"(W/"v1")"}, {"X-None", "x"}}) {
        fields[0] = validator;
        EXPECT_FALSE(hit("0-9"));
        EXPECT_TRUE(hit("5-9"));
        EXPECT_FALSE(hit("10-19"));
        EXPECT_TRUE(hit("10-19"));
        EXPECT_FALSE(hit("0-19"));
        EXPECT_TRUE(hit("0-19"));
        Client(proxy, origin).send("PURGE", "/film").body();
    }
    fields[0] = {"Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"};
    EXPECT_FALSE(hit("20-29"));
    EXPECT_FALSE(hit("30-39"));
    EXPECT_TRUE(hit("20-39"));
}

TEST_F(Parts, only_what_is_missing_is_fetched_for_the_whole) {
    struct Case {
        std::vector<std::string> there;
        std::string asked;
    };
    Case const cases[] = {
        {{"0-39999"}, "bytes=40000-"},
        {{"70000-99999"}, "bytes=0-69999"},
        {{"0-9999", "90000-99999"}, "bytes=10000-89999"},
        {{"0-9999", "20000-29999", "99999-99999"}, "bytes=10000-99998"},
        {{"50000-59999"}, ""},
    };
    for (auto const& [there, asked] : cases) {
        for (auto const& range : there) part(range).body();
        EXPECT_EQ(whole_by(), asked);
        EXPECT_EQ(whole_by(), "hit");
        if (!asked.empty()) EXPECT_EQ(origin.last("/film").head.field("If-Range"), R"("v1")");
        EXPECT_EQ(proxy.stats()["cache"]["objects"], 1);
        Client(proxy, origin).send("PURGE", "/film").body();
    }
}

TEST_F(Parts, a_changed_representation_is_fetched_whole) {
    part("0-39999").body();
    fields[0].second = R"("v2")";
    bytes = pattern(100'001).substr(1);
    EXPECT_EQ(whole_by(), "bytes=40000-") << "the origin answers 200";
    EXPECT_EQ(whole_by(), "hit");
}

TEST_F(Parts, an_answer_that_does_not_complete_them_is_asked_for_again_whole) {
    Fields const other{{"ETag", R"("v2")"}, {"Cache-Control", "max-age=600"}};
    auto with = [](Fields some, std::string const& range) {
        some.emplace_back("Content-Range", range);
        return some;
    };
    for (auto const& wrong :
         {Answer{.status = 206, .fields = with(other, "bytes 40000-99999/100000"), .body = film.substr(40'000)},
          Answer{.status = 206, .fields = with(fields, "bytes 50000-99999/100000"), .body = film.substr(50'000)},
          Answer{.status = 206, .fields = with(fields, "bytes 40000-99999/100000"), .body = film.substr(0, 6)},
          Answer{.status = 206, .fields = with(fields, "bytes 40000-99999/100001"), .body = film.substr(40'000)},
          Answer{.status = 206, .fields = fields, .body = film.substr(40'000)},
          Answer{.status = 416, .fields = with(other, "bytes */100")}}) {
        Answer first{.status = 206, .fields = with(fields, "bytes 0-39999/100000"), .body = film.substr(0, 40'000)};
        origin.answer("/other", {first, wrong, {.fields = other, .body = "whole"}});
        get(proxy, origin, "/other", {{"Range", "bytes=0-39999"}}).body();
        EXPECT_EQ(get(proxy, origin, "/other").body(), "whole");
        EXPECT_FALSE(origin.last("/other").head.has("Range"));
        EXPECT_TRUE(get(proxy, origin, "/other").hit());
        Client(proxy, origin).send("PURGE", "/other").body();
    }
}

TEST_F(Parts, a_completion_that_breaks_off_keeps_nothing_wrong) {
    part("0-39999").body();
    auto held = origin.hold("/film");
    auto whole = get(proxy, origin, "/film");
    auto more = fields;
    more.emplace_back("Content-Range", "bytes 40000-99999/100000");
    held.head({.status = 206, .fields = more}, 60'000);
    held.piece(film.substr(40'000, 1000));
    EXPECT_TRUE(whole.early(41'000) == film.substr(0, 41'000));
    held.close();
    EXPECT_FALSE(whole.complete());
    SetUp();
    EXPECT_TRUE(hit("0-39999"));
    EXPECT_EQ(whole_by(), "bytes=40000-");
}

TEST_F(Parts, others_follow_the_completion) {
    part("0-39999").body();
    auto held = origin.hold("/film");
    auto first = get(proxy, origin, "/film");
    held.arrived();
    auto second = get(proxy, origin, "/film");
    auto more = fields;
    more.emplace_back("Content-Range", "bytes 40000-99999/100000");
    held.release({.status = 206, .fields = more, .body = film.substr(40'000)});
    EXPECT_TRUE(first.body() == film);
    EXPECT_TRUE(second.body() == film);
    EXPECT_EQ(second.status(), 200);
}

TEST_F(Parts, stale_ones_are_validated) {
    part_that_is_stale();
    EXPECT_EQ(part("100-199").fwd_status(), 304);
    EXPECT_EQ(origin.last("/film").head.field("Range"), "bytes=100-199");
    EXPECT_TRUE(hit("0-999"));
    EXPECT_FALSE(get(proxy, origin, "/film").hit());
}

TEST_F(Parts, stale_ones_of_something_else_are_dropped) {
    part_that_is_stale();
    fields = {{"ETag", R"("v2")"}, {"Cache-Control", "max-age=600"}, {"Content-Type", "video/film"}};
    bytes = pattern(100'001).substr(1);
    EXPECT_FALSE(hit("100-199"));
    EXPECT_TRUE(hit("100-199"));
    EXPECT_FALSE(hit("0-99"));
}

TEST_F(Parts, stale_ones_answer_for_an_origin_in_trouble_where_that_is_permitted) {
    part_that_is_stale();
    origin.answer("/film", Answer{.status = 503});
    EXPECT_EQ(part("0-9").status(), 503);
    origin.raw("/film", "");
    auto stale = part("0-9");
    EXPECT_EQ(stale.status(), 206);
    EXPECT_EQ(stale.body(), film.substr(0, 10));
}

TEST_F(Parts, a_known_validator_gets_304_from_a_part) {
    part("0-9").body();
    EXPECT_EQ(part("0-9", {{"If-None-Match", R"("v1")"}}).status(), 304);
    EXPECT_EQ(asked(), 1u);
    EXPECT_EQ(part("50-59", {{"If-None-Match", R"("v0")"}}).status(), 206);
}

TEST_F(Parts, only_if_cached_gets_what_is_there) {
    part("0-9").body();
    EXPECT_TRUE(hit("0-9", {{"Cache-Control", "only-if-cached"}}));
    EXPECT_EQ(part("0-10", {{"Cache-Control", "only-if-cached"}}).status(), 504);
    EXPECT_EQ(get(proxy, origin, "/film", {{"Cache-Control", "only-if-cached"}}).status(), 504);
}

TEST_F(Parts, a_range_does_not_fetch_the_whole_unless_told_to) {
    part("0-9").body();
    EXPECT_EQ(origin.last("/film").head.field("Range"), "bytes=0-9");
    Proxy whole(R"({"workers": 1, "caching": {"range_fetches_whole": true}, "memory": {"object_max": "256 KiB"}})");
    Fields const range{{"Range", "bytes=50000-50009"}};
    auto reply = get(whole, origin, "/film", range);
    EXPECT_EQ(reply.status(), 206);
    EXPECT_EQ(reply.body(), film.substr(50'000, 10));
    EXPECT_FALSE(origin.last("/film").head.has("Range"));
    EXPECT_TRUE(get(whole, origin, "/film").hit());
    Client(whole, origin).send("PURGE", "/film").body();
    bytes = pattern(300'000);
    reply = get(whole, origin, "/film", range);
    EXPECT_EQ(reply.status(), 206) << "larger than object_max";
    EXPECT_EQ(reply.body(), bytes.substr(50'000, 10));
    EXPECT_EQ(origin.last("/film").head.field("Range"), "bytes=50000-50009");
}

TEST_F(Parts, a_206_to_who_asked_for_the_whole_is_not_for_those_who_follow) {
    Proxy whole(R"({"workers": 1, "caching": {"range_fetches_whole": true}})");
    auto held = origin.hold("/film");
    auto leader = get(whole, origin, "/film", {{"Range", "bytes=0-9"}});
    EXPECT_FALSE(held.nth(0).request().head.has("Range"));
    auto follower = get(whole, origin, "/film");
    ASSERT_TRUE(eventually([&] { return whole.stats()["cache"]["followers"] == 1; }));
    auto more = fields;
    more.emplace_back("Content-Range", "bytes 0-9/100000");
    held.nth(0).release({.status = 206, .fields = more, .body = film.substr(0, 10)});
    EXPECT_EQ(leader.status(), 206);
    EXPECT_EQ(leader.body(), film.substr(0, 10));
    held.nth(1).release({.fields = fields, .body = film});
    EXPECT_EQ(follower.status(), 200);
    EXPECT_TRUE(follower.body() == film);
}

TEST_F(Parts, a_byte_does_not_drive_out_a_fresh_whole) {
    fields.erase(fields.begin());
    get(proxy, origin, "/film").body();
    EXPECT_EQ(part("0-0", {{"Cache-Control", "no-cache"}}).body(), film.substr(0, 1));
    EXPECT_EQ(asked(), 2u);
    EXPECT_TRUE(get(proxy, origin, "/film").hit());
}

TEST_F(Parts, a_later_one_may_leave_out_what_an_earlier_one_said) {
    part("0-999").body();
    fields.erase(fields.begin() + 1);
    part("1000-1999").body();
    EXPECT_TRUE(hit("0-1999"));
}

TEST(PartsFromElsewhere, are_not_completed_from_another_address) {
    auto range = [](std::string first_last, std::string bytes) {
        Fields fields{{"ETag", R"("v1")"}, {"Cache-Control", "max-age=600"}};
        fields.emplace_back("Content-Range", "bytes " + first_last + "/100000");
        return Answer{.status = 206, .fields = fields, .body = std::move(bytes), .close = true};
    };
    auto const port = free_port();
    Origin one(Origin::Setup{.address = "127.0.0.1", .port = port});
    Origin other(Origin::Setup{.address = "127.0.0.2", .port = port});
    one.answer("/film", range("0-39999", film.substr(0, 40'000)));
    Answer whole = fresh(film, 600, {{"ETag", R"("v1")"}});
    other.answer("/film", {range("40000-99999", film.substr(40'000)), whole});
    FakeDns dns;
    dns.set("film.example", {.v4 = {"127.0.0.1"}, .ttl = 1});
    Proxy proxy(R"({"workers": 1, "dns": {"servers": [")" + dns.server() + R"("]}})");
    auto const film_url = "http://film.example:" + std::to_string(one.port()) + "/film";
    Client(proxy).get(film_url, {{"Range", "bytes=0-39999"}}).body();
    dns.set("film.example", {.v4 = {"127.0.0.2"}, .ttl = 1});
    pause_for(2100ms);
    auto all = Client(proxy).get(film_url);
    EXPECT_EQ(all.status(), 200);
    EXPECT_TRUE(all.body() == film);
    EXPECT_EQ(other.requests("/film"), 2u);
    EXPECT_FALSE(other.last("/film").head.has("Range"));
    EXPECT_TRUE(Client(proxy).get(film_url).hit());
}

TEST_F(Parts, several_clients_ask_for_different_ranges_at_once) {
    std::vector<Reply> replies;
    for (std::size_t i = 0; i < 20; ++i) replies.push_back(part(std::to_string(i * 5000) + "-" + std::to_string(i * 5000 + 4999)));
    for (std::size_t i = 0; i < replies.size(); ++i) EXPECT_TRUE(replies[i].body() == film.substr(i * 5000, 5000));
    whole_by();
    EXPECT_EQ(whole_by(), "hit");
}

TEST_F(Parts, every_range_equals_the_slice) {
    auto const seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    Proxy small(R"({"workers": 1, "memory": {"size": "1 MiB", "object_max": "256 KiB"}})");
    Client client(small, origin);
    for (int round = 0; round < 400; ++round) {
        if (random() % 60 == 0) {
            bytes = pattern(100'000 + round).substr(static_cast<std::size_t>(round));
            fields[0].second = "\"r" + std::to_string(round) + "\"";
            client.send("PURGE", "/film").body();
        }
        if (random() % 40 == 0) {
            EXPECT_TRUE(client.get("/film").body() == bytes) << round;
            continue;
        }
        if (random() % 40 == 0) client.send("PURGE", "/film").body();
        auto first = random() % bytes.size();
        auto last = std::min(bytes.size() - 1, first + random() % (random() % 4 ? 5000 : 50'000));
        auto range = std::to_string(first) + "-" + std::to_string(last);
        auto form = random() % 6;
        if (form < 2) last = bytes.size() - 1;
        if (form == 0) range = "-" + std::to_string(bytes.size() - first);
        if (form == 1) range = std::to_string(first) + "-";
        auto reply = client.get("/film", {{"Range", "bytes=" + range}});
        ASSERT_EQ(reply.status(), 206) << round << " " << range;
        ASSERT_EQ(reply.field("Content-Range"),
                  "bytes " + std::to_string(first) + "-" + std::to_string(last) + "/" + std::to_string(bytes.size()));
        ASSERT_TRUE(reply.body() == bytes.substr(first, last - first + 1)) << round << " " << range;
    }
    client.send("PURGE", "/film").body();
    EXPECT_EQ(small.stats()["cache"]["objects"], 0);
    EXPECT_EQ(small.stats()["cache"]["used_bytes"], small.stats()["cache"]["metadata_bytes"]);
}

TEST_F(Parts, beyond_the_known_end_is_416) {
    part("0-9").body();
    auto reply = part("100000-");
    EXPECT_EQ(reply.status(), 416);
    EXPECT_EQ(reply.field("Content-Range"), "bytes */100000");
    EXPECT_EQ(asked(), 1u);
}

TEST_F(Parts, If_Range_that_does_not_hold_goes_to_the_origin) {
    part("0-9").body();
    EXPECT_TRUE(hit("0-9", {{"If-Range", R"("v1")"}}));
    part("0-9", {{"If-Range", R"("v0")"}}).body();
    EXPECT_EQ(asked(), 2u);
}

TEST_F(Parts, stale_ones_are_freshened_by_a_new_one) {
    part_that_is_stale();
    fields[1].second = "max-age=0";
    EXPECT_FALSE(hit("0-9"));
    fields[1].second = "max-age=600";
    part("1000-1999").body();
    EXPECT_TRUE(hit("0-1999"));
    EXPECT_EQ(asked(), 3u);
}

TEST_F(Parts, PURGE_and_unsafe_methods_remove_them) {
    part("0-9").body();
    EXPECT_EQ(Client(proxy, origin).send("PURGE", "/film").status(), 200);
    EXPECT_FALSE(hit("0-9"));
    EXPECT_TRUE(hit("0-9"));
    Client(proxy, origin).post("/film", "change").body();
    EXPECT_FALSE(hit("0-9"));
    EXPECT_EQ(Client(proxy, origin).send("PURGE", "/film").status(), 200);
    EXPECT_EQ(Client(proxy, origin).send("PURGE", "/film").status(), 404);
    EXPECT_EQ(proxy.stats()["cache"]["objects"], 0);
}

TEST_F(Parts, each_variant_has_its_own) {
    fields.emplace_back("Vary", "Accept-Language");
    Fields const english{{"Accept-Language", "en"}};
    Fields const german{{"Accept-Language", "de"}};
    EXPECT_FALSE(hit("0-9", english));
    EXPECT_FALSE(hit("0-9", german));
    EXPECT_TRUE(hit("0-9", english));
    EXPECT_TRUE(hit("0-9", german));
    EXPECT_FALSE(hit("10-99999", english));
    auto whole = get(proxy, origin, "/film", english);
    EXPECT_TRUE(whole.hit());
    EXPECT_TRUE(whole.body() == film);
    EXPECT_FALSE(get(proxy, origin, "/film", german).hit());
    EXPECT_EQ(Client(proxy, origin).send("PURGE", "/film").status(), 200);
    EXPECT_FALSE(hit("0-9", german));
}

TEST_F(Parts, their_bytes_count_and_may_be_evicted) {
    Proxy small(R"({"memory": {"size": "1 MiB", "object_max": "256 KiB"}})");
    bytes = pattern(20'000'000);
    for (std::size_t first = 0; first + 100'000 <= bytes.size(); first += 200'000) {
        auto range = std::to_string(first) + "-" + std::to_string(first + 99'999);
        auto reply = get(small, origin, "/film", {{"Range", "bytes=" + range}});
        EXPECT_TRUE(reply.body() == bytes.substr(first, 100'000));
    }
    EXPECT_LE(small.stats()["cache"]["used_bytes"], 1 << 20);
}

TEST(PartsOfALiar, a_Content_Range_that_contradicts_the_body_is_not_kept) {
    Origin origin;
    Proxy proxy;
    for (std::string range : {"bytes 0-9/100", "bytes 5-3/100", "bytes 0-4/3", "bytes 0-4/*", "nonsense"}) {
        Fields fields{{"ETag", R"("v1")"}, {"Cache-Control", "max-age=600"}, {"Content-Range", range}};
        origin.answer("/lie", {.status = 206, .fields = fields, .body = "12345"});
        for (int i = 0; i < 2; ++i) {
            auto reply = get(proxy, origin, "/lie", {{"Range", "bytes=0-4"}});
            EXPECT_EQ(reply.body(), "12345");
            EXPECT_FALSE(reply.hit()) << range;
        }
    }
    Fields hidden{
        {"ETag", R"("v1")"}, {"Cache-Control", R"(max-age=600, no-cache="Content-Range")"}, {"Content-Range", "bytes 0-4/9"}};
    origin.answer("/lie", {.status = 206, .fields = hidden, .body = "12345"});
    for (int i = 0; i < 2; ++i) EXPECT_FALSE(get(proxy, origin, "/lie", {{"Range", "bytes=0-4"}}).hit());
}

TEST(PartsOfALiar, a_206_that_nobody_asked_for_is_not_kept) {
    Origin origin;
    Proxy proxy;
    Fields fields{{"ETag", R"("v1")"}, {"Cache-Control", "max-age=600"}, {"Content-Range", "bytes 0-4/5"}};
    origin.answer("/part", {.status = 206, .fields = fields, .body = "12345"});
    EXPECT_EQ(get(proxy, origin, "/part").status(), 206);
    EXPECT_FALSE(get(proxy, origin, "/part").hit());
}

TEST(PartsOfALiar, a_part_that_breaks_off_is_not_kept) {
    Origin origin;
    Proxy proxy;
    origin.raw("/cut", "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nCache-Control: max-age=600\r\n"
                       "Content-Range: bytes 0-9/100\r\nContent-Length: 10\r\n\r\n12345");
    for (int i = 0; i < 2; ++i) {
        auto reply = get(proxy, origin, "/cut", {{"Range", "bytes=0-9"}});
        EXPECT_FALSE(reply.complete());
        EXPECT_FALSE(reply.hit());
    }
}

TEST(RealParts, curl_seeks_in_a_file_of_nginx) {
    NEEDS("curl");
    NEEDS("nginx");
    Nginx origin;
    auto const file = pattern(1'000'000);
    origin.file("film", file);
    Proxy proxy;
    for (std::string range : {"500000-749999", "750000-999999", "600000-899999", "0-499999", "499999-500000"}) {
        auto const got = run({"curl", "-sS", "-x", proxy.url(), "-r", range, origin.url("/film")}, 30s);
        auto const first = std::stoul(range);
        auto const last = std::stoul(range.substr(range.find('-') + 1));
        EXPECT_TRUE(got.output == file.substr(first, last - first + 1)) << range << got.errors;
    }
    EXPECT_TRUE(run({"curl", "-sS", "-x", proxy.url(), origin.url("/film")}, 30s).output == file);
    EXPECT_EQ(origin.requests("/film", 3u), 3u);
}

}   // namespace garner::test
