// Users of the line and their caps.
#include "share/subject.hpp"

#include <gtest/gtest.h>

#include "share/cap.hpp"
#include "share/shares.hpp"

namespace garner::share {
namespace {

IpAddress number(std::uint32_t host) { return IpAddress::v4(0x0a000000u + host); }

TEST(Subjects, have_their_name_as_key) {
    EXPECT_EQ(subject_name(subject_key("anna")), "anna");
    for (char const* text : {"10.0.0.7", "10.0.0.0", "0.0.0.0", "2001:db8::", "2001:db8:1:2::", "::", "fe80::1", "::1"})
        EXPECT_EQ(subject_name(subject_key(*parse_ip(text))), text);
    EXPECT_NE(subject_key("10.0.0.7"), subject_key(*parse_ip("10.0.0.7"))) << "a user may have any name";
    for (char const* user : {"10.0.0.7", "2001:db8::", "all", "user:anna", "source:10.0.0.7", "replication of the group"})
        EXPECT_EQ(subject_name(subject_key(user)), "user:" + std::string(user));
    EXPECT_EQ(subject_name(replication_key()), "replication of the group");
    EXPECT_LE(subject_key(*parse_ip("2001:db8:1:2::")).size(), 15u) << "the key of a network needs no block of its own";
}

TEST(Subjects, a_name_may_tell_a_user_from_a_network) {
    using Keys = std::vector<std::string>;
    auto const anna = subject_key("anna"), of_user = subject_key("10.0.0.7"), of_network = subject_key(*parse_ip("10.0.0.7"));
    EXPECT_EQ(subject_keys_of("anna"), Keys{anna});
    EXPECT_EQ(subject_keys_of("user:anna"), Keys{anna});
    EXPECT_EQ(subject_keys_of("10.0.0.7"), (Keys{of_user, of_network}));
    EXPECT_EQ(subject_keys_of("user:10.0.0.7"), Keys{of_user});
    EXPECT_EQ(subject_keys_of("source:10.0.0.7"), Keys{of_network});
    EXPECT_EQ(subject_keys_of("source:anna"), Keys());
    EXPECT_EQ(subject_keys_of("user:user:anna"), Keys{subject_key("user:anna")});
    EXPECT_EQ(subject_keys_of("2001:DB8::0"), (Keys{subject_key("2001:DB8::0"), subject_key(*parse_ip("2001:db8::"))}));
}

TEST(Subjects, the_longest_idle_leaves_and_those_in_use_stay) {
    Subjects subjects;
    auto const kept = subjects.find(subject_key(number(0)));
    for (std::uint32_t i = 1; i <= 2 * Subjects::most; ++i) subjects.find(subject_key(number(i)));
    EXPECT_LE(subjects.size(), Subjects::most);
    EXPECT_GT(subjects.size(), Subjects::most * 9 / 10);
    EXPECT_EQ(subjects.find(subject_key(number(0))), kept);
}

TEST(Subjects, a_hundred_thousand_take_at_most_20_MiB) {
    constexpr Bytes node = sizeof(std::pair<std::string const, Subject>) + 2 * sizeof(void*);   // next, hash
    EXPECT_LE(heap_block(node) + sizeof(void*), Subjects::bytes_each);
    EXPECT_LE(Subjects::most * Subjects::bytes_each, Subjects::memory_max);
}

TEST(Subjects, long_names_leave_room_for_fewer) {
    Subjects subjects;
    for (int i = 0; i < 100'000; ++i) subjects.find(subject_key(std::string(240, 'x') + std::to_string(i)));
    EXPECT_LE(subjects.memory(), Subjects::memory_max + 16 * 500) << "16 parts of the table, each with one more";
    EXPECT_GT(subjects.size(), 40'000u);
    for (std::uint32_t i = 0; i < 2 * Subjects::most; ++i) subjects.find(subject_key(number(i)));
    EXPECT_EQ(subjects.memory(), subjects.size() * Subjects::bytes_each) << "no long name is left";
}

TEST(Shares, the_largest_come_first) {
    Shares shares;
    for (std::uint32_t i = 1; i <= 300; ++i) {
        auto const subject = shares.subject(subject_key(number(i)), i % 2 + 1);
        shares.line(Direction::down).charge(subject->flow(Direction::down), i * 1'000, steady_now());
        shares.line(Direction::up).charge(subject->flow(Direction::up), 1, steady_now());
    }
    auto const largest = shares.largest(100);
    ASSERT_EQ(largest.size(), 100u);
    EXPECT_EQ(largest.front().name, "10.0.1.44");
    EXPECT_EQ(largest.front().bytes(), 300'001u);
    EXPECT_EQ(largest.front().flows[0].weight, 1);
    EXPECT_EQ(largest.back().bytes(), 201'001u);
    EXPECT_EQ(shares.figures().lines[0].bytes, 300u * 301 / 2 * 1'000);
    EXPECT_EQ(shares.figures().subjects, 300u);
}

CapRule rule(std::string name, Bytes down) {
    CapRule rule;
    rule.name = std::move(name);
    rule.down = down;
    return rule;
}

TEST(Caps, are_one_for_each_client_of_a_rule) {
    Caps caps;
    caps.configure({rule("guests", 1'000'000), rule("others", 2'000'000)});
    auto const one = caps.find("guests", "a");
    EXPECT_EQ(caps.find("guests", "a"), one);
    EXPECT_NE(caps.find("guests", "b"), one);
    EXPECT_NE(caps.find("others", "a"), one);
    EXPECT_EQ(one->line(Direction::down).rate(), 1'000'000u);
    EXPECT_EQ(one->line(Direction::up).rate(), 0u);
    EXPECT_EQ(caps.size(), 3u);
    EXPECT_EQ(caps.find("unknown", "a"), nullptr);
}

TEST(Caps, a_reload_changes_the_rates_of_transfers_under_way_and_keeps_the_counts) {
    Caps caps;
    caps.configure({rule("guests", 1'000'000), rule("others", 2'000'000)});
    auto const guest = caps.find("guests", "a"), other = caps.find("others", "a");
    guest->charge(Direction::down, 500, steady_now());
    other->charge(Direction::up, 7, steady_now());
    caps.configure({rule("guests", 3'000'000)});
    EXPECT_EQ(guest->line(Direction::down).rate(), 3'000'000u);
    EXPECT_EQ(other->line(Direction::down).rate(), 0u) << "its rule is gone";
    auto const figures = caps.figures();
    ASSERT_EQ(figures.size(), 1u);
    EXPECT_EQ(figures[0].name, "guests");
    EXPECT_EQ(figures[0].bytes[0], 500u);
}

/// Owes the bytes of several hours.
void overload(Cap& cap) { cap.charge(Direction::down, 10 * MiB, steady_now()); }
bool is_overloaded(Cap& cap) { return !cap.charge(Direction::down, 1, steady_now()); }

TEST(Caps, of_clients_that_owe_bytes_outlive_a_flood_of_others) {
    Caps caps;
    caps.configure({rule("guests", 1'000)});
    overload(*caps.find("guests", "owes"));
    for (std::size_t i = 0; i < Caps::most + 100; ++i) caps.find("guests", std::to_string(i));
    EXPECT_EQ(caps.size(), Caps::most);
    EXPECT_TRUE(is_overloaded(*caps.find("guests", "owes")));
    EXPECT_FALSE(is_overloaded(*caps.find("guests", "0"))) << "an idle one was evicted";
}

TEST(Caps, that_are_all_in_use_leave_one_for_all_further_clients_of_a_rule) {
    Caps caps;
    caps.configure({rule("guests", 1'000), rule("others", 1'000)});
    std::vector<std::shared_ptr<Cap>> in_use;
    for (std::size_t i = 0; i < Caps::most; ++i) in_use.push_back(caps.find("guests", std::to_string(i)));
    auto const further = caps.find("guests", "a");
    EXPECT_EQ(caps.find("guests", "b"), further);
    EXPECT_NE(caps.find("others", "b"), further);
    EXPECT_EQ(caps.find("guests", "0"), in_use.front());
    EXPECT_EQ(caps.size(), Caps::most + 2);
    in_use.clear();
    EXPECT_NE(caps.find("guests", "b"), further);
}

TEST(Caps, of_a_rule_that_comes_back_are_counted_again) {
    Caps caps;
    caps.configure({rule("guests", 1'000)});
    auto const cap = caps.find("guests", "a");
    cap->charge(Direction::down, 3, steady_now());
    caps.configure({});
    EXPECT_EQ(caps.find("guests", "a"), nullptr);
    caps.configure({rule("guests", 1'000)});
    EXPECT_EQ(caps.find("guests", "a"), cap);
    cap->charge(Direction::down, 5, steady_now());
    ASSERT_EQ(caps.figures().size(), 1u);
    EXPECT_EQ(caps.figures()[0].bytes[0], 8u);
}

}   // namespace
}   // namespace garner::share
