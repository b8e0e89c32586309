// Parts and whole objects: joining, replacing and removing them.
#include "cache/parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cache/scene.hpp"
#include "cache/slow_disk.hpp"
#include "http/range.hpp"

namespace garner::cache {
namespace {

constexpr Bytes length = 1'000;

struct Parts : ::testing::Test {
    Scene scene;
    std::string_view etag = R"("a")";
    std::string_view vary;
    std::string lines = "Cache-Control: max-age=100\r\n";
    std::uint32_t lifetime = 100;
    IpAddress source;
    http::FreshnessOptions freshness;
    Ask ask;

    /// Head and bytes as received: a 206 of `range`, or a 200 if the range covers everything.
    store::ObjectPtr received(http::ByteRange range) {
        bool whole = range.size() == length;
        auto head = std::string(whole ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 206 Partial Content\r\n");
        if (!etag.empty()) head.append("ETag: ").append(etag).append("\r\n");
        head += lines;
        if (!whole) head.append("Content-Range: ").append(http::format_content_range({range, length})).append("\r\n");
        auto key = scene.cache.key("u");
        auto body = scene.cache.memory().make_body(range.size());
        while (body->size() < range.size()) {
            auto room = scene.cache.memory().room(*body, key.fingerprint);
            body->grow(room.size());
        }
        body->finish(store::Body::State::complete);
        auto text = vary.empty() ? std::string("u") : variant_text("u", variant());
        store::Object::Parts parts;
        parts.key = text;
        parts.head = head;
        parts.body = std::move(body);
        parts.terms = Scene::terms(lifetime);
        parts.status = whole ? 200 : 206;
        parts.sequence = scene.next();
        parts.source = source;
        return scene.cache.memory().make_object(parts, key.fingerprint);
    }
    std::string variant() const { return vary.empty() ? "" : http::variant_key(http::parse_vary(vary), Scene::head(ask).fields); }
    /// Stores a received object; a part is joined with stored parts first.
    void keep(store::ObjectPtr object) {
        auto key = scene.cache.key("u");
        auto lead = scene.cache.lease(key, nullptr);
        if (object->status() == 206) object = join_part(scene.cache.memory(), *object, nullptr, key.fingerprint, freshness);
        lead.complete(std::move(object), http::parse_vary(vary), variant());
    }
    void keep(Bytes first, Bytes last) { keep(received({first, last})); }
    /// True if stored parts satisfy this range.
    bool has(std::string const& range, std::int64_t later = 0) {
        auto request = ask;
        auto value = "bytes=" + range;
        request.fields.emplace_back("Range", value);
        auto head = Scene::head(request);
        head.method = http::Method::get;
        auto found = scene.cache.lookup({scene.cache.key("u"), head, {}, wall_now() + seconds(later), Collapse::alone});
        if (!found.object || !is_incomplete(*found.object)) return false;
        EXPECT_EQ(found.kind, later < 100 ? Lookup::Kind::fresh : Lookup::Kind::stale);
        return true;
    }
    bool has_whole() { return scene.kind("u", ask) == Lookup::Kind::fresh; }
    store::ObjectPtr there() {
        auto const head = Scene::head(ask);
        http::RequestCacheControl const control;
        return scene.cache.parts({scene.cache.key("u"), head, control, wall_now(), Collapse::alone});
    }
    std::uint64_t objects() const { return scene.cache.memory().stats().objects; }
};

TEST_F(Parts, answer_for_what_they_hold_and_are_no_whole) {
    keep(0, 99);
    keep(200, 299);
    EXPECT_TRUE(has("0-99"));
    EXPECT_TRUE(has("250-260,0-9"));
    EXPECT_FALSE(has("0-299"));
    EXPECT_FALSE(has("-1"));
    EXPECT_TRUE(has("1000-")) << "416";
    EXPECT_TRUE(has("0-99", 200)) << "stale";
    EXPECT_FALSE(has_whole());
    EXPECT_EQ(objects(), 1u);
}

TEST_F(Parts, become_the_whole) {
    for (Bytes first : {600u, 0u, 300u}) keep(first, std::min(length - 1, first + 399));
    EXPECT_TRUE(has_whole());
    EXPECT_FALSE(has("0-9"));
    EXPECT_EQ(objects(), 1u);
}

TEST_F(Parts, the_whole_takes_their_place_whichever_began_first) {
    auto whole = received({0, length - 1});
    keep(0, 99);
    keep(whole);
    EXPECT_TRUE(has_whole());
    EXPECT_FALSE(has("0-9"));
    keep(0, 99);
    EXPECT_TRUE(has_whole());
    EXPECT_FALSE(has("0-9"));
    EXPECT_EQ(objects(), 1u);
}

TEST_F(Parts, of_something_newer_take_the_place_of_a_whole_and_of_other_parts) {
    keep(0, length - 1);
    etag = R"("b")";
    keep(0, 99);
    EXPECT_FALSE(has_whole());
    EXPECT_TRUE(has("0-9"));
    auto late = received({0, length - 1});
    etag = R"("c")";
    keep(100, 199);
    EXPECT_FALSE(has("0-9"));
    keep(late);
    EXPECT_FALSE(has_whole()) << "the fetch began before the stored part";
    EXPECT_TRUE(has("100-199"));
    EXPECT_EQ(objects(), 1u);
}

TEST_F(Parts, give_way_to_a_fresh_whole_that_nothing_contradicts) {
    struct Case {
        std::string_view whole;
        std::string_view part;
        bool stays;
    };
    // clang-format off
    for (auto const& [whole, part, stays] : {Case{"", "", true}, {R"(W/"a")", R"(W/"a")", true}, {R"("a")", "", true},
                                             {"", R"("a")", true}, {R"(W/"a")", R"(W/"b")", false}}) {
        etag = whole;
        keep(0, length - 1);
        etag = part;
        keep(0, 0);
        EXPECT_EQ(has_whole(), stays) << whole << part;
        EXPECT_EQ(has("0-0"), !stays) << whole << part;
        EXPECT_TRUE(scene.cache.purge(scene.cache.key("u")));
    }
    // clang-format on
    etag = "";
    lifetime = 0;
    keep(0, length - 1);
    keep(0, 0);
    EXPECT_TRUE(has("0-0")) << "the complete object was stale";
    EXPECT_EQ(objects(), 1u);
}

TEST_F(Parts, have_the_terms_of_the_head_they_have_together) {
    lines = "Cache-Control: max-age=50\r\nX: old\r\nMy-Control: max-age=70\r\n";
    keep(0, 99);
    auto late = received({200, 299});
    lines = "X: new\r\n";
    keep(100, 199);
    EXPECT_EQ(there()->terms().lifetime, 50u);
    keep(late);
    EXPECT_TRUE(has("0-299"));
    EXPECT_EQ(there()->terms().lifetime, 50u);
    EXPECT_NE(there()->head().find("X: new"), std::string_view::npos) << "the head of the newest fetch applies";
    EXPECT_EQ(there()->head().find("Content-Range"), std::string_view::npos);
    std::string_view const names[] = {"My-Control"};
    freshness.targeted = names;
    keep(300, 399);
    EXPECT_EQ(there()->terms().lifetime, 70u);
}

TEST_F(Parts, from_different_addresses_are_not_joined) {
    keep(0, 99);
    source = *parse_ip("192.0.2.1");
    keep(100, 199);
    EXPECT_FALSE(has("0-99"));
    EXPECT_TRUE(has("100-199"));
    keep(200, 299);
    EXPECT_TRUE(has("100-299"));
    EXPECT_EQ(there()->source(), source);
}

TEST_F(Parts, that_may_be_stale_while_revalidated_are_validated_first) {
    auto request = ask;
    request.fields.emplace_back("Range", "bytes=0-9");
    lines = "Cache-Control: max-age=100, stale-while-revalidate=100\r\n";
    keep(0, 99);
    auto head = Scene::head(request);
    head.method = http::Method::get;
    auto found = scene.cache.lookup({scene.cache.key("u"), head, {}, wall_now() + seconds(150), Collapse::alone});
    EXPECT_EQ(found.kind, Lookup::Kind::stale);
    EXPECT_EQ(found.answer.reason, http::ReuseReason::stale);
}

TEST_F(Parts, say_nothing_about_who_may_share_the_whole) {
    scene.lookup("u").lead.refuse("");
    EXPECT_EQ(scene.kind("u"), Lookup::Kind::hit_for_pass);
    keep(0, 99);
    EXPECT_EQ(scene.kind("u"), Lookup::Kind::hit_for_pass);
    keep(0, length - 1);
    EXPECT_TRUE(has_whole());
}

TEST_F(Parts, of_variants_lie_apart_and_leave_with_them) {
    keep(0, 99);
    vary = "accept";
    for (auto value : {"a", "b"}) {
        ask.fields = {{"Accept", value}};
        keep(0, 9);
    }
    EXPECT_EQ(objects(), 3u) << "two and their marker";
    EXPECT_TRUE(has("0-9"));
    EXPECT_FALSE(has("0-99"));
    ask.fields = {{"Accept", "a"}};
    EXPECT_TRUE(has("0-9"));
    ask.fields = {{"Accept", "c"}};
    EXPECT_FALSE(has("0-9"));
    EXPECT_TRUE(scene.cache.purge(scene.cache.key("u")));
    EXPECT_EQ(objects(), 0u);
    EXPECT_EQ(scene.used(), 0u);
}

TEST_F(Parts, tell_the_disk_of_their_uses) {
    keep(0, 99);
    SlowDisk disk;
    scene.set_disk(&disk);
    for (int i = 0; i < 32; ++i) EXPECT_TRUE(has("0-9"));
    EXPECT_EQ(std::ranges::count(disk.uses, parts_text("u")), 4) << "one of eight";
    scene.set_disk(nullptr);
}

TEST_F(Parts, are_purged_and_not_stored_after_that) {
    keep(0, 99);
    auto lead = scene.cache.lease(scene.cache.key("u"), nullptr);
    auto joined = join_part(scene.cache.memory(), *received({100, 199}), nullptr, scene.cache.key("u").fingerprint, freshness);
    EXPECT_TRUE(scene.cache.purge(scene.cache.key("u")));
    lead.complete(std::move(joined), {}, {});
    EXPECT_FALSE(has("0-9"));
    EXPECT_FALSE(has("100-199"));
    EXPECT_FALSE(scene.cache.purge(scene.cache.key("u")));
    EXPECT_EQ(scene.used(), 0u);
}

}   // namespace
}   // namespace garner::cache
