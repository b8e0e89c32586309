// Media types by Accept: the most specific range decides, then its weight.
#include "http/accept.hpp"

#include <gtest/gtest.h>

namespace garner::http {
namespace {

using Match = MediaPreference::Match;

MediaPreference preference(std::string_view accept, std::string_view type = "text/html") {
    Fields fields;
    fields.add("Accept", accept);
    return media_preference(fields, type);
}

TEST(Accept, a_request_without_it_has_no_preference) {
    EXPECT_EQ(media_preference(Fields(), "text/html"), MediaPreference());
    EXPECT_EQ(preference("").match, Match::none);
    EXPECT_EQ(preference("image/png").match, Match::none);
}

TEST(Accept, the_most_specific_range_decides) {
    EXPECT_EQ(preference("*/*"), (MediaPreference{1000, Match::any}));
    EXPECT_EQ(preference("*/*, text/*;q=0.5"), (MediaPreference{500, Match::type}));
    EXPECT_EQ(preference("text/html;q=0.1, text/*;q=0.5, */*"), (MediaPreference{100, Match::exact}));
    EXPECT_EQ(preference("text/html;q=0, */*"), (MediaPreference{0, Match::exact}));
    EXPECT_EQ(preference("TEXT/HTML"), (MediaPreference{1000, Match::exact}));
}

TEST(Accept, all_lines_and_members_count) {
    Fields fields;
    fields.add("Accept", "image/png");
    fields.add("accept", ", text/html;q=0.7 ,text/html;q=0.2");
    EXPECT_EQ(media_preference(fields, "text/html"), (MediaPreference{700, Match::exact}));
}

TEST(Accept, weights_have_three_digits) {
    struct {
        std::string_view accept;
        std::uint16_t weight;
    } const rows[] = {{"text/html;q=1", 1000},       {"text/html;q=1.000", 1000}, {"text/html; Q=0.25", 250},
                      {"text/html;q=0.", 0},         {"text/html;q=0.125", 125},  {"text/html;level=1;q=0.4;x=y", 400},
                      {"text/html;charset=x", 1000}, {"text/html ; q=0.9", 900}};
    for (auto const& [accept, weight] : rows) EXPECT_EQ(preference(accept), (MediaPreference{weight, Match::exact})) << accept;
}

TEST(Accept, members_with_a_malformed_weight_are_ignored) {
    for (auto const* accept : {"text/html;q=", "text/html;q=2", "text/html;q=1.5", "text/html;q=.5", "text/html;q=0.1234",
                               "text/html;q=x", "text/html;q=0,5", "text/html;q=-1", "text", "text/", "/", "*", "/*", "*/html"})
        EXPECT_EQ(preference(accept).weight, 0) << accept;
    EXPECT_EQ(preference("text/html;q=9, */*;q=0.3"), (MediaPreference{300, Match::any}));
    EXPECT_EQ(weight_of("text/html;q=9"), std::nullopt);
    EXPECT_EQ(weight_of("text/html;;q=0.25"), 250);
}

}   // namespace
}   // namespace garner::http
