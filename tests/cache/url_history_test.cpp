// Decides which fetches may still be stored, based on later responses for the URL.
#include "cache/url_history.hpp"

#include <gtest/gtest.h>

#include "cache/scene.hpp"

namespace garner::cache {
namespace {

struct UrlHistories : ::testing::Test {
    Scene scene;
    UrlHistory history;
    FillLease first = scene.cache.lease(scene.cache.key("u"), nullptr);
    FillLease second = scene.cache.lease(scene.cache.key("u"), nullptr);
    WallTime const now = wall_now();

    /// Without an ETag it is unknown if two responses have one representation.
    static store::ObjectPtr response(std::string_view tag, std::uint64_t sequence = 0) {
        auto const head = "HTTP/1.1 200 OK\r\n" + (tag.empty() ? "" : "ETag: \"" + std::string(tag) + "\"\r\n");
        store::Object::Parts parts;
        parts.key = "u";
        parts.head = head;
        parts.sequence = sequence;
        return store::Object::make(parts, nullptr);
    }
    void give(FillLease const& by, std::string_view tag, std::uint64_t at, std::string_view key = "u",
              std::string_view names = "") {
        history.give(*by.fill(), {*response(tag), key, names}, at, at, now);
    }
    bool contradicts(FillLease const& of, std::uint64_t asked, std::string_view tag, std::string_view key = "u",
                     std::string_view names = "") {
        return history.contradicts_given(*of.fill(), asked, {*response(tag), key, names}, now);
    }
};

TEST_F(UrlHistories, what_was_given_after_a_fetch_was_asked_counts_against_it_if_it_differs) {
    give(first, "1", 5);
    EXPECT_TRUE(contradicts(second, 4, "2"));
    EXPECT_FALSE(contradicts(second, 4, "1")) << "the same representation";
    EXPECT_FALSE(contradicts(second, 5, "2")) << "the fetch was sent after the response";
    EXPECT_FALSE(contradicts(first, 4, "")) << "the response is of the same fetch";
    EXPECT_TRUE(contradicts(second, 4, "")) << "without a validator it may be another representation";
}

TEST_F(UrlHistories, of_two_that_differ_each_counts_against_the_other) {
    give(first, "1", 5);
    give(second, "2", 6);
    EXPECT_TRUE(contradicts(first, 1, "1"));
    EXPECT_TRUE(contradicts(second, 2, "2"));
    EXPECT_FALSE(contradicts(second, 5, "2")) << "only the fetch's own response came since";
}

TEST_F(UrlHistories, two_of_one_representation_are_both_good) {
    give(first, "1", 5);
    give(second, "1", 6);
    EXPECT_FALSE(contradicts(first, 1, "1"));
    EXPECT_FALSE(contradicts(second, 2, "1"));
}

TEST_F(UrlHistories, variants_do_not_count_against_each_other_unless_Vary_has_changed) {
    // clang-format off
    give(first, "1", 5, "u\x01" "a", "accept");
    EXPECT_FALSE(contradicts(second, 1, "2", "u\x01" "b", "accept"));
    EXPECT_TRUE(contradicts(second, 1, "2", "u\x01" "b", "accept-language"));
    // clang-format on
    EXPECT_TRUE(contradicts(second, 1, "2"));
}

TEST_F(UrlHistories, what_is_forgotten_counts_against_all_that_were_asked_before) {
    for (std::uint64_t i = 0; i < 20; ++i) give(first, "1", 10 + i, "u\x01" + std::to_string(i), "accept");
    // clang-format off
    EXPECT_TRUE(contradicts(second, 13 - 1, "2", "u\x01" "x", "accept")) << "the first four are forgotten";
    EXPECT_FALSE(contradicts(second, 13, "2", "u\x01" "x", "accept"));
    // clang-format on
}

TEST_F(UrlHistories, a_HEAD_counts_where_it_contradicts) {
    history.tell(nullptr, {*response("1"), "u", ""}, 5);
    auto const contradicts_told = [&](std::uint64_t asked, std::string_view tag) {
        return history.contradicts_told(*first.fill(), asked, {*response(tag), "u", ""});
    };
    EXPECT_TRUE(contradicts_told(4, "2"));
    EXPECT_FALSE(contradicts_told(5, "2"));
    EXPECT_FALSE(contradicts_told(4, "1"));
    EXPECT_FALSE(contradicts_told(4, "")) << "without a validator no difference is visible";
    history.tell(first.fill().get(), {*response("3"), "u", ""}, 6);
    EXPECT_FALSE(contradicts_told(4, "2")) << "the last HEAD response counts, and it is of the same fetch";
}

TEST_F(UrlHistories, an_object_is_superseded_once_a_newer_one_of_it_was_given) {
    give(first, "1", 5);
    EXPECT_TRUE(history.is_superseded(*response("0", 4), ""));
    EXPECT_FALSE(history.is_superseded(*response("1", 5), ""));
    EXPECT_TRUE(history.is_superseded(*response("0", 4), "accept")) << "Vary has changed";
}

TEST_F(UrlHistories, an_object_is_superseded_though_what_replaced_it_is_forgotten) {
    auto const variant = [](int i) { return "u\x01" + std::to_string(i); };
    for (int i = 0; i < 20; ++i) give(first, "1", 10 + static_cast<unsigned>(i), variant(i), "accept");
    auto const old = [&](int i, std::uint64_t sequence) {
        store::Object::Parts parts;
        auto const key = variant(i);
        parts.key = key;
        parts.sequence = sequence;
        return store::Object::make(parts, nullptr);
    };
    EXPECT_TRUE(history.is_superseded(*old(0, 9), "accept")) << "the event at 10 is forgotten";
    EXPECT_TRUE(history.is_superseded(*old(19, 20), "accept"));
    EXPECT_FALSE(history.is_superseded(*old(19, 29), "accept"));
}

TEST_F(UrlHistories, what_happens_on_disk_is_known_to_who_read_or_asked_before) {
    history.change_on_disk(7);
    history.unmark(9);
    EXPECT_TRUE(history.is_changed_on_disk_since(6));
    EXPECT_FALSE(history.is_changed_on_disk_since(7));
    EXPECT_TRUE(history.is_unmarked_since(8));
    EXPECT_FALSE(history.is_unmarked_since(9));
}

}   // namespace
}   // namespace garner::cache
