#include "config/key_changes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.hpp"

namespace garner::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> changes(char const* before, char const* after) {
    EXPECT_TRUE(load_text("before", before, {}).faults.empty());
    EXPECT_TRUE(load_text("after", after, {}).faults.empty());
    std::vector<std::string> texts;
    for (auto const& change : key_changes(Json::parse(before), Json::parse(after))) texts.push_back(change.text());
    return texts;
}

TEST(KeyChanges, name_the_key_and_both_values) {
    EXPECT_THAT(changes(R"({"memory": {"size": "64MiB"}, "workers": 2})", R"({"memory": {"size": "1 GiB"}, "workers": 2})"),
                ElementsAre(R"(memory.size: "64 MiB" -> "1 GiB")"));
}

TEST(KeyChanges, fill_in_defaults) {
    EXPECT_THAT(changes("{}", R"({"workers": 2})"), ElementsAre("workers: 0 -> 2"));
    EXPECT_THAT(changes(R"({"workers": 2})", "{}"), ElementsAre("workers: 2 -> 0"));
    EXPECT_THAT(changes("{}", R"({"workers": 0})"), IsEmpty());
}

TEST(KeyChanges, are_none_where_the_same_value_is_written_otherwise) {
    EXPECT_THAT(changes(R"({"memory": {"size": "1024 MiB"}, "access": [{"allow": {"source": "10.0.0.0/8"}}]})",
                        R"({"memory": {"size": "1GiB"}, "access": [{"allow": {"source": ["10.0.0.0/8"]}}]})"),
                IsEmpty());
    EXPECT_THAT(changes(R"({"$schema": "a"})", R"({"$schema": "b"})"), IsEmpty());
}

TEST(KeyChanges, look_into_lists_of_objects) {
    EXPECT_THAT(
        changes(R"({"listen": [{"address": "127.0.0.1:1"}]})",
                R"({"listen": [{"address": "127.0.0.1:2"}, {"address": "127.0.0.1:3"}]})"),
        ElementsAre(R"(listen[0].address: "127.0.0.1:1" -> "127.0.0.1:2")", R"(listen[1].address: (none) -> "127.0.0.1:3")"));
}

TEST(KeyChanges, are_text_for_any_bytes) {
    auto const changes = key_changes(Json::object(), {{"via", "\xff"}});
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_EQ(changes.front().text(), "via: \"\" -> \"\uFFFD\"");
}

TEST(KeyChanges, keep_secrets) {
    EXPECT_THAT(changes(R"({"peers": [{"name": "a", "host": "a.test", "login": "me:one"}]})",
                        R"({"peers": [{"name": "a", "host": "a.test", "login": "me:two"}]})"),
                ElementsAre("peers[0].login: (changed)"));
    EXPECT_THAT(changes("{}", R"({"htcp": {"secret": "0123456789abcdef"}})"), ElementsAre("htcp.secret: (changed)"));
}

}   // namespace
}   // namespace garner::config
