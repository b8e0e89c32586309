#include "admin/peers_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "admin/human.hpp"
#include "admin/metrics.hpp"
#include "peers.hpp"

namespace garner::admin {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Peers, are_a_table) {
    EXPECT_EQ(peers_text(stats_json(report_with_peers())),
              "name      type    state where              tls https     rtt queries replies hits false hits fetched    saved\n"
              "next door sibling dead  cache.example:3128 no  no          -       0       0    0          0       0      0 B\n"
              "campus    parent  alive 10.0.0.3:3128      yes tunnel 812 µs   12.3k   12.3k  700          3   9.00k 5.00 MiB\n");
}

TEST(Peers, however_long_their_names_fit_on_112_columns) {
    auto report = report_with_peers();
    for (auto const* name : {"the parent in the cellar of the neighbour's house", "μηχανή που είναι πολύ μακριά από εδώ"}) {
        report.figures.peers[0].options.name = name;
        report.figures.peers[1].options.host = "a-machine.in-a-far-away.department.of-some.university.example";
        report.figures.peers[0].queries = UINT64_MAX;
        auto const text = peers_text(stats_json(report));
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) EXPECT_EQ(columns(line), 112u) << text;
        EXPECT_THAT(text, HasSubstr("…"));
        EXPECT_THAT(text, HasSubstr("18.4E"));
    }
}

TEST(Peers, none_are_said_to_be_none) {
    EXPECT_EQ(peers_text(stats_json(Report{})), "no peers: none are configured, or DNS has named no server for them\n");
    EXPECT_THAT(summary_text(stats_json(Report{})), Not(HasSubstr("Mesh")));
    for (auto const* other : {"{}", "[]", R"({"peers": 7})"})
        EXPECT_EQ(peers_text(nlohmann::ordered_json::parse(other)),
                  "no peers: none are configured, or DNS has named no server for them\n");
}

TEST(Peers, of_another_versions_figures_have_dashes) {
    for (auto const* other : {R"({"peers": [1]})", R"({"peers": [{"name": 3, "address": "x", "query_rtt_ms": -1}]})"})
        EXPECT_THAT(peers_text(nlohmann::ordered_json::parse(other)), HasSubstr("\n-     -"));
}

TEST(Peers, stand_in_the_summary) {
    auto const stats = stats_json(report_with_peers());
    EXPECT_THAT(summary_text(stats), HasSubstr("\n  queries received               4,321\n"));
    EXPECT_THAT(summary_text(stats), HasSubstr("\ncampus    parent"));
}

TEST(Peers, an_IPv6_address_has_its_brackets) {
    auto report = report_with_peers();
    report.figures.peers[0].address = "2001:db8::3";
    EXPECT_THAT(peers_text(stats_json(report)), HasSubstr("[2001:db8::3]:3128"));
}

}   // namespace
}   // namespace garner::admin
