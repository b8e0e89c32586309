#include "admin/roles.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace garner::admin {
namespace {

std::string random_text(std::mt19937& random, std::size_t most) {
    std::string text(random() % (most + 1), '\0');
    for (char& c : text) c = static_cast<char>(random());
    return text;
}

TEST(Roles, a_digest_is_the_SHA_256) {
    EXPECT_EQ(hex_of(digest_of("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");   // FIPS 180-2 B.1
    EXPECT_EQ(digest_in("BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"), digest_of("abc"));
    for (std::string const& wrong : {std::string(), std::string(63, 'a'), std::string(65, 'a'), std::string(63, 'a') + "g"})
        EXPECT_FALSE(digest_in(wrong)) << wrong;
}

TEST(Roles, a_token_is_found_by_its_text_alone) {
    std::mt19937 random(27);
    std::map<std::string, std::string> texts;   // the name of each text
    std::vector<Token> tokens;
    for (int i = 0; i < 100; ++i) {
        auto const text = random_text(random, 80) + std::to_string(i);
        texts[text] = "token" + std::to_string(i);
        tokens.push_back({texts[text], i % 2 ? Role::operator_ : Role::viewer, digest_of(text)});
    }
    for (auto const& [text, name] : texts) {
        ASSERT_NE(token_of(tokens, text), nullptr);
        EXPECT_EQ(token_of(tokens, text)->name, name);
    }
    for (int i = 0; i < 10'000; ++i) {
        auto other = random_text(random, 100);
        if (i % 2) {   // a byte of a valid text changed, or a part of it
            other = std::next(texts.begin(), static_cast<long>(random() % texts.size()))->first;
            other[random() % other.size()] ^= static_cast<char>(1 + random() % 255);
            if (random() % 2) other.resize(random() % other.size());
        }
        if (!texts.contains(other)) EXPECT_EQ(token_of(tokens, other), nullptr);
    }
}

TEST(Roles, no_text_is_no_token) {
    std::vector<Token> const tokens{{"empty", Role::operator_, digest_of("")}};
    EXPECT_EQ(token_of(tokens, ""), nullptr);
    EXPECT_EQ(token_of({}, "x"), nullptr);
    EXPECT_FALSE(is_same_secret("", ""));
    EXPECT_FALSE(is_same_secret("", "a"));
    EXPECT_FALSE(is_same_secret("a", "b"));
    EXPECT_TRUE(is_same_secret("a", "a"));
}

TEST(Roles, each_has_the_rights_of_those_before) {
    EXPECT_LT(Role::none, Role::viewer);
    EXPECT_LT(Role::viewer, Role::operator_);
    EXPECT_EQ(name_of(Role::operator_), "operator");
}

// ---- sessions ----

TEST(Sessions, end_after_their_time_and_by_a_logout) {
    Sessions sessions;
    SteadyTime const begin{std::chrono::hours{100}};
    auto const token = digest_of("token");
    sessions.open("one", "form", token, begin);
    ASSERT_NE(sessions.find("one", begin), nullptr);
    EXPECT_EQ(sessions.find("one", begin)->form_token, "form");
    EXPECT_EQ(sessions.find("two", begin), nullptr);
    EXPECT_EQ(sessions.find("", begin), nullptr);
    auto const end = begin + Sessions::lifetime;
    EXPECT_NE(sessions.find("one", end - seconds{1}), nullptr);
    EXPECT_EQ(sessions.find("one", end), nullptr);
    EXPECT_EQ(sessions.count(end - seconds{1}), 1u);
    EXPECT_EQ(sessions.count(end), 0u);
    sessions.open("two", "form", token, begin);
    sessions.close("two");
    sessions.close("three");
    EXPECT_EQ(sessions.find("two", begin), nullptr);
    EXPECT_NE(sessions.find("one", begin), nullptr);
}

TEST(Sessions, of_a_removed_token_end) {
    Sessions sessions;
    std::vector<Token> const left{{"left", Role::viewer, digest_of("left")}};
    sessions.open("a", "form", digest_of("left"), SteadyTime{});
    sessions.open("b", "form", digest_of("removed"), SteadyTime{});
    sessions.keep(left);
    EXPECT_NE(sessions.find("a", SteadyTime{}), nullptr);
    EXPECT_EQ(sessions.find("b", SteadyTime{}), nullptr);
}

/// Against a list of all sessions in the order of their begin.
TEST(Sessions, are_bounded_for_each_token) {
    std::mt19937 random(12);
    Sessions sessions;
    std::vector<Digest> const tokens{digest_of("a"), digest_of("b"), digest_of("c")};
    std::vector<std::vector<std::string>> open(tokens.size());
    SteadyTime now{};
    for (int i = 0; i < 2'000; ++i) {
        now += seconds{1};
        auto const token = random() % (i % 500 + 3) % tokens.size();
        auto const secret = std::to_string(i);
        sessions.open(secret, "form", tokens[token], now);
        open[token].push_back(secret);
        if (open[token].size() > Sessions::of_token_max) {
            EXPECT_EQ(sessions.find(open[token].front(), now), nullptr);
            open[token].erase(open[token].begin());
        }
    }
    std::size_t sum = 0;
    for (std::size_t token = 0; token < tokens.size(); ++token)
        for (auto const& secret : open[token]) {
            ++sum;
            ASSERT_NE(sessions.find(secret, now), nullptr) << secret;
            EXPECT_EQ(sessions.find(secret, now)->token, tokens[token]);
        }
    EXPECT_EQ(sessions.count(now), sum);
    EXPECT_EQ(sum, tokens.size() * Sessions::of_token_max);
}

}   // namespace
}   // namespace garner::admin
