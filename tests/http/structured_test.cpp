#include "http/structured.hpp"

#include <gtest/gtest.h>

#include "http/heads.hpp"

namespace garner::http {
namespace {

TEST(Structured, a_dictionary_parses_whole_or_not_at_all) {
    struct Case {
        std::string_view text;
        int members;   // -1: parse error
    };
    Case const cases[] = {
        {"a", 1},
        {"a=1", 1},
        {"a=1, b=2", 2},
        {"a=1 ,\tb=2", 2},
        {"a, b;x, c=?0;y=2;z", 3},
        {"a=-15, b=1.5, c=tok/en:1, d=\"q\\\"\", e=:aGk=:, f=(1 2;x \"a\");y, *g=*t", 7},
        {"a=1, a=2", 1},
        {"a=()", 1},
        {"a=999999999999999", 1},
        {"", 0},
        {"   ", 0},
        {"A=1", -1},
        {"a =1", -1},
        {"a= 1", -1},
        {"a=", -1},
        {"a=1,", -1},
        {",a=1", -1},
        {"a=1,,b", -1},
        {"a=1 b", -1},
        {"a=1;", -1},
        {"a=1;B", -1},
        {"a=1000000000000000", -1},
        {"a=--1", -1},
        {"a=-", -1},
        {"a=1.", -1},
        {"a=1.1234", -1},
        {"a='1'", -1},
        {"a=1, &&&&&", -1},
        {"a=\"x", -1},
        {"a=\"\\n\"", -1},
        {"a=\"\xc3\xbc\"", -1},
        {"a=?2", -1},
        {"a=?", -1},
        {"a=:a b:", -1},
        {"a=(1", -1},
        {"a=(1\t2)", -1},
        {"a=(1,2)", -1},
        {"1a", -1},
    };
    for (auto const& c : cases) {
        auto const members = parse_dictionary(fields({{"CDN-Cache-Control", c.text}}), "cdn-cache-control");
        EXPECT_EQ(members ? static_cast<int>(members->size()) : -1, c.members) << c.text;
    }
}

TEST(Structured, lines_are_one_dictionary_and_the_last_value_of_a_key_counts) {
    auto const lines = fields({{"X-Control", "a=1, b"}, {"Other", "???"}, {"x-control", "a=2;p, c=\"t\""}});
    auto const members = parse_dictionary(lines, "X-Control");
    ASSERT_TRUE(members);
    ASSERT_EQ(members->size(), 3u);
    EXPECT_EQ((*members)[0].key, "b");
    EXPECT_EQ((*members)[1].integer, 2);
    EXPECT_EQ((*members)[2].text, "t");
    EXPECT_FALSE(parse_dictionary(fields({{"x", "a=1"}, {"x", "&"}}), "x"));
}

TEST(Structured, the_number_of_members_is_bounded) {
    std::string text = "k0";
    for (std::size_t i = 1; i < dictionary_members_max; ++i) text += ", k" + std::to_string(i);
    EXPECT_TRUE(parse_dictionary(fields({{"x", text}}), "x"));
    text += ", more";
    EXPECT_FALSE(parse_dictionary(fields({{"x", text}}), "x"));
}

}   // namespace
}   // namespace garner::http
