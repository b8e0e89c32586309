// The addresses of names during the last day: bounded, and forgotten after it.
#include "net/name_history.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace garner::net {
namespace {

IpAddress number(unsigned i) { return IpAddress::v4(0x0a000000u + i); }
std::vector<IpAddress> only(unsigned i) { return {number(i)}; }

SteadyTime const start = steady_now();

TEST(NameHistory, proves_an_address_for_a_day_and_for_minutes) {
    using enum DnsProof;
    NameHistory history;
    EXPECT_EQ(history.proof("a.example", number(1), start), none);
    history.note("a.example", only(1), start);
    history.note("a.example.", only(2), start + seconds{10});
    EXPECT_EQ(history.proof("a.example", number(1), start), recent);
    EXPECT_EQ(history.proof("a.example", number(1), start + NameHistory::recent_time), recent);
    EXPECT_EQ(history.proof("a.example", number(1), start + NameHistory::recent_time + seconds{1}), past);
    EXPECT_EQ(history.proof("a.example.", number(2), start + NameHistory::lifetime), past);
    EXPECT_EQ(history.proof("b.example", number(1), start), none);
    EXPECT_EQ(history.proof("a.example", number(3), start), none);
    EXPECT_EQ(history.proof("a.example", number(1), start + NameHistory::lifetime + seconds{1}), none);
    history.note("a.example", only(1), start + NameHistory::lifetime);
    EXPECT_EQ(history.proof("a.example", number(1), start + NameHistory::lifetime + seconds{1}), recent) << "given again";
}

TEST(NameHistory, keeps_the_latest_addresses_of_a_name) {
    NameHistory history;
    unsigned const most = NameHistory::addresses_max;
    for (unsigned i = 0; i <= most; ++i) history.note("a.example", only(i), start + seconds{i});
    auto const now = start + seconds{most};
    EXPECT_EQ(history.proof("a.example", number(0), now), DnsProof::none);
    for (unsigned i = 1; i <= most; ++i) EXPECT_EQ(history.proof("a.example", number(i), now), DnsProof::recent) << i;
}

TEST(NameHistory, keeps_the_names_used_last_within_its_memory) {
    NameHistory history;
    history.note("first.example", only(1), start);
    for (unsigned i = 0; i < NameHistory::names_max + 10; ++i) {
        history.note(std::to_string(i) + ".example", only(i), start);
        if (i == NameHistory::names_max / 2) EXPECT_EQ(history.proof("first.example", number(1), start), DnsProof::recent);
    }
    EXPECT_EQ(history.proof("first.example", number(1), start), DnsProof::recent);
    EXPECT_EQ(history.proof("0.example", number(0), start), DnsProof::none);
    EXPECT_EQ(history.bytes(), NameHistory::bytes_max());
}

TEST(NameHistory, lets_DNS_be_asked_again_once_a_second) {
    NameHistory history;
    EXPECT_TRUE(history.may_ask_again("a.example", start));
    EXPECT_FALSE(history.may_ask_again("a.example", start + milliseconds{999}));
    EXPECT_TRUE(history.may_ask_again("b.example", start));
    EXPECT_TRUE(history.may_ask_again("a.example", start + seconds{1}));
}

}   // namespace
}   // namespace garner::net
