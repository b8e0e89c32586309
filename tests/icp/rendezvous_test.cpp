// Rendezvous hashing over a group: shares follow weights, and a change moves only the necessary URLs.
#include <gtest/gtest.h>

#include <map>

#include "icp/choice.hpp"

namespace garner::icp {
namespace {

using Group = std::map<std::string, std::uint32_t>;   // members and their weights

std::string const& owner(std::string const& url, Group const& group) {
    std::string const* best = nullptr;
    double highest = -1;
    for (auto const& [name, weight] : group) {
        auto const score = rendezvous_score(url, name, weight);
        if (score > highest) {
            highest = score;
            best = &name;
        }
    }
    return *best;
}

std::string url(int number) { return "http://www.example.org/page/" + std::to_string(number); }

constexpr int urls = 20'000;

TEST(Rendezvous, gives_each_member_its_share_by_weight) {
    Group const group{{"a", 1}, {"b", 1}, {"c", 2}, {"d", 4}};
    std::map<std::string, int> shares;
    for (int i = 0; i < urls; ++i) ++shares[owner(url(i), group)];
    for (auto const& [name, weight] : group)
        EXPECT_NEAR(shares[name], urls * static_cast<double>(weight) / 8, urls * 0.015) << name;
}

TEST(Rendezvous, moves_only_the_urls_of_a_member_that_leaves) {
    Group group{{"a", 1}, {"b", 3}, {"c", 2}, {"d", 1}};
    std::map<int, std::string> before;
    for (int i = 0; i < urls; ++i) before[i] = owner(url(i), group);
    group.erase("c");
    std::map<std::string, int> heirs;
    for (int i = 0; i < urls; ++i) {
        auto const& now = owner(url(i), group);
        if (before[i] == "c")
            ++heirs[now];
        else
            ASSERT_EQ(now, before[i]) << url(i);
    }
    EXPECT_GT(heirs["b"], heirs["a"]) << "the URLs of the lost peer are shared by weight";
    EXPECT_GT(heirs["a"], 0);
    EXPECT_GT(heirs["d"], 0);
}

TEST(Rendezvous, moves_urls_to_a_new_or_heavier_member_only) {
    Group group{{"a", 1}, {"b", 1}, {"c", 1}};
    std::map<int, std::string> before;
    for (int i = 0; i < urls; ++i) before[i] = owner(url(i), group);
    group["c"] = 3;
    for (int i = 0; i < urls; ++i) {
        auto const& now = owner(url(i), group);
        ASSERT_TRUE(now == before[i] || now == "c") << url(i);
    }
}

TEST(Rendezvous, has_scores_that_all_garners_agree_on) {
    EXPECT_EQ(rendezvous_score("http://a/", "m", 1), rendezvous_score("http://a/", "m", 1));
    EXPECT_DOUBLE_EQ(rendezvous_score("http://a/", "m", 3), 3 * rendezvous_score("http://a/", "m", 1));
    EXPECT_EQ(rendezvous_score("http://a/", "m", 0), rendezvous_score("http://a/", "m", 1));
    EXPECT_NE(rendezvous_score("http://a/", "m", 1), rendezvous_score("http://b/", "m", 1));
    EXPECT_NE(rendezvous_score("http://a/", "m", 1), rendezvous_score("http://a/", "n", 1));
    EXPECT_GT(rendezvous_score("", "", 1), 0);
    EXPECT_NEAR(rendezvous_score("http://www.example.org/", "campus", 1), 1.1428838797162815, 1e-9)
        << "the score must be the same in every release";
}

}   // namespace
}   // namespace garner::icp
