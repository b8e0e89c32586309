#include "admin/top_rows.hpp"

#include <gtest/gtest.h>

#include <string>

namespace garner::admin {
namespace {

using Copies = std::vector<std::unique_ptr<proxy::TopLists::Copy>>;

proxy::TopUse one_use(std::string_view host, bool is_hit = false) {
    proxy::TopUse use;
    use.host = host;
    use.client_text = "::";
    use.is_hit = is_hit;
    use.bytes = 10;
    return use;
}

TEST(TopRows, are_summed_over_workers_and_periods) {
    proxy::TopLists one, other;
    auto const begin = SteadyTime{} + std::chrono::hours(1), later = begin + proxy::TopLists::period;
    for (int i = 0; i < 3; ++i) one.add(one_use("a.example"), begin);
    one.add(one_use("a.example", true), later);
    other.add(one_use("a.example"), later);
    auto missed = one_use("b.example");
    missed.missed_url = "http://b.example/";
    missed.reason = "uri-miss";
    for (int i = 0; i < 2; ++i) other.add(missed, later);
    Copies copies;
    for (auto* lists : {&one, &other}) copies.push_back(lists->copy(later));
    auto const tables = merge_lists(copies);
    ASSERT_EQ(tables.hosts.size(), 2u);
    EXPECT_EQ(tables.hosts[0].name, "a.example");
    EXPECT_EQ(tables.hosts[0].requests, 5u);
    EXPECT_EQ(tables.hosts[0].bytes, 50u);
    EXPECT_EQ(tables.hosts[0].hits, 1u);
    EXPECT_EQ(tables.hosts[1].reason, "uri-miss");
    ASSERT_EQ(tables.clients.size(), 1u);
    EXPECT_EQ(tables.clients[0].requests, 7u);
    ASSERT_EQ(tables.misses.size(), 1u);
    EXPECT_EQ(tables.misses[0].name, "http://b.example/");
    EXPECT_EQ(tables.misses[0].requests, 2u);
}

TEST(TopRows, are_bounded_and_in_order) {
    proxy::TopLists lists;
    auto const now = SteadyTime{} + std::chrono::hours(1);
    for (int host = 0; host < 100; ++host)
        for (int i = 0; i <= host; ++i) lists.add(one_use("host" + std::to_string(host)), now);
    Copies copies;
    copies.push_back(lists.copy(now));
    auto const hosts = merge_lists(copies).hosts;
    ASSERT_EQ(hosts.size(), TopTables::rows_max);
    for (std::size_t i = 0; i < hosts.size(); ++i) EXPECT_EQ(hosts[i].name, "host" + std::to_string(99 - i));
}

TEST(TopRows, of_nothing_are_empty) {
    EXPECT_TRUE(merge_lists({}).hosts.empty());
    Copies copies;
    copies.push_back(proxy::TopLists().copy(SteadyTime{}));
    EXPECT_TRUE(merge_lists(copies).hosts.empty());
}

}   // namespace
}   // namespace garner::admin
