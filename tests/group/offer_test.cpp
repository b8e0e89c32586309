// Offers in force, at a member and at a voter.
#include "group/offer.hpp"

#include <gtest/gtest.h>

#include "group/member.hpp"
#include "group/voter.hpp"

namespace garner::group {
namespace {

using Kind = cache::Invalidation::Kind;

Offer offer_of(std::string url, std::string validator = "1", std::uint32_t life = 60) {
    return {.url = std::move(url), .validator = std::move(validator), .length = 1'000'000, .life = life, .parents = {}};
}

cache::Invalidation what(Kind kind, std::string text, std::string origin = {}) {
    return {.kind = kind, .soft = false, .origin = std::move(origin), .text = std::move(text)};
}

TEST(GroupOffers, an_invalidation_that_may_concern_the_object_ends_its_offer) {
    constexpr auto url = "http://a.example/films/1";
    EXPECT_TRUE(may_concern(what(Kind::url, url), url));
    EXPECT_FALSE(may_concern(what(Kind::url, "http://a.example/films/10"), url));
    EXPECT_TRUE(may_concern(what(Kind::prefix, "http://a.example/films/"), url));
    EXPECT_FALSE(may_concern(what(Kind::prefix, "http://a.example/books/"), url));
    EXPECT_TRUE(may_concern(what(Kind::tag, "news", "http://a.example"), url));
    EXPECT_TRUE(may_concern(what(Kind::tag, "news"), url));
    EXPECT_FALSE(may_concern(what(Kind::tag, "news", "http://a.exam"), url));
    EXPECT_TRUE(may_concern(what(Kind::all, ""), url));
    Offers<int> offers;
    EXPECT_TRUE(offers.add(1, offer_of(url), Time(0)));
    EXPECT_TRUE(offers.add(2, offer_of("http://b.example/"), Time(0)));
    offers.end_concerned(what(Kind::tag, "x", "http://a.example"));
    EXPECT_EQ(offers.find(url), nullptr);
    EXPECT_NE(offers.find("http://b.example/"), nullptr);
}

TEST(GroupOffers, one_offer_of_an_object_is_in_force_until_its_freshness_ends) {
    Offers<int> offers;
    EXPECT_TRUE(offers.add(1, offer_of("http://a/", "1", 10), Time(0)));
    EXPECT_FALSE(offers.add(2, offer_of("http://a/", "1", 99), Time(seconds(5)))) << "an offer never lengthens a life";
    EXPECT_EQ(offers.find("http://a/")->tag, 1);
    EXPECT_EQ(life_left(offers.find("http://a/")->ends, Time(seconds(5))), 5u);
    EXPECT_TRUE(offers.add(3, offer_of("http://a/", "2", 10), Time(seconds(6)))) << "a newer object";
    EXPECT_EQ(offers.all().size(), 1u);
    auto unknown = offer_of("http://a/", "2", 10);
    unknown.length = 0;
    EXPECT_FALSE(offers.add(5, unknown, Time(seconds(6)))) << "its length is not known yet";
    offers.end_old(Time(seconds(16)));
    EXPECT_TRUE(offers.all().empty());
    EXPECT_FALSE(offers.add(4, offer_of("http://a/", "2", 0), Time(seconds(16))));
}

TEST(GroupOffers, their_number_and_their_bytes_are_bounded) {
    Offers<int> offers;
    constexpr int few = 10;
    int const number = static_cast<int>(Offers<int>::most) + few;
    for (int i = 0; i < number; ++i) EXPECT_TRUE(offers.add(i, offer_of("http://a/" + std::to_string(i)), Time(0)));
    EXPECT_EQ(offers.all().size(), Offers<int>::most);
    EXPECT_EQ(offers.all().front().tag, few);
    for (int i = 0; i < number; ++i)
        EXPECT_TRUE(offers.add(i, offer_of("http://b/" + std::to_string(i) + std::string(8'000, 'x')), Time(0)));
    EXPECT_LE(offers.all().size(), Offers<int>::bytes_max / 8'000);
    EXPECT_GT(offers.all().size(), Offers<int>::bytes_max / 10'000);
}

// ---- at a voter ----

struct OneVoter {
    Voter voter{[] {
                    Settings settings;
                    settings.identity = {.name = 1, .voters = 1, .lease = milliseconds(2'000)};
                    return settings;
                }(),
                9, Time(0)};
    Time now{seconds(10)};
    std::uint64_t polls = 0;

    /// Returns what it is sent.
    std::vector<Message> join(Voter::Link link, std::uint64_t uplink = 10'000'000, std::uint64_t sequence = 0) {
        Hello hello{.identity = {.name = 1, .voters = 1, .lease = milliseconds(2'000)}, .process = link};
        hello.instance = sequence == 0 ? 0 : 9;
        hello.sequence = sequence;
        hello.address = "10.0.0." + std::to_string(link) + ":3128";
        hello.uplink = hello.downlink = uplink;
        EXPECT_TRUE(voter.receive(link, hello, now));
        auto const welcome = voter.next(link);
        auto const from = std::get<Welcome>(*welcome).sequence;
        EXPECT_TRUE(voter.receive(link, Poll{.number = ++polls, .applied = from}, now));
        return messages(link);
    }
    std::vector<Message> messages(Voter::Link link) {
        std::vector<Message> all;
        while (auto message = voter.next(link)) all.push_back(*std::move(message));
        return all;
    }
    void append(Voter::Link link, std::uint64_t number, Notice notice) {
        notice.id = {.process = link, .number = number};
        EXPECT_TRUE(voter.receive(link, Append{std::move(notice)}, now));
    }
    void offer(Voter::Link link, std::uint64_t number, Offer one) {
        append(link, number, {.id = {}, .what = {}, .offer = std::move(one)});
    }
};

std::vector<Offer> offers_in(std::vector<Message> const& messages) {
    std::vector<Offer> all;
    for (auto const& message : messages) {
        if (auto const* news = std::get_if<News>(&message))
            for (auto const& notice : news->notices)
                if (notice.offer) all.push_back(*notice.offer);
        if (auto const* standing = std::get_if<Standing>(&message))
            for (auto const& notice : standing->offers) all.push_back(*notice.offer);
    }
    return all;
}

TEST(GroupOffers, a_voter_tells_each_member_whom_to_ask) {
    OneVoter scene;
    scene.join(1, 90'000'000), scene.join(2, 50'000'000), scene.join(3, 10'000'000);
    scene.offer(1, 1, offer_of("http://a/"));
    EXPECT_EQ(offers_in(scene.messages(1)).at(0).parents, std::vector<std::string>{}) << "the root asks the origin";
    EXPECT_EQ(offers_in(scene.messages(2)).at(0).parents, std::vector<std::string>{"10.0.0.1:3128"});
    auto const last = offers_in(scene.messages(3)).at(0);
    ASSERT_FALSE(last.parents.empty());
    EXPECT_EQ(last.parents.back(), "10.0.0.1:3128");
    EXPECT_EQ(last.life, 60u);
}

TEST(GroupOffers, measured_lines_change_the_tree) {
    constexpr std::uint64_t slow = 1'000'000, usual = 10'000'000, fast = 90'000'000;
    OneVoter scene;
    scene.join(1, usual), scene.join(2, fast), scene.join(3, usual);
    using Parents = std::vector<std::string>;
    std::uint64_t number = 0;
    auto const parents_of = [&](Voter::Link member) {
        for (Voter::Link link = 1; link <= 3; ++link) scene.messages(link);
        ++number;
        scene.offer(1, number, offer_of("http://a/" + std::to_string(number)));
        return offers_in(scene.messages(member)).at(0).parents;
    };
    EXPECT_EQ(parents_of(3), (Parents{"10.0.0.2:3128", "10.0.0.1:3128"}));
    EXPECT_TRUE(scene.voter.receive(2, Lines{.uplink = slow, .downlink = fast}, scene.now));
    EXPECT_TRUE(scene.voter.receive(3, Lines{.uplink = fast, .downlink = fast}, scene.now));
    EXPECT_EQ(parents_of(3), Parents{"10.0.0.1:3128"});
    EXPECT_EQ(parents_of(2), (Parents{"10.0.0.3:3128", "10.0.0.1:3128"}));
    EXPECT_TRUE(scene.voter.receive(3, Lines{.uplink = 0, .downlink = 0}, scene.now)) << "unknown again: faster than slow";
    EXPECT_EQ(parents_of(2), (Parents{"10.0.0.3:3128", "10.0.0.1:3128"}));
}

TEST(GroupOffers, a_newcomer_gets_those_in_force) {
    OneVoter scene;
    scene.join(1);
    scene.offer(1, 1, offer_of("http://a/"));
    scene.offer(1, 2, offer_of("http://b/", "1", 5));
    scene.offer(1, 3, offer_of("http://c/"));
    scene.append(1, 4, {.id = {}, .what = what(Kind::url, "http://c/")});
    scene.now += seconds(10);
    auto const found = offers_in(scene.join(2));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].url, "http://a/");
    EXPECT_EQ(found[0].life, 50u);
    EXPECT_EQ(found[0].parents, std::vector<std::string>{"10.0.0.1:3128"});
}

TEST(GroupOffers, one_that_has_ended_keeps_its_place_in_the_sequence) {
    OneVoter scene;
    scene.join(1);
    scene.offer(1, 1, offer_of("http://a/"));
    scene.append(1, 2, {.id = {}, .what = what(Kind::url, "http://a/")});
    scene.messages(1);
    auto const messages = scene.join(2, 10'000'000, 0);
    EXPECT_TRUE(offers_in(messages).empty());
    scene.voter.closed(2);
    scene.offer(1, 3, offer_of("http://b/"));
    scene.append(1, 4, {.id = {}, .what = what(Kind::url, "http://b/")});
    auto const later = offers_in(scene.join(2, 10'000'000, 2));   // goes on behind the second notice
    ASSERT_EQ(later.size(), 1u);
    EXPECT_EQ(later[0].life, 0u);
    EXPECT_EQ(scene.voter.latest(), 4u);
}

TEST(GroupOffers, a_second_offer_of_the_same_object_is_accepted_and_not_sent) {
    OneVoter scene;
    scene.join(1), scene.join(2);
    scene.offer(1, 1, offer_of("http://a/"));
    scene.messages(1), scene.messages(2);
    scene.offer(2, 1, offer_of("http://a/"));
    auto const answer = scene.messages(2);
    ASSERT_EQ(answer.size(), 1u);
    EXPECT_TRUE(std::holds_alternative<Stored>(answer[0]));
    EXPECT_TRUE(scene.messages(1).empty());
    EXPECT_EQ(scene.voter.latest(), 1u);
}

TEST(GroupOffers, many_of_one_member_share_one_tree) {
    OneVoter scene;
    for (Voter::Link link = 1; link <= 200; ++link) scene.join(link);
    for (std::uint64_t number = 1; number <= 1'000; ++number)
        scene.offer(1, number, offer_of("http://a/" + std::to_string(number)));
    std::size_t told = 0;
    for (Voter::Link link = 1; link <= 200; ++link) told += offers_in(scene.messages(link)).size();
    EXPECT_EQ(told, 200u * 1'000u);
}

}   // namespace
}   // namespace garner::group
