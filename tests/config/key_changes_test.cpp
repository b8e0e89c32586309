#include "config/key_changes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.hpp"
#include "config/takeover_keys.hpp"

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

std::vector<std::string> reload(char const* started, char const* running, char const* fresh) {
    std::vector<std::string> texts;
    for (auto const& change : changes_of_reload(Json::parse(started), Json::parse(running), Json::parse(fresh)))
        texts.push_back(change.text());
    return texts;
}

TEST(KeyChanges, name_the_key_and_both_values) {
    EXPECT_THAT(changes(R"({"memory": {"size": "64MiB"}, "workers": 2})", R"({"memory": {"size": "1 GiB"}, "workers": 2})"),
                ElementsAre(R"(memory.size: "64 MiB" -> "1 GiB" (now))"));
}

TEST(KeyChanges, fill_in_defaults) {
    EXPECT_THAT(changes("{}", R"({"workers": 2})"), ElementsAre("workers: 0 -> 2 (takeover)"));
    EXPECT_THAT(changes(R"({"workers": 2})", "{}"), ElementsAre("workers: 2 -> 0 (takeover)"));
    EXPECT_THAT(changes("{}", R"({"workers": 0})"), IsEmpty());
}

TEST(KeyChanges, are_none_where_the_same_value_is_written_otherwise) {
    EXPECT_THAT(changes(R"({"memory": {"size": "1024 MiB"}, "access": [{"allow": {"source": "10.0.0.0/8"}}]})",
                        R"({"memory": {"size": "1GiB"}, "access": [{"allow": {"source": ["10.0.0.0/8"]}}]})"),
                IsEmpty());
    EXPECT_THAT(changes(R"({"$schema": "a"})", R"({"$schema": "b"})"), IsEmpty());
}

TEST(KeyChanges, look_into_lists_of_objects) {
    EXPECT_THAT(changes(R"({"listen": [{"address": "127.0.0.1:1"}]})",
                        R"({"listen": [{"address": "127.0.0.1:2"}, {"address": "127.0.0.1:3"}]})"),
                ElementsAre(R"(listen[0].address: "127.0.0.1:1" -> "127.0.0.1:2" (now))",
                            R"(listen[1].address: (none) -> "127.0.0.1:3" (now))"));
}

TEST(KeyChanges, are_text_for_any_bytes) {
    auto const changes = key_changes(Json::object(), {{"via", "\xff"}});
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_EQ(changes.front().text(), "via: \"\" -> \"\uFFFD\" (now)");
}

TEST(KeyChanges, keep_secrets) {
    EXPECT_THAT(changes(R"({"peers": [{"name": "a", "host": "a.test", "login": "me:one"}]})",
                        R"({"peers": [{"name": "a", "host": "a.test", "login": "me:two"}]})"),
                ElementsAre("peers[0].login: (changed) (now)"));
    EXPECT_THAT(changes("{}", R"({"htcp": {"secret": "0123456789abcdef"}})"), ElementsAre("htcp.secret: (changed) (now)"));
}

TEST(KeyChanges, of_a_reload_keep_those_that_wait_for_a_takeover) {
    EXPECT_THAT(reload(R"({"workers": 1})", R"({"workers": 2})", R"({"workers": 2, "via": "a"})"),
                ElementsAre(R"(via: "" -> "a" (now))", "workers: 1 -> 2 (takeover)"));
    EXPECT_THAT(reload(R"({"workers": 1})", R"({"workers": 2})", R"({"workers": 1})"), IsEmpty());
}

TEST(RestartKeys, are_parts_or_whole_keys) {
    EXPECT_TRUE(needs_takeover("seen.address"));
    EXPECT_TRUE(needs_takeover("seen"));
    EXPECT_TRUE(needs_takeover("memory.what_if"));
    EXPECT_FALSE(needs_takeover("memory.size"));
    EXPECT_FALSE(needs_takeover("seen_before"));
    EXPECT_FALSE(needs_takeover("memory"));
}

TEST(KeyChanges, compare_former_names_of_keys_as_their_present_names) {
    auto const loaded = load_text("a", R"({"limits": {"connections": 7}})", {});
    EXPECT_THAT(loaded.faults, IsEmpty());
    EXPECT_THAT(key_changes(loaded.root, Json::parse(R"({"limits": {"connections_max": 7}})")), IsEmpty());
}

}   // namespace
}   // namespace garner::config
