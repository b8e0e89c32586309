// Who pays for a request on the line.
#include "proxy/line_account.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "proxy/request_scene.hpp"

namespace garner::proxy {
namespace {

http::Matcher from(char const* network) {
    http::Matcher matcher;
    matcher.source = {*parse_network(network)};
    return matcher;
}

http::RuleRequest request_of(char const* client, http::Identity const* identity = nullptr) {
    http::RuleRequest facts;
    facts.client = *parse_ip(client);
    facts.identity = identity;
    return facts;
}

std::string subject_of(Options const& options, http::RuleRequest const& facts) {
    return share::subject_name(place_on_line(options, facts, facts.client).subject);
}

TEST(LineAccount, a_user_is_known_by_the_login_else_by_the_network) {
    http::Identity anna;
    anna.user = "anna";
    Options options;
    EXPECT_EQ(subject_of(options, request_of("10.0.0.7", &anna)), "anna");
    EXPECT_EQ(subject_of(options, request_of("10.0.0.7")), "10.0.0.7");
    options.share.by = share::By::source;
    EXPECT_EQ(subject_of(options, request_of("10.0.0.7", &anna)), "10.0.0.7");
}

TEST(LineAccount, a_rule_counts_clients_connections_or_all_together) {
    IpEndpoint const one{*parse_ip("10.0.0.7"), 40'000}, another{*parse_ip("10.0.0.7"), 40'001};
    using share::Each;
    EXPECT_EQ(counted_by(Each::client, "anna", one), counted_by(Each::client, "anna", another));
    EXPECT_NE(counted_by(Each::client, "anna", one), counted_by(Each::client, "berta", one));
    EXPECT_NE(counted_by(Each::connection, "anna", one), counted_by(Each::connection, "anna", another));
    EXPECT_EQ(counted_by(Each::all, "anna", one), counted_by(Each::all, "berta", another));
}

TEST(LineAccount, the_first_rule_that_matches_applies) {
    Options options;
    EXPECT_FALSE(limits_line(options));
    options.share.weights = {{2, from("10.1.0.0/16")}, {3, from("10.0.0.0/8")}};
    share::CapRule guests, others;
    guests.name = "guests";
    guests.match = from("10.9.0.0/16");
    others.name = "others";
    options.caps = {guests, others};
    EXPECT_TRUE(limits_line(options));
    struct Row {
        char const* client;
        float weight;
        char const* cap;
    };
    for (auto const& row : {Row{"10.1.0.1", 2, "others"}, Row{"10.9.0.1", 3, "guests"}, Row{"192.0.2.1", 1, "others"}}) {
        auto const facts = request_of(row.client);
        auto const place = place_on_line(options, facts, facts.client);
        EXPECT_EQ(place.weight, row.weight) << row.client;
        ASSERT_NE(place.cap, nullptr);
        EXPECT_EQ(place.cap->name, row.cap) << row.client;
    }
}

TEST(LineAccount, a_group_that_the_directory_could_not_tell_neither_exempts_nor_weighs_more) {
    http::Matcher staff;
    staff.group = {"staff"};
    Options options;
    options.share.weights = {{3, staff}};
    share::QuotaRule exempt, all;
    exempt.name = "exempt";
    exempt.match = staff;
    all.name = "all";
    all.bytes = 1'000;
    options.quotas = {exempt, all};
    http::Identity const member{.user = "anna", .groups = {"staff"}}, unknown{.user = "bob", .unknown_groups = {"staff"}};
    auto const of_member = place_on_line(options, request_of("10.0.0.7", &member), *parse_ip("10.0.0.7"));
    EXPECT_EQ(of_member.weight, 3);
    EXPECT_EQ(of_member.quota, nullptr);
    auto const of_unknown = place_on_line(options, request_of("10.0.0.7", &unknown), *parse_ip("10.0.0.7"));
    EXPECT_EQ(of_unknown.weight, 1);
    ASSERT_NE(of_unknown.quota, nullptr);
    EXPECT_EQ(of_unknown.quota->name, "all");
}

TEST(LineAccount, fetches_for_the_group_have_a_sixteenth_of_a_weight_and_no_cap_or_quota) {
    test::Origin const origin;
    OneWorker worker(origin);
    auto options = OneWorker::options_of_tests();
    options.share.down = 1'000'000;
    options.share.weights = {{.weight = 3, .match = {}}};
    share::CapRule cap;
    cap.name = "all";
    cap.down = 1'000;
    options.caps = {cap};
    share::QuotaRule quota;
    quota.name = "all";
    quota.bytes = 1;
    options.quotas = {quota};
    worker.options = std::make_shared<Options const>(options);
    worker.shared.caps.configure(options.caps);
    worker.shared.quotas.configure(options.quotas);

    OneRequest of_client(worker, "GET /a HTTP/1.1\r\nHost: site.example");
    auto const* const usual = of_client.request.line_account();
    EXPECT_TRUE(usual->own_cap());
    EXPECT_TRUE(usual->own().quota);
    OneRequest of_group(worker, "GET /a HTTP/1.1\r\nHost: site.example");
    of_group.request.in_group.replicates = true;
    auto* const account = of_group.request.line_account();
    EXPECT_FALSE(account->own_cap());
    EXPECT_FALSE(account->own().quota);
    account->charge(share::Direction::down, 1'000);
    auto const largest = worker.shared.shares.largest(1);
    ASSERT_EQ(largest.size(), 1u);
    EXPECT_EQ(largest[0].name, share::replication_subject);
    EXPECT_EQ(largest[0].flows[0].weight * 16, 1);
    EXPECT_EQ(usual->own().subject->flow(share::Direction::down).weight(), 3);
}

TEST(LineAccount, an_escaped_URL_evades_no_limit_and_uses_no_exemption) {
    Options options;
    share::QuotaRule updates, films, all;
    updates.match.url_contains = {"/updates/"};   // without a limit: it exempts
    films.match.url_contains = {"/films/"};
    films.bytes = all.bytes = 1'000;
    options.quotas = {updates, films, all};
    share::CapRule free, slow;
    free.match = updates.match;
    slow.down = 1'000;
    options.caps = {free, slow};
    struct Row {
        std::string url, plain_url;
        share::QuotaRule const* quota;
        share::CapRule const* cap;
    };
    auto const& [exempt, of_films, of_all] = std::tie(options.quotas[0], options.quotas[1], options.quotas[2]);
    EXPECT_FALSE(exempt.has_limit());
    for (auto const& row : {Row{"http://a.example/updates/1", "", nullptr, &options.caps[0]},
                            Row{"http://a.example/%75pdates/1", "http://a.example/updates/1", &of_all, &options.caps[1]},
                            Row{"http://a.example/%66ilms/1", "http://a.example/films/1", &of_films, &options.caps[1]},
                            Row{"http://a.example/updates/../films/1", "", &of_films, &options.caps[1]},
                            Row{"http://a.example/x%2ffilms/1", "", &of_films, &options.caps[1]},
                            Row{"http://a.example/x/..//updates/1", "", nullptr, &options.caps[0]}}) {
        auto facts = request_of("10.0.0.7");
        http::ResolvedUrls resolved;
        resolved.assign(row.url, std::string_view("http://a.example").size());
        facts.resolved = &resolved;
        facts.url = row.url;
        facts.plain_url = row.plain_url;
        auto const place = place_on_line(options, facts, facts.client);
        EXPECT_EQ(place.quota, row.quota) << row.url;
        EXPECT_EQ(place.cap, row.cap) << row.url;
    }
}

}   // namespace
}   // namespace garner::proxy
