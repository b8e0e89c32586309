// POSIX expressions for RE2, compared with regcomp and regexec of the C library.
#include "import/posix_regex.hpp"

#include <gtest/gtest.h>
#include <re2/re2.h>
#include <regex.h>

#include <algorithm>
#include <random>

namespace garner::importing {
namespace {

using Kind = Translated::Kind;

std::string re2_of(std::string_view posix, bool ignore_case = false) {
    auto const translated = to_re2(posix, ignore_case);
    if (translated.kind == Kind::invalid) return "invalid";
    if (translated.kind == Kind::unsupported) return "unsupported";
    return translated.patterns.size() == 1 ? translated.patterns.front() : std::to_string(translated.patterns.size()) + " patterns";
}

TEST(PosixRegex, constructs_of_squid_configurations_are_rewritten) {
    EXPECT_EQ(re2_of(R"(\.mp4$)"), R"(\.mp4$)");
    EXPECT_EQ(re2_of(R"(/cgi-bin/|\?)", true), R"((?i)/cgi\-bin/|\?)");
    EXPECT_EQ(re2_of("free.*film"), "(?s)free.*film");
    EXPECT_EQ(re2_of(R"(\d+)"), "d+");
    EXPECT_EQ(re2_of(R"(\<sex\>)"), R"(\bsex\b)");
    EXPECT_EQ(re2_of("a{,2}"), "a{0,2}");
    EXPECT_EQ(re2_of("a**"), "(?:a*)*");
    EXPECT_EQ(re2_of("a+?"), "(?:a+)?");
    EXPECT_EQ(re2_of("[]x]"), R"([\]x])");
    EXPECT_EQ(re2_of(R"([\.])"), R"([\\\.])");
    EXPECT_EQ(re2_of("foo)"), R"(foo\))");
    EXPECT_EQ(re2_of("\xc3\xa9"), R"(\xc3\xa9)");
}

TEST(PosixRegex, no_expression_and_no_equivalent_differ) {
    for (auto const* text : {"*foo", "a|*b", "(a", "a{2", "a{2,1}", "[z-a]", "[a", "a\\", "[[:digits:]]", "^*", "(+a)"})
        EXPECT_EQ(re2_of(text), "invalid") << text;
    for (auto const* text : {R"((a)\1)", R"(\<.a)", R"(.\>)", "[[.space.]]", "a{1001}", "((a{1000}){1000})"})
        EXPECT_EQ(re2_of(text), "unsupported") << text;
}

TEST(PosixRegex, a_long_alternation_becomes_several_patterns) {
    std::string text;
    for (int i = 0; i < 300; ++i) text += (i == 0 ? "" : "|") + std::string("host") + std::to_string(i);
    EXPECT_EQ(re2_of(text), "300 patterns");
    EXPECT_EQ(re2_of(std::string(2'000, 'a')), "unsupported");
}

TEST(PosixRegex, groups_inside_each_other_are_bounded) {
    EXPECT_EQ(re2_of(std::string(100'000, '(')), "unsupported");
    EXPECT_EQ(re2_of(std::string(100'000, '[')), "invalid");
}

TEST(PosixRegex, a_text_matches_itself_alone) {
    re2::RE2 const pattern(re2_for_text("*.Ads.example"), re2::RE2::Latin1);
    ASSERT_TRUE(pattern.ok());
    EXPECT_TRUE(re2::RE2::PartialMatch("*.ads.EXAMPLE", pattern));
    EXPECT_FALSE(re2::RE2::PartialMatch("x.ads.example", pattern));
}

/// The C library's reading of one expression.
class Posix {
public:
    Posix(std::string const& text, bool ignore_case)
        : valid_(::regcomp(&expression_, text.c_str(), REG_EXTENDED | REG_NOSUB | (ignore_case ? REG_ICASE : 0)) == 0) {}
    Posix(Posix const&) = delete;
    ~Posix() {
        if (valid_) ::regfree(&expression_);
    }
    bool valid() const { return valid_; }
    bool matches(std::string const& text) const { return ::regexec(&expression_, text.c_str(), 0, nullptr, 0) == 0; }

private:
    regex_t expression_{};
    bool valid_;
};

std::string random_text(std::mt19937& random, std::vector<std::string> const& parts, std::size_t most) {
    std::string text;
    for (auto count = 1 + random() % most; count > 0; --count) text += parts[random() % parts.size()];
    return text;
}

TEST(PosixRegex, random_expressions_match_the_same_texts) {
    std::vector<std::string> const parts{"a",
                                         "b",
                                         "B",
                                         "Z",
                                         "_",
                                         "-",
                                         "1",
                                         ".",
                                         "*",
                                         "+",
                                         "?",
                                         "^",
                                         "$",
                                         "|",
                                         "(",
                                         ")",
                                         "[",
                                         "]",
                                         "[^",
                                         "a-c",
                                         "{",
                                         "}",
                                         "{2}",
                                         "{,1}",
                                         "{1,}",
                                         "{0}",
                                         ",",
                                         "\\",
                                         "\\w",
                                         "\\W",
                                         "\\s",
                                         "\\S",
                                         "\\b",
                                         "\\B",
                                         "\\<",
                                         "\\>",
                                         "\\.",
                                         "\\d",
                                         "[:alpha:]",
                                         "[[:upper:]]",
                                         "[[:space:]x]",
                                         "[]",
                                         "/",
                                         "\xc3",
                                         "\\`",
                                         "\\'",
                                         "[=a=]",
                                         "()"};
    std::vector<std::string> const letters{"a",  "b",  "c", "A", "B", "Z",    "_",    "-", "1", " ",
                                           "\n", "\v", "/", "d", "x", "\xc3", "\xe3", "]", "\\"};
    std::mt19937 random(7);
    unsigned translated = 0, invalid = 0;
    for (unsigned round = 0; round < 40'000; ++round) {
        auto const text = random_text(random, parts, 7);
        bool const ignore_case = random() % 2 == 0;
        Posix const posix(text, ignore_case);
        auto const ours = to_re2(text, ignore_case);
        if (ours.kind == Kind::unsupported) continue;
        ASSERT_EQ(ours.kind == Kind::invalid, !posix.valid()) << text << " " << ours.why;
        if (!posix.valid()) {
            ++invalid;
            continue;
        }
        ++translated;
        std::vector<std::unique_ptr<re2::RE2>> patterns;
        for (auto const& pattern : ours.patterns) patterns.push_back(std::make_unique<re2::RE2>(pattern, re2::RE2::Latin1));
        for (unsigned subject = 0; subject < 12; ++subject) {
            auto const where = subject == 0 ? "" : random_text(random, letters, 5);
            bool const found = std::ranges::any_of(patterns, [&](auto const& one) { return re2::RE2::PartialMatch(where, *one); });
            ASSERT_EQ(found, posix.matches(where))
                << text << " in " << testing::PrintToString(where) << " " << ours.patterns.front() << (ignore_case ? " -i" : "");
        }
    }
    EXPECT_GT(translated, 8'000u);
    EXPECT_GT(invalid, 3'000u);
}

}   // namespace
}   // namespace garner::importing
