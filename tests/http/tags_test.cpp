#include "http/tags.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace garner::http {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> const every_field{"Cache-Groups", "Surrogate-Key", "Cache-Tag"};

Tags tags(std::string const& fields) { return tags_of("HTTP/1.1 200 OK\r\n" + fields, every_field); }

TEST(Tags, are_read_from_each_field_by_its_own_grammar) {
    auto const all = tags("cache-groups: \"a b\", \"c\\\"d\";x=1\r\nSurrogate-Key: e  f\r\nCACHE-TAG: g h , i,,\r\nX-Other: j\r\n");
    EXPECT_THAT(all.names, ElementsAre("a b", "c\"d", "e", "f", "g h", "i"));
    EXPECT_FALSE(all.unreadable);
    EXPECT_THAT(tags("").names, IsEmpty());
}

TEST(Tags, of_fields_that_are_not_configured_do_not_count) {
    std::vector<std::string> const one{"Cache-Tag"};
    EXPECT_THAT(tags_of("HTTP/1.1 200 OK\r\nSurrogate-Key: a\r\nCache-Tag: b\r\n", one).names, ElementsAre("b"));
}

TEST(Tags, that_are_wrong_long_or_too_many_are_unreadable) {
    for (auto const* wrong : {"a", "\"a", "\"a\" \"b\"", "\"a\",", "1", "(\"a\")", "\"\xc3\xa4\""})
        EXPECT_TRUE(tags("Cache-Groups: " + std::string(wrong) + "\r\n").unreadable) << wrong;
    EXPECT_FALSE(tags("Cache-Tag: " + std::string(256, 'a') + "\r\n").unreadable);
    EXPECT_TRUE(tags("Cache-Tag: " + std::string(257, 'a') + "\r\n").unreadable);
    std::string many;
    for (int i = 0; i < 64; ++i) many += std::to_string(i) + " ";
    EXPECT_FALSE(tags("Surrogate-Key: " + many + "\r\n").unreadable);
    auto const more = tags("Surrogate-Key: " + many + "64\r\n");
    EXPECT_TRUE(more.unreadable);
    EXPECT_EQ(more.names.size(), tags_max);
}

TEST(Tags, in_Cache_Group_Invalidation_are_ignored_when_the_field_is_wrong) {
    ResponseHead head;
    head.fields.add("Cache-Group-Invalidation", "\"a\", \"b\"");
    EXPECT_THAT(invalidated_groups(head), ElementsAre("a", "b"));
    head.fields.add("Cache-Group-Invalidation", "c");
    EXPECT_THAT(invalidated_groups(head), IsEmpty());
    EXPECT_THAT(invalidated_groups(ResponseHead()), IsEmpty());
}

TEST(Tags, have_up_to_256_bytes_without_control_characters) {
    EXPECT_TRUE(is_tag("a b,c"));
    EXPECT_FALSE(is_tag(""));
    EXPECT_FALSE(is_tag("a\nb"));
    EXPECT_TRUE(is_tag(std::string(256, 'x')));
    EXPECT_FALSE(is_tag(std::string(257, 'x')));
}

}   // namespace
}   // namespace garner::http
