// An object is one allocation that knows its parts and frees exactly its charged size.
#include "store/object.hpp"

#include <gtest/gtest.h>

#include <string>

namespace garner::store {
namespace {

Object::Parts parts(std::string_view key, std::string_view head, std::string_view bytes) {
    Object::Parts parts;
    parts.key = key;
    parts.head = head;
    parts.bytes = bytes;
    return parts;
}

TEST(Object, keeps_key_head_and_bytes_apart) {
    std::string key = "fhttp://a/", head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\n", bytes = "hello";
    auto given = parts(key, head, bytes);
    given.status = 203;
    given.sequence = 42;
    given.terms.lifetime = 77;
    auto object = Object::make(given, nullptr);
    key = head = bytes = "gone";
    EXPECT_EQ(object->key(), "fhttp://a/");
    EXPECT_EQ(object->head(), "HTTP/1.1 200 OK\r\nETag: \"1\"\r\n");
    EXPECT_EQ(object->bytes(), "hello");
    EXPECT_EQ(object->status(), 203);
    EXPECT_EQ(object->sequence(), 42u);
    EXPECT_EQ(object->terms().lifetime, 77u);
    EXPECT_EQ(object->length(), 5u);
    EXPECT_EQ(object->kind(), Object::Kind::response);
}

TEST(Object, may_have_no_body_and_no_head) {
    auto object = Object::make(parts("k", "", ""), nullptr);
    EXPECT_EQ(object->head(), "");
    EXPECT_EQ(object->bytes(), "");
    EXPECT_EQ(object->length(), 0u);
}

TEST(Object, gives_back_to_the_byte_what_was_reserved_for_it) {
    Budget budget(MiB, MiB);
    for (std::size_t size : {0u, 1u, 15u, 16u, 17u, 1'000u, 65'536u}) {
        std::string bytes(size, 'x');
        auto given = parts("key", "head", bytes);
        auto cost = Object::cost_of(given);
        ASSERT_TRUE(budget.reserve(cost));
        auto object = Object::make(given, &budget);
        auto second = object;
        EXPECT_EQ(object->cost(), cost);
        EXPECT_TRUE(object->charged());
        object = nullptr;
        EXPECT_EQ(budget.used(), cost);
        second = nullptr;
        EXPECT_EQ(budget.used(), 0u);
    }
}

TEST(Object, without_a_budget_costs_nothing) {
    auto object = Object::make(parts("k", "h", "b"), nullptr);
    EXPECT_EQ(object->cost(), 0u);
    EXPECT_FALSE(object->charged());
}

TEST(Object, counts_a_shared_body_as_long_as_it_lives) {
    Budget budget(MiB, MiB);
    BodyPtr body(new Body(budget, 100'000));
    auto reserve = [&](Bytes bytes) { return budget.reserve(bytes) && budget.reserve_filling(bytes); };
    body->grow(body->room(reserve).size());
    body->finish(Body::State::complete);
    auto given = parts("k", "h", "");
    given.body = body;
    auto cost = Object::cost_of(given);
    ASSERT_TRUE(budget.reserve(2 * cost));
    auto old_head = Object::make(given, &budget), new_head = Object::make(given, &budget);
    EXPECT_EQ(old_head->cost(), cost + 100'000);
    EXPECT_EQ(old_head->length(), 100'000u);
    given.body = nullptr;
    body = nullptr;
    old_head = nullptr;
    EXPECT_EQ(budget.used(), cost + 100'000);
    new_head = nullptr;
    EXPECT_EQ(budget.used(), 0u);
}

}   // namespace
}   // namespace garner::store
