// The table of invalidations against brute force, and what a cache finds after an invalidation.
#include "cache/invalidations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <random>
#include <thread>

#include "cache/scene.hpp"
#include "cache/slow_disk.hpp"

namespace garner::cache {
namespace of_invalidations {   // other tests have the same names
namespace {

using Kind = Invalidation::Kind;
using State = Invalidations::State;

constexpr std::string_view origins[]{"http://a.example", "https://a.example", "http://a.example:8080", "http://b.example"};
constexpr std::string_view paths[]{"/", "/x", "/x/", "/x/y", "/x/y/z?q=/x/", "/w/y"};
constexpr std::string_view tags[]{"one", "two", "three"};

/// A stored response, and what it is for the brute force.
struct Stored {
    std::string url;
    std::vector<std::string> tags;
    bool unreadable = false;
    store::ObjectPtr object;
};

class Brute {
public:
    explicit Brute(unsigned seed) : random_(seed) {}

    std::size_t below(std::size_t most) { return std::uniform_int_distribution<std::size_t>(0, most - 1)(random_); }
    template <class List>
    std::string one_of(List const& list) {
        return std::string(list[below(std::size(list))]);
    }

    Stored store(std::uint64_t number) {
        Stored one{.url = one_of(origins) + one_of(paths)};
        std::string head = "HTTP/1.1 200 OK\r\n";
        for (auto const tag : tags)
            if (below(3) == 0) one.tags.emplace_back(tag);
        std::string list;
        for (auto const& tag : one.tags) list += (list.empty() ? "" : ", ") + ("\"" + tag + "\"");
        if (!list.empty()) head += "cache-groups: " + list + "\r\n";
        one.unreadable = below(6) == 0;
        if (one.unreadable) head += "Cache-Tag: " + std::string(300, 't') + "\r\n";
        store::Object::Parts parts;
        std::string const key = (below(2) ? "f" : "a") + one.url + (below(4) == 0 ? std::string("\x01") + "accept:x" : "");
        parts.key = key;
        parts.head = head;
        parts.sequence = number;
        one.object = store::Object::make(parts, nullptr);
        return one;
    }
    Invalidation invalidation() {
        Invalidation what{.kind = static_cast<Kind>(below(8) == 0 ? 3 : below(3)), .soft = below(2) == 0};
        if (what.kind == Kind::url) what.text = one_of(origins) + one_of(paths);
        if (what.kind == Kind::prefix) what.text = one_of(origins) + std::string(below(2) ? "/" : below(2) ? "/x/" : "/x/y/");
        if (what.kind == Kind::tag) what.text = one_of(tags);
        if (what.kind == Kind::tag && below(2)) what.origin = one_of(origins);
        return what;
    }
    void accept(Invalidation what, std::uint64_t number) { accepted_.push_back({std::move(what), number}); }

    State expected(Stored const& stored, std::uint64_t as_of) const {
        auto state = State::current;
        for (auto const& [what, number] : accepted_)
            if (number > as_of && matches(what, stored)) state = std::max(state, what.soft ? State::soft : State::hard);
        return state;
    }

private:
    static bool matches(Invalidation const& what, Stored const& stored) {
        if (what.kind == Kind::all) return true;
        if (what.kind == Kind::url) return stored.url == what.text;
        if (what.kind == Kind::prefix) return stored.url.starts_with(what.text) && what.text.size() <= stored.url.find('?');
        auto const origin = stored.url.substr(0, stored.url.find('/', 8));
        if (!what.origin.empty() && what.origin != origin) return false;
        return stored.unreadable || std::ranges::find(stored.tags, what.text) != stored.tags.end();
    }

    std::mt19937 random_;
    std::vector<std::pair<Invalidation, std::uint64_t>> accepted_;
};

void run_sequence(unsigned seed, std::size_t most) {
    Brute brute(seed);
    Numbers numbers;
    Invalidations table(numbers, most);
    std::vector<Stored> stored;
    for (int step = 0; step < 60; ++step) {
        switch (brute.below(4)) {
        case 0: stored.push_back(brute.store(numbers.next())); break;
        case 1: {
            auto what = brute.invalidation();
            auto const given = table.accept(what, wall_now());
            brute.accept(std::move(what), given);
            break;
        }
        default: {
            if (stored.empty()) break;
            auto const& one = stored[brute.below(stored.size())];
            bool const by_request = brute.below(3) == 0;
            auto const as_of = by_request ? brute.below(numbers.last() + 1) : one.object->sequence();
            auto const found = by_request ? table.judge(*one.object, as_of).state : table.judge(*one.object).state;
            auto const expected = brute.expected(one, as_of);
            if (as_of >= table.stats().watermark)
                ASSERT_EQ(static_cast<int>(found), static_cast<int>(expected))
                    << "seed " << seed << " step " << step << " " << one.url;
            else
                ASSERT_GE(static_cast<int>(found), static_cast<int>(expected))
                    << "seed " << seed << " step " << step << " " << one.url;
        }
        }
    }
}

TEST(Invalidations, agree_with_brute_force) {
    for (unsigned seed = 0; seed < 4'000; ++seed) ASSERT_NO_FATAL_FAILURE(run_sequence(seed, 1'000));
}

TEST(Invalidations, beyond_the_limit_miss_nothing) {
    for (unsigned seed = 0; seed < 4'000; ++seed) ASSERT_NO_FATAL_FAILURE(run_sequence(seed, 1 + seed % 7));
}

TEST(Invalidations, hold_a_bounded_number_and_their_watermark_rises) {
    Numbers numbers;
    Invalidations table(numbers, 10);
    for (int i = 0; i < 25; ++i) table.accept(*url_invalidation("http://a.example/" + std::to_string(i), false), wall_now());
    EXPECT_EQ(table.stats().held, 10u);
    EXPECT_EQ(table.stats().watermark, 15u);
    EXPECT_EQ(table.stats().accepted[0], 25u);
}

TEST(Invalidations, compare_a_response_again_with_other_tag_fields) {
    Numbers numbers;
    Invalidations table(numbers);
    store::Object::Parts parts;
    parts.key = "fhttp://a.example/x";
    parts.head = "HTTP/1.1 200 OK\r\nX-Tags: one\r\n";
    parts.sequence = numbers.next();
    auto const object = store::Object::make(parts, nullptr);
    table.accept(*tag_invalidation("one", "", false), wall_now());
    EXPECT_FALSE(table.judge(*object));
    EXPECT_EQ(object->checked(), numbers.last());
    table.configure({.tag_fields = {"X-Tags"}});
    EXPECT_TRUE(table.judge(*object).is_hard());
}

/// Clients cause these by POST requests.
TEST(Invalidations, of_purged_urls_push_out_no_others) {
    Numbers numbers;
    Invalidations table(numbers, 80);
    table.lease.begin(seconds(60), seconds(120));
    table.lease.renew(Lease::Time::max());
    auto const purge = [&](int i) {
        table.accept_purged(*url_invalidation("http://a.example/" + std::to_string(i), false), wall_now());
    };
    table.accept(*prefix_invalidation("http://b.example/x/", false), wall_now());
    for (int i = 0; i < 10; ++i) purge(i);
    EXPECT_FALSE(table.must_pass_caches("http://c.example/"));
    EXPECT_TRUE(table.must_pass_caches("http://a.example/9"));
    for (int i = 10; i < 1'000; ++i) purge(i);
    EXPECT_EQ(table.stats().held, 11u) << "an eighth of 80, and the prefix";
    EXPECT_EQ(table.stats().watermark, 0u);
    EXPECT_EQ(table.stats().accepted[0], 1'000u);
    EXPECT_LE(table.stats().bytes, table.stats().bytes_max);
    store::Object::Parts parts;
    parts.key = "fhttp://b.example/x/y";
    parts.head = "HTTP/1.1 200 OK\r\n";
    auto const below = store::Object::make(parts, nullptr);
    parts.key = "fhttp://c.example/";
    auto const other = store::Object::make(parts, nullptr);
    EXPECT_TRUE(table.judge(*below).is_hard()) << "the prefix is still known";
    EXPECT_FALSE(table.judge(*other));
    EXPECT_TRUE(table.must_pass_caches("http://c.example/")) << "it could be one of those that were forgotten a moment ago";
}

/// A request takes its number after an invalidation has taken one: it must know that it has to pass caches, because its response
/// counts as newer.
TEST(Invalidations, a_request_with_a_higher_number_knows_of_them) {
    constexpr char const* url = "http://a.example/page";
    for (int round = 0; round < 2'000; ++round) {
        Numbers numbers;
        Invalidations table(numbers);
        table.lease.begin(seconds(60), seconds(120));
        table.lease.renew(Lease::Time::max());
        std::atomic<bool> begins{false};
        std::uint64_t asked = 0;
        bool passes = false;
        std::thread request([&] {
            while (!begins) {
            }
            for (int i = 0; i < round % 100; ++i) asked = numbers.last();   // a little later in each round
            asked = numbers.next();
            passes = table.must_pass_caches(url);
        });
        begins = true;
        auto const number =
            round % 2 == 0 ? table.raise_watermark(wall_now()) : table.accept(*url_invalidation(url, false), wall_now());
        request.join();
        ASSERT_TRUE(passes || asked < number) << "round " << round;
    }
}

TEST(Invalidations, name_themselves) {
    Scene scene;
    scene.store("fhttp://a.example/x/y");
    auto const explained = [&] { return scene.peek("fhttp://a.example/x/y").invalidated; };
    EXPECT_EQ(explained(), "");
    scene.cache.invalidate(*prefix_invalidation("http://A.example/x/", true));
    EXPECT_EQ(explained(), "invalidated by prefix http://a.example/x/");
    scene.cache.invalidate(invalidation_of_all(false));
    EXPECT_EQ(explained(), "invalidated by purge of everything");
}

TEST(Invalidations, written_as_lines_are_read_again) {
    for (auto const& what : {*url_invalidation("http://a.example/x", true), *prefix_invalidation("http://a.example/x/", false),
                             *tag_invalidation("a tag of words", "http://a.example/page", false), *tag_invalidation("t", "", true),
                             invalidation_of_all(false)}) {
        auto const line = line_of({what, 17, WallTime{milliseconds{1'764'115'200'000}}});
        auto const read = noted_in(line);
        ASSERT_TRUE(read) << line;
        EXPECT_EQ(read->what, what) << line;
        EXPECT_EQ(read->number, 17u);
        EXPECT_EQ(read->at, WallTime{milliseconds{1'764'115'200'000}});
    }
    for (auto const* wrong : {"", "17", "17 1 hard", "17 1 hard tag * ", "17 1 harsh all * ", "x 1 hard all * ", "17 1 hard tag",
                              "17 1 hard all * x", "17 1 hard thing * x", "unreadable"})
        EXPECT_FALSE(noted_in(wrong)) << wrong;
}

TEST(Invalidations, refuse_wrong_input_with_a_fix) {
    EXPECT_NE(prefix_invalidation("http://a.example/x", false).fault_text().find("does not end with /"), std::string::npos);
    EXPECT_NE(prefix_invalidation("/x/", false).fault_text().find("is not a URL"), std::string::npos);
    EXPECT_NE(prefix_invalidation("http://a.example/?x/", false).fault_text().find("has a query"), std::string::npos);
    EXPECT_FALSE(prefix_invalidation("http://a.example" + std::string(65, '/'), false));
    EXPECT_TRUE(prefix_invalidation("http://a.example" + std::string(64, '/'), false));
    EXPECT_FALSE(tag_invalidation(std::string(257, 't'), "", false));
    EXPECT_FALSE(tag_invalidation("", "", false));
    EXPECT_FALSE(tag_invalidation("t", "a.example", false));
    EXPECT_TRUE(tag_invalidation(std::string(256, 't'), "http://a.example", false));
}

// ---- in a cache ----

constexpr char const* page = "fhttp://a.example/page";

struct InCache : ::testing::Test, Scene {
    void invalidate(bool soft) { cache.invalidate(*prefix_invalidation("http://a.example/", soft)); }
};

TEST_F(InCache, a_hard_one_removes_what_was_stored_before) {
    store(page);
    store("fhttp://b.example/page");
    invalidate(false);
    auto const found = lookup(page);
    EXPECT_EQ(found.kind, Lookup::Kind::absent);
    EXPECT_EQ(found.removed, http::ReuseReason::invalidated_prefix);
    EXPECT_EQ(stored("fhttp://b.example/page"), "body");
}

TEST_F(InCache, what_is_stored_afterwards_is_fresh) {
    invalidate(false);
    store(page);
    EXPECT_EQ(stored(page), "body");
    EXPECT_FALSE(lookup(page).removed);
}

TEST_F(InCache, a_soft_one_marks_stale) {
    store(page);
    invalidate(true);
    auto const found = lookup(page);
    EXPECT_EQ(found.kind, Lookup::Kind::stale);
    EXPECT_EQ(found.answer.reason, http::ReuseReason::invalidated_prefix);
    EXPECT_LE(found.answer.ttl, 0);
}

TEST_F(InCache, stale_while_revalidate_counts_from_a_soft_one) {
    Answer answer;
    answer.while_revalidate = 100;
    store(page, answer);
    invalidate(true);
    EXPECT_EQ(kind(page), Lookup::Kind::refresh);
    EXPECT_EQ(kind(page, at(wall_now() + seconds{99})), Lookup::Kind::refresh);
    EXPECT_EQ(kind(page, at(wall_now() + seconds{200})), Lookup::Kind::stale);
    store(page, answer);
    invalidate(false);
    EXPECT_EQ(kind(page), Lookup::Kind::absent);
}

TEST_F(InCache, stale_if_error_only_after_a_soft_one) {
    auto const may = [&](store::Object const& object) {
        return cache.invalidations.may_serve_stale_on_error(object, {}, wall_now(), http::StaleOnErrorKind::unreachable);
    };
    store(page);
    auto const object = lookup(page).object;
    auto parts = object->parts();
    parts.terms.stale_limit = 100;
    auto const limited = store::Object::make(parts, nullptr);
    invalidate(true);
    EXPECT_TRUE(may(*limited));
    EXPECT_FALSE(may(*object)) << "it allows no stale response";
    invalidate(false);
    EXPECT_FALSE(may(*limited));
}

TEST_F(InCache, every_variant_is_outdated) {
    store(page, varying("de", "Accept-Language", "de"));
    store(page, varying("en", "Accept-Language", "en"));
    invalidate(false);
    EXPECT_EQ(stored(page, with("Accept-Language", "de")), "-");
    EXPECT_EQ(stored(page, with("Accept-Language", "en")), "-");
    store(page, varying("new", "Accept-Language", "de"));
    EXPECT_EQ(stored(page, with("Accept-Language", "de")), "new");
    EXPECT_EQ(stored(page, with("Accept-Language", "en")), "-");
}

TEST_F(InCache, a_fetch_that_began_before_is_not_stored) {
    for (bool const soft : {false, true}) {
        auto lead = cache.lease(cache.key(page), nullptr);
        invalidate(soft);
        complete(lead, page);
        EXPECT_EQ(stored(page), "-");
    }
}

TEST_F(InCache, no_request_joins_a_body_of_a_fetch_that_began_before) {
    auto found = lookup(page);
    ASSERT_TRUE(found.lead);
    auto body = cache.memory().make_body(100);
    auto const whole = object(page);
    auto parts = whole->parts();
    parts.bytes = {};
    parts.body = body;
    found.lead.head_is_storable(cache.memory().make_object(parts, cache.key(page).fingerprint), {}, "");
    EXPECT_EQ(kind(page), Lookup::Kind::busy);
    invalidate(false);
    auto after = lookup(page);
    EXPECT_EQ(after.kind, Lookup::Kind::absent);
    EXPECT_TRUE(after.lead) << "it fetches, and others join it";
}

TEST_F(InCache, no_request_joins_a_validation_that_began_before) {
    store(page);
    invalidate(true);
    auto first = lookup(page);
    ASSERT_TRUE(first.lead);
    EXPECT_TRUE(lookup(page).follow);
    invalidate(true);
    auto const second = lookup(page);
    EXPECT_FALSE(second.follow);
    EXPECT_TRUE(second.lead);
}

TEST_F(InCache, a_sibling_hears_no_hit) {
    store(page);
    EXPECT_TRUE(cache.would_serve(cache.key(page), wall_now(), milliseconds{0}));
    invalidate(true);
    EXPECT_FALSE(cache.would_serve(cache.key(page), wall_now(), milliseconds{0}));
}

TEST_F(InCache, inspection_removes_nothing) {
    store(page);
    invalidate(false);
    EXPECT_EQ(peek(page).kind, Lookup::Kind::absent);
    EXPECT_EQ(cache.memory().stats().objects, 1u);
    EXPECT_EQ(kind(page), Lookup::Kind::absent);
    EXPECT_EQ(cache.memory().stats().objects, 0u);
}

/// Keeps lines for the next start.
struct NotingDisk : SlowDisk {
    std::vector<std::string> lines;
    bool note(std::string_view line) override { return lines.emplace_back(line), true; }
    std::vector<std::string> notes() const override { return lines; }
    std::uint64_t first = 1'000;
    std::uint64_t first_sequence() const override { return first; }
};

TEST(AfterARestart, invalidations_of_the_former_process_hold) {
    for (bool const soft : {false, true}) {
        NotingDisk disk;
        {
            Scene scene;
            scene.set_disk(&disk);
            scene.store(page);
            scene.cache.invalidate(*url_invalidation("http://a.example/page", soft));
            scene.store("fhttp://a.example/other");
        }
        ASSERT_EQ(disk.lines.size(), 1u);
        disk.first = 1'000'000;
        Scene next;
        next.set_disk(&disk);
        net::asio::io_context context;
        auto const find = [&](std::string_view url) {
            auto found = next.lookup(url);
            auto const request = Scene::head({});
            http::RequestCacheControl const control;
            Query const query{next.cache.key(url), request, control, wall_now()};
            net::asio::co_spawn(context, next.cache.look_on_disk(found, query, context.get_executor()), net::asio::detached);
            context.restart();
            context.run();
            return found.kind;
        };
        EXPECT_EQ(find(page), soft ? Lookup::Kind::stale : Lookup::Kind::absent);
        EXPECT_EQ(find("fhttp://a.example/other"), Lookup::Kind::fresh);
        EXPECT_EQ(disk.stored(page), soft ? "body" : "-");
    }
}

TEST(AfterARestart, an_unreadable_line_outdates_everything) {
    NotingDisk disk;
    disk.lines = {"unreadable"};
    Scene scene;
    scene.set_disk(&disk);
    auto const old = store::Object::make({.key = page, .head = "HTTP/1.1 200 OK\r\n", .sequence = 999}, nullptr);
    EXPECT_TRUE(scene.cache.invalidations.judge(*old).is_hard());
    scene.store(page);
    EXPECT_EQ(scene.stored(page), "body");
}

}   // namespace
}   // namespace of_invalidations
}   // namespace garner::cache
