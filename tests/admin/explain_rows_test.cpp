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
    WallTime now = from_unix_seconds(1'764'000'000);

    /// All lines as "subject: text".
    std::string of(std::string const& asked) const {
        Explained out{asked, ""};
        if (!explain_row(figures, refusals, now, out)) return "no row";
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

TEST(ExplainRows, other_texts_are_no_rows_and_unknown_names_are_errors) {
    EXPECT_EQ(Rows().of("http://peer.example/"), "no row");
    EXPECT_EQ(Rows().of("peer.example"), "no row");
    for (auto const* asked : {"peer nobody", "rule none", "certificate none", "peer "})
        EXPECT_THAT(Rows().of(asked), HasSubstr("error: the configuration in use has none of this name; ")) << asked;
    EXPECT_THAT(Rows().of("peer nobody"), HasSubstr("; garner peers prints the names"));
    EXPECT_THAT(Rows().of("rule none"), HasSubstr("; the page has a link with the name in each row"));
}

}   // namespace
}   // namespace garner::admin
