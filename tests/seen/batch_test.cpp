// Links of a request body: formats, pieces, and answers in order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "crawl/fingerprint.hpp"
#include "crawl/kept_memory.hpp"
#include "seen/body_forms.hpp"

namespace garner::seen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Read {
    Batch batch;
    std::string fault;
};

Read read(std::string_view type, std::string_view body, Sorting const& sorting = {}, std::size_t piece = SIZE_MAX,
          bool durable = false) {
    Read result;
    result.batch.clear(sorting.splitter.partitions());
    LinkSorter sorter(sorting);
    sorter.begin(result.batch, durable);
    auto const reader = body_form(type)->make(sorter);
    for (std::size_t at = 0; at < body.size(); at += std::min(piece, body.size() - at))
        if (!reader->read(body.substr(at, piece))) break;
    result.fault = reader->finish().fault_text();
    return result;
}

std::vector<std::string> words(Batch const& batch) {
    std::vector<std::string> all;
    for (auto const answer : batch.answers) all.emplace_back(answer == asked_here ? "?" : word_of(answer));
    return all;
}

Fingerprint print(std::string_view url) { return crawl::fingerprint64(url); }

TEST(SeenBatch, takes_urls_one_a_line_in_their_canonical_form) {
    auto const got = read("text/plain", "HTTP://a.example:80\nhttp://b.example/x#y\r\nhttp://c.example/");
    EXPECT_THAT(got.batch.own, ElementsAre(print("http://a.example/"), print("http://b.example/x"), print("http://c.example/")));
    EXPECT_THAT(words(got.batch), ElementsAre("?", "?", "?"));
    EXPECT_THAT(words(read("text/plain", "").batch), IsEmpty());
    EXPECT_THAT(words(read("", "http://a.example/\n").batch), ElementsAre("?"));
}

TEST(SeenBatch, names_what_is_no_url_and_goes_on) {
    std::string const long_line(3'000'000, 'a');
    auto const got =
        read("text/plain", "\nmailto:a@b\nhttp://\xff\xfe z/\n" + long_line + "\nhttp://a.example/\n\x01\x02" + long_line);
    EXPECT_THAT(words(got.batch), ElementsAre("!empty", "!other-scheme", "!bad-idna", "!too-long", "?", "!too-long"));
    EXPECT_EQ(got.batch.refused, 5u);
    EXPECT_THAT(got.batch.own, ElementsAre(print("http://a.example/")));
}

TEST(SeenBatch, is_the_same_however_the_body_is_cut) {
    std::string const text =
        "http://a.example/1\r\n\nhttp://b.example/%zz\nnone\nhttp://c.example/" + std::string(70'000, 'x') + "\nhttp://d.example/";
    std::string const json =
        R"( [ "http://a.example/1" ,"http:\/\/b.example\/\u0041", {"a": ["]", "\""]}, 3 ,"\\" , null,"http://c.example/,]" ] )";
    std::string octets;
    for (int i = 0; i < 24; ++i) octets += static_cast<char>(i);
    for (auto const& [type, body] :
         {std::pair{"text/plain", text}, {"application/json", json}, {"application/octet-stream", octets}}) {
        auto const whole = read(type, body);
        EXPECT_EQ(whole.fault, "");
        for (std::size_t piece : {1u, 2u, 3u, 7u, 8u, 9u, 30u}) {
            auto const cut = read(type, body, {}, piece);
            EXPECT_EQ(cut.fault, "") << type << piece;
            EXPECT_EQ(words(cut.batch), words(whole.batch)) << type << piece;
            EXPECT_EQ(cut.batch.own, whole.batch.own) << type << piece;
        }
    }
}

TEST(SeenBatch, takes_a_list_in_json) {
    auto const got =
        read("application/json; charset=utf-8",
             R"(["http://a.example/", "http:\/\/b.example\/\u0041", 7, null, ["http://x/"], {"u": "]"}, "not a url"])");
    EXPECT_EQ(got.fault, "");
    EXPECT_THAT(words(got.batch), ElementsAre("?", "?", "!not-text", "!not-text", "!not-text", "!not-text", "!no-scheme"));
    EXPECT_THAT(got.batch.own, ElementsAre(print("http://a.example/"), print("http://b.example/A")));
    EXPECT_THAT(words(read("application/json", " [ ]\n").batch), IsEmpty());
    EXPECT_EQ(read("application/json", "[]").fault, "");
    auto const huge = read("application/json", "[\"" + std::string(1'000'000, 'a') + "\", \"http://a.example/\"]", {}, 65'536);
    EXPECT_THAT(words(huge.batch), ElementsAre("!too-long", "?"));
}

TEST(SeenBatch, says_what_is_no_list) {
    struct Case {
        char const* body;
        char const* says;
    };
    for (auto const& [body, says] :
         {Case{"", "the body is empty"}, Case{"{}", "does not begin with ["}, Case{"[\"a\"", "the body is truncated"},
          Case{"[\"a", "the body is truncated"}, Case{"[\"a\"] x", "data follows"}, Case{"[\"a\",]", "element 2 is not valid JSON"},
          Case{"[,]", "element 1 is not valid JSON"}, Case{"[\"a\" \"b\"]", "element 1 is not valid JSON"},
          Case{"[nul]", "element 1 is not valid JSON"}, Case{"[1}]", "element 1 is not valid JSON"},
          Case{"[", "the body is truncated"}, Case{"[\"a\\\"]", "the body is truncated"}}) {
        EXPECT_THAT(read("application/json", body).fault, HasSubstr(says)) << body;
        EXPECT_THAT(read("application/json", body, {}, 1).fault, HasSubstr(says)) << body;
    }
}

TEST(SeenBatch, a_string_that_is_no_text_is_no_fault_of_the_list) {
    std::string const body =
        "[\"http://a.example/\", \"http://a.example/\\ud800\", \"\\udc00\\ud800\", \"http://a.example/\\u0000x\","
        " \"a\nb\", \"\\u12\", \"\\q\", \"\\u0041\xff\", \"http://b.example/\xff\", \"http://a\\u0000b/\","
        " \"" +
        std::string(2'000'000, '\\') + "\", \"http://c.example/\"]";
    for (std::size_t piece : {SIZE_MAX, std::size_t{65'536}, std::size_t{1'021}}) {
        auto const got = read("application/json", body, {}, piece);
        EXPECT_EQ(got.fault, "");
        EXPECT_THAT(words(got.batch), ElementsAre("?", "!not-text", "!not-text", "?", "!not-text", "!not-text", "!not-text",
                                                  "!not-text", "?", "!forbidden-in-host", "!too-long", "?"));
    }
    EXPECT_THAT(read("text/plain", std::string("http://a.example/\0x\nhttp://a\0b/\n\0\n", 34)).batch.own,
                ElementsAre(print("http://a.example/%00x")));
}

TEST(SeenBatch, nor_is_one_inside_of_what_is_no_string) {
    for (std::string const bad : {R"("a\qb")", R"("\ud800")", "\"a\tb\"", "\"\xff\""}) {
        auto const got = read("application/json", "[[" + bad + "],{" + bad + ":1},\"http://a.example/\"]");
        EXPECT_EQ(got.fault, "") << bad;
        EXPECT_THAT(words(got.batch), ElementsAre("!not-text", "!not-text", "?")) << bad;
    }
}

TEST(SeenBatch, the_longest_url_is_one_whatever_ends_its_line) {
    auto const url = "http://a/" + std::string(crawl::url_bytes_max - 9, 'x');
    for (std::string const end : {"\n", "\r\n", ""})
        for (std::size_t const piece : {std::size_t{1'000}, SIZE_MAX}) {
            EXPECT_THAT(words(read("text/plain", url + end, {}, piece).batch), ElementsAre("?"));
            EXPECT_THAT(words(read("text/plain", url + "x" + end, {}, piece).batch), ElementsAre("!too-long"));
        }
}

TEST(SeenBatch, any_bytes_are_answered_line_by_line) {
    std::mt19937 random(3);
    for (int round = 0; round < 20; ++round) {
        std::string body;
        std::size_t lines = 0;
        for (int i = 0; i < 5'000; ++i) lines += (body += static_cast<char>(random() % 256)).back() == '\n';
        body += "\nhttp://a.example/";
        auto const got = read("text/plain", body, {}, 1 + random() % 5'000);
        EXPECT_EQ(got.fault, "");
        EXPECT_EQ(got.batch.answers.size(), lines + 2);
        EXPECT_EQ(got.batch.answers.back(), asked_here);
    }
}

TEST(SeenBatch, gives_back_the_memory_of_a_huge_one) {
    Sorting sorting;
    sorting.splitter = crawl::HostSplitter(2);
    std::string body;
    for (int i = 0; i < 300'000; ++i) body += "http://h" + std::to_string(i) + "/\n";
    auto batch = read("text/plain", body, sorting).batch;
    EXPECT_GT(batch.held_bytes(), 2'000'000u);
    batch.clear(2);
    EXPECT_LE(batch.held_bytes(), 4 * crawl::kept_bytes);
    EXPECT_TRUE(batch.own.empty() && batch.answers.empty());
}

TEST(SeenBatch, reads_fingerprints_from_the_lowest_byte) {
    auto const got = read("application/octet-stream", std::string("\x01\0\0\0\0\0\0\x80", 8));
    EXPECT_THAT(got.batch.own, ElementsAre(0x8000000000000001u));
    EXPECT_THAT(read("application/octet-stream", "123456789").fault, HasSubstr("surplus bytes at the end of the body: 1"));
}

TEST(SeenBatch, stops_at_the_bound_of_links) {
    Sorting sorting;
    sorting.links_max = 2;
    for (auto const& [type, three] : {std::pair<char const*, std::string>{"text/plain", "http://a/\nb\nhttp://c/\n"},
                                      {"application/json", "[\"http://a/\", 2, \"http://c/\"]"},
                                      {"application/octet-stream", std::string(24, 'x')}}) {
        auto const got = read(type, three, sorting);
        EXPECT_TRUE(got.batch.too_many) << type;
        EXPECT_EQ(got.batch.answers.size(), 2u) << type;
    }
    EXPECT_FALSE(read("text/plain", "http://a/\nhttp://b/\n", sorting).batch.too_many);
}

TEST(SeenBatch, knows_the_forms_by_their_types) {
    EXPECT_EQ(body_form("image/png"), nullptr);
    EXPECT_EQ(body_form("application/x-www-form-urlencoded"), body_form("Text/Plain; charset=utf-8"));
    EXPECT_EQ(asked_form("*/*"), std::nullopt);
    EXPECT_EQ(asked_form("application/octet-stream"), ReplyForm::octets);
    EXPECT_EQ(asked_form("text/html, Application/JSON;q=0.5, */*;q=0.1"), ReplyForm::json);
    EXPECT_EQ(asked_form("application/json;q=0, text/plain"), ReplyForm::text);
    EXPECT_EQ(asked_form("application/json; q=0.1,text/plain; charset=utf-8; q=1"), ReplyForm::text);
    EXPECT_EQ(asked_form("application/json, text/plain"), ReplyForm::json) << "the first of two with equal q";
    EXPECT_EQ(asked_form("application/json;q=0"), std::nullopt);
    EXPECT_EQ(asked_form("application/json;q=nan, text/plain"), ReplyForm::text);
    EXPECT_EQ(asked_form(",;,q=;q=x,application/json,"), ReplyForm::json);
    for (auto const* malformed : {"application/json;q=", "application/json;q=2", "application/json;q=1e-1", "application/json;q=x"})
        EXPECT_EQ(asked_form(malformed), std::nullopt) << malformed;
}

TEST(SeenBatch, sorts_by_host_as_the_layers_leave_it_and_merges_in_order) {
    AnsweredCache answered(64);
    Sorting sorting;
    sorting.splitter = crawl::HostSplitter(3);
    sorting.layers = *crawl::UrlLayers::read("www-strip");
    sorting.answered = &answered;
    std::string body;
    std::vector<std::uint32_t> owners;
    for (int i = 0; i < 60; ++i) {
        crawl::CanonicalUrl url;
        std::string const text = "http://www.h" + std::to_string(i % 20) + ".example/" + std::to_string(i);
        ASSERT_EQ(crawl::canonicalise(text, url), crawl::UrlFault::none);
        sorting.layers.apply(url);
        owners.push_back(sorting.splitter.partition_of(url));
        body += (i % 2 ? text : url.text) + "\n";
        if (i % 7 == 0) body += "none\n", owners.push_back(99);
    }
    auto [batch, fault] = read("text/plain", body, sorting);
    ASSERT_EQ(batch.answers.size(), owners.size());
    for (std::size_t i = 0; i < owners.size(); ++i)
        EXPECT_EQ(batch.answers[i], owners[i] == 99  ? refused(crawl::UrlFault::no_scheme)
                                    : owners[i] == 0 ? asked_here
                                                     : unreachable(owners[i]));
    // Partitions answer new, seen, new, …; the third does not answer.
    auto in_turn = [](std::size_t count) {
        std::vector<LinkStatus> answers;
        for (std::size_t i = 0; i < count; ++i) answers.push_back(i % 2 ? already_seen : is_new);
        return answers;
    };
    batch.take_own(in_turn(batch.own.size()));
    batch.take_foreign(1, in_turn(batch.foreign[1].size()));
    batch.take_foreign(2, std::vector<LinkStatus>(batch.foreign[2].size(), unreachable(2)));
    std::size_t turn[3] = {};
    for (std::size_t i = 0; i < owners.size(); ++i)
        if (owners[i] < 2) EXPECT_EQ(batch.answers[i], turn[owners[i]]++ % 2 ? already_seen : is_new) << i;
    EXPECT_EQ(word_of(batch.answers[static_cast<std::size_t>(std::ranges::find(owners, 2u) - owners.begin())]),
              "!partition 2 unreachable");

    // Links with a cached answer are not sent to their partition.
    for (auto const link : batch.foreign[1]) answered.put(link);
    auto const again = read("text/plain", body, sorting).batch;
    EXPECT_TRUE(again.foreign[1].empty());
    EXPECT_EQ(again.foreign[2].size(), batch.foreign[2].size());
    EXPECT_EQ(again.kept_home, batch.foreign[1].size());
    // A durable request sends them, because the earlier one was not durable.
    EXPECT_EQ(read("text/plain", body, sorting, SIZE_MAX, true).batch.foreign[1], batch.foreign[1]);
}

std::string written(ReplyForm form, std::vector<LinkStatus> const& answers) {
    ReplyWriter writer(form, answers);
    auto const length = writer.length();
    std::string all;
    for (std::string piece; writer.next(piece);) all += piece;
    EXPECT_EQ(all.size(), length);
    return all;
}

TEST(SeenAnswers, are_written_in_three_forms) {
    std::vector<LinkStatus> const some{is_new,   already_seen, refused(crawl::UrlFault::forbidden_in_host),
                                       not_text, not_durable,  unreachable(63)};
    EXPECT_EQ(written(ReplyForm::text, some),
              "new\nseen\n!forbidden-in-host\n!not-text\n!not-durable\n!partition 63 unreachable\n");
    EXPECT_EQ(written(ReplyForm::json, some),
              "[\"new\",\"seen\",\"!forbidden-in-host\",\"!not-text\",\"!not-durable\",\"!partition 63 unreachable\"]\n");
    EXPECT_EQ(written(ReplyForm::octets, some), std::string("\x01\x00\x02\x02\x04\x03", 6));
    EXPECT_EQ(written(ReplyForm::text, {}), "");
    EXPECT_EQ(written(ReplyForm::json, {}), "[]\n");
}

TEST(SeenAnswers, are_as_long_as_they_say_in_any_number_of_pieces) {
    std::mt19937 random(1);
    for (std::size_t count : {1u, 16'383u, 16'384u, 16'385u, 100'000u}) {
        std::vector<LinkStatus> answers;
        for (std::size_t i = 0; i < count; ++i) answers.push_back(random() % 5 == 0 ? not_text : random() % 2);
        auto const text = written(ReplyForm::text, answers);
        EXPECT_EQ(std::ranges::count(text, '\n'), static_cast<std::ptrdiff_t>(count));
        auto const json = written(ReplyForm::json, answers);
        EXPECT_EQ(std::ranges::count(json, ','), static_cast<std::ptrdiff_t>(count - 1));
        EXPECT_TRUE(json.ends_with("\"]\n"));
        EXPECT_EQ(written(ReplyForm::octets, answers).size(), count);
    }
}

TEST(AnsweredCache, holds_what_was_put_in_until_newer_ones_take_its_place) {
    AnsweredCache cache(16);
    EXPECT_FALSE(cache.holds(1));
    EXPECT_FALSE(cache.holds(1)) << "a lookup inserts nothing";
    for (Fingerprint url = 2; url <= 16; url += 2) cache.put(url);   // the eight of the first line
    EXPECT_TRUE(cache.holds(2));
    cache.put(18);
    EXPECT_TRUE(cache.holds(2)) << "the entry was used just before";
    EXPECT_FALSE(cache.holds(4)) << "the least recently used entry is replaced";
    EXPECT_TRUE(cache.holds(18));
    cache.put(0);
    EXPECT_FALSE(cache.holds(0)) << "0 marks an empty slot";
}

}   // namespace
}   // namespace garner::seen
