#include "admin/explain_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "peers.hpp"
#include "proxy/rule_hits.hpp"

namespace garner::admin {
namespace {

using testing::HasSubstr;

struct Rows {
    Figures figures = report_with_peers().figures;
    std::vector<proxy::Refused> refusals = {};
    std::vector<share::SubjectFigures> subjects = {};
    WallTime now = from_unix_seconds(1'764'000'000);

    /// All lines as "subject: text".
    std::string of(std::string const& asked) const {
        Explained out{asked, ""};
        if (!explain_row({figures, refusals, subjects, now}, out)) return "no row";
        auto text = out.title;
        for (auto const& line : out.lines) text += "\n" + line.subject + ": " + line.text;
        return text;
    }
};

TEST(ExplainRows, a_peer_has_its_state_and_its_figures) {
    auto const text = Rows().of("peer campus");
    EXPECT_THAT(text,
                HasSubstr("Peer campus\nstate: alive: Garner queries it and waits for its replies\ntype: parent at cache.example, "
                          "10.0.0.3\nqueries: sent: 12,345, replies: 12,340"));
    EXPECT_THAT(text, HasSubstr("\nhits: 700, of which it did not have the object: 3\nfetched: 9,000 responses"));
}

TEST(ExplainRows, a_peer_without_queries_at_an_address_has_the_address_once) {
    Rows rows;
    rows.figures.peers[0].options.no_query = true;
    rows.figures.peers[0].options.host = rows.figures.peers[0].address;
    EXPECT_THAT(rows.of("peer campus"),
                HasSubstr("\nstate: alive: Garner uses it without queries\ntype: parent at 10.0.0.3\nqueries: "));
}

TEST(ExplainRows, a_dead_peer_has_the_probable_cause) {
    Rows rows;
    auto& peer = rows.figures.peers[1];
    EXPECT_THAT(rows.of("peer next door"), HasSubstr("state: dead: "));
    peer.queries = 5;
    EXPECT_THAT(rows.of("peer next door"), HasSubstr("cause: it has replied to no query"));
    peer.connect_failures = 1;
    EXPECT_THAT(rows.of("peer next door"),
                HasSubstr("cause: 1 connection failed: check that it listens on port 3128 of cache.example"));
    peer.answers = peer.denied = 5;
    EXPECT_THAT(rows.of("peer next door"), HasSubstr("cause: it denies the queries of this cache"));
}

TEST(ExplainRows, a_rule_has_its_hits_its_last_refusals_and_why_it_is_dead) {
    Rows rows;
    auto options = std::make_shared<proxy::Options>();
    std::vector<http::AccessRule> rules(2);
    rules[0].place = "access[0]: deny";
    rules[0].name = "exams";
    rules[0].because = "exams week";
    rules[1].place = "access[1]: deny";
    options->access = http::AccessRules(rules);
    options->rule_hits = std::make_shared<proxy::RuleHits>(rules.size(), 1);
    rows.figures.options = options;
    proxy::Refused refused;
    refused.id = "17-ab";
    refused.method = "GET";
    refused.url = "http://games.example/";
    refused.rule = "exams (access[0]: deny)";
    refused.client = IpAddress::v4(10, 4, 0, 7);
    rows.refusals = {refused};
    EXPECT_THAT(rows.of("rule exams (access[0]: deny)"), HasSubstr("hits: 0 requests decided"));
    EXPECT_THAT(rows.of("rule exams (access[0]: deny)"), HasSubstr("because: exams week"));
    EXPECT_THAT(rows.of("rule exams (access[0]: deny)"), HasSubstr("GET http://games.example/ of 10.4.0.7 (id 17-ab)"));
    EXPECT_THAT(rows.of("rule access[1]: deny"), HasSubstr("dead: it decides no request: access[0] matches every request"));
}

TEST(ExplainRows, a_certificate_has_its_end) {
    Rows rows;
    rows.figures.certificates = {{"CN = gate", rows.now + std::chrono::hours(73)}, {"old", rows.now}};
    EXPECT_THAT(rows.of("certificate CN = gate"),
                HasSubstr("end: 2025-11-27T17:00:00Z, in 3 days\nrenewal: put a new certificate"));
    EXPECT_THAT(rows.of("certificate old"), HasSubstr(": it has expired"));
}

TEST(ExplainRows, a_user_of_the_line_has_its_weight_and_why_it_waits) {
    Rows rows;
    rows.figures.share.rates = {1'000'000, 0};
    share::FlowFigures const down{.bytes = 2'048, .bytes_per_second = 512, .waiting = 1, .weight = 2};
    rows.subjects = {{"anna", {down, {}}}};
    proxy::Refused refused;
    refused.id = "17-ab";
    refused.user = "anna";
    rows.refusals = {refused};
    auto const text = rows.of("user anna");
    EXPECT_THAT(text, HasSubstr("User of the line: anna\nline: down 8 Mbit/s, up no limit; users that wait for it get bytes in "
                                "proportion to their weights\nweight: 2\nwaiting: 1 transfer: the line is full"));
    EXPECT_THAT(text, HasSubstr("a second: down 512 B, up 0 B\nmoved: down 2.00 KiB, up 0 B"));
    EXPECT_THAT(text, HasSubstr("(id 17-ab)"));
    rows.subjects[0].flows[0].waiting = 0;
    EXPECT_THAT(rows.of("user anna"), HasSubstr("waiting: no transfer"));
}

TEST(ExplainRows, a_cap_has_its_rates_and_what_it_has_moved) {
    Rows rows;
    auto options = std::make_shared<proxy::Options>();
    options->caps = {{.name = "guests", .match = {}, .each = share::Each::all, .down = 1'000'000}};
    rows.figures.options = options;
    rows.figures.caps = {{"guests", {7'000, 0}}};
    EXPECT_THAT(rows.of("cap guests"),
                HasSubstr("Cap guests\ncap: down 8 Mbit/s, up no limit, each: all\nmoved: down 6.84 KiB, up 0 B"));
}

TEST(ExplainRows, a_quota_has_its_limits_and_what_it_has_counted) {
    Rows rows;
    auto options = std::make_shared<proxy::Options>();
    share::QuotaRule guests, staff;
    guests.name = "guests";
    guests.per = share::Per::month;
    guests.bytes = 2'000'000'000;
    guests.requests = 100;
    guests.time = std::chrono::minutes(90);
    guests.slow = 125'000;
    staff.name = "staff";
    options->quotas = {staff, guests};
    rows.figures.options = options;
    rows.figures.quotas.rules = {{"staff"}, {"guests", 7'000, 3, 1}};
    auto const text = rows.of("quota guests");
    EXPECT_THAT(text, HasSubstr("Quota guests\nlimits: 2 GB, 100 requests, 90m in a month, each: client\n"
                                "slow lane: 1 Mbit/s in each direction, from 80.0 % of a limit on\n"
                                "counted: 3 requests, 6.84 KiB since the start; refused: 1\n"));
    EXPECT_THAT(rows.of("quota staff"), HasSubstr("limits: none: it exempts what it matches"));
}

TEST(ExplainRows, a_policy_has_what_it_does_and_its_estimates) {
    Rows rows;
    proxy::Sampling::Report sampled;
    sampled.policy = "lru";
    sampled.what_if.requests = 2'000;
    sampled.what_if.expected_requests = 2'000;
    sampled.what_if.expected_bytes = 1e6;
    sampled.what_if.rows = {{"gdsf", MiB, 500, 250'000}, {"lru", MiB, 1'000, 250'000}};
    rows.figures.what_if = sampled;
    EXPECT_THAT(
        rows.of("policy gdsf"),
        HasSubstr(
            "Policy gdsf\npolicy: evicts large and rarely used objects; best object hit ratio\nin use: no: lru is. To use it, "
            "set memory.policy"));
    EXPECT_THAT(rows.of("policy gdsf"), HasSubstr("1.00 MiB: hit ratio 75.0 %, byte hit ratio 75.0 % (estimate)"));
    EXPECT_THAT(rows.of("policy lru"), HasSubstr("in use: yes\n1.00 MiB: hit ratio 50.0 %"));
}

TEST(ExplainRows, voters_and_members_of_the_group_have_what_is_missing) {
    Rows rows;
    EXPECT_THAT(rows.of("voter 10.0.0.2:3133"), HasSubstr("error: "));
    rows.figures.group.emplace();
    auto& group = *rows.figures.group;
    group.voters.push_back({.address = "10.0.0.2:3133", .connected = true, .sequence = 17, .left = milliseconds{1'500}});
    group.voters.push_back({.address = "10.0.0.3:3133", .trouble = "connection refused"});
    group.members.push_back({.name = "cache4", .address = "10.0.0.4:3128", .lag = 2, .heard_before = milliseconds{250}});
    EXPECT_EQ(rows.of("voter 10.0.0.2:3133"), "Voter 10.0.0.2:3133\nlease: for 1.50 s more\nconnection: established\n"
                                              "sequence: 17 of its invalidations have arrived here");
    EXPECT_THAT(rows.of("voter 10.0.0.3:3133"), HasSubstr("\nlease: none: without the leases of a majority this proxy validates "));
    EXPECT_THAT(rows.of("voter 10.0.0.3:3133"), HasSubstr("\ncause: connection refused\nconnection: none"));
    EXPECT_EQ(rows.of("member cache4"), "Member of the group: cache4\naddress: 10.0.0.4:3128\nheard: 250 ms ago\n"
                                        "lag: it has not acknowledged the last 2 invalidations yet");
    group.watermarks.push_back({.at = rows.now, .reason = "the start of this member"});
    EXPECT_EQ(rows.of("watermark 2025-11-24T16:00:00Z"),
              "Watermark of the group: 2025-11-24T16:00:00Z\ncause: the start of this member\n"
              "effect: responses stored before it are validated before they are used again");
}

TEST(ExplainRows, a_figure_has_its_meaning_and_its_names) {
    EXPECT_EQ(Rows().of("figure requests.hit"), "The figure requests.hit\nmeaning: Requests by result.\nunit: requests\n"
                                                "in /metrics: garner_requests_total{answer}\nin /stats.json: requests.hit");
    EXPECT_THAT(Rows().of("figure requests.total"), HasSubstr("\nmeaning: All requests.\nunit: requests\nin /stats.json: "));
}

TEST(ExplainRows, other_texts_are_no_rows_and_unknown_names_are_errors) {
    EXPECT_EQ(Rows().of("http://peer.example/"), "no row");
    EXPECT_EQ(Rows().of("peer.example"), "no row");
    for (auto const* asked : {"peer nobody", "rule none", "certificate none", "peer ", "user none", "cap none", "quota none",
                              "policy none", "voter none", "member none", "watermark none", "figure none", "figure "})
        EXPECT_THAT(Rows().of(asked), HasSubstr("error: the configuration in use has none of this name; ")) << asked;
    EXPECT_THAT(Rows().of("peer nobody"), HasSubstr("; garner peers prints the names"));
    EXPECT_THAT(Rows().of("rule none"), HasSubstr("; the page has a link with the name in each row"));
}

}   // namespace
}   // namespace garner::admin
