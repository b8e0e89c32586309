// etc/grafana.json and etc/alerts.yml use only metrics and labels that the documents have, and that a scrape gives.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>

#include "admin/house.hpp"
#include "admin/metrics.hpp"
#include "support/places.hpp"

namespace garner::admin {
namespace {

using testing::HasSubstr;
using Labels = std::set<std::string>;

std::string contents(char const* file) {
    std::ifstream in(test::source(file));
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The second column of the table in docs/reference/metrics.md: names and their labels.
std::map<std::string, Labels> documented_metrics() {
    std::map<std::string, Labels> metrics;
    auto const text = contents("docs/reference/metrics.md");
    std::regex const row("\\| `(garner_[a-z0-9_]+)(\\{([a-z_,]*)\\})?` \\|");
    for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at) {
        auto const names = (*at)[3].str();
        auto& labels = metrics[(*at)[1].str()];
        std::regex const word("[a-z_]+");
        for (std::sregex_iterator name(names.begin(), names.end(), word); name != end; ++name) labels.insert(name->str());
    }
    return metrics;
}

/// A histogram has three series.
std::string family(std::string name, std::map<std::string, Labels> const& metrics) {
    for (std::string_view const suffix : {"_bucket", "_sum", "_count"})
        if (!metrics.contains(name) && name.ends_with(suffix)) name.resize(name.size() - suffix.size());
    return name;
}

struct Selector {
    std::string name;
    Labels labels;
};

std::vector<Selector> selectors_in(std::string const& expression) {
    std::vector<Selector> selectors;
    std::regex const one("(garner_[a-z0-9_]+)(\\{([^}]*)\\})?"), label("([a-z_]+) *(=~|!~|!=|=)");
    for (std::sregex_iterator at(expression.begin(), expression.end(), one), end; at != end; ++at) {
        Selector selector{(*at)[1].str(), {}};
        auto const matchers = (*at)[3].str();
        for (std::sregex_iterator name(matchers.begin(), matchers.end(), label); name != end; ++name)
            selector.labels.insert((*name)[1].str());
        selectors.push_back(selector);
    }
    return selectors;
}

/// Prometheus adds job and instance to each sample.
void expect_documented(std::string const& expression, std::map<std::string, Labels> const& metrics) {
    for (auto const& [name, labels] : selectors_in(expression)) {
        auto const known = metrics.find(family(name, metrics));
        ASSERT_NE(known, metrics.end()) << name << " in " << expression;
        for (auto const& label : labels)
            EXPECT_TRUE(label == "job" || label == "instance" || known->second.contains(label)) << label << " of " << name;
    }
}

std::vector<std::string> dashboard_queries() {
    std::vector<std::string> queries;
    auto const dashboard = Json::parse(contents("etc/grafana.json"));
    for (auto const& panel : dashboard["panels"])
        for (auto const& target : panel["targets"]) queries.push_back(target["expr"]);
    return queries;
}

TEST(MonitoringFiles, the_dashboard_has_panels_by_a_variable_data_source) {
    auto const dashboard = Json::parse(contents("etc/grafana.json"));
    EXPECT_EQ(dashboard["templating"]["list"][0]["type"], "datasource");
    EXPECT_EQ(dashboard["templating"]["list"][0]["name"], "datasource");
    EXPECT_GE(dashboard["panels"].size(), 8u);
    std::set<std::string> titles;
    for (auto const& panel : dashboard["panels"]) {
        EXPECT_TRUE(titles.insert(panel["title"]).second) << panel["title"];
        EXPECT_EQ(panel["datasource"]["uid"], "${datasource}") << panel["title"];
        EXPECT_NE(panel["description"], "") << panel["title"];
        EXPECT_FALSE(panel["targets"].empty()) << panel["title"];
        for (auto const& target : panel["targets"]) EXPECT_EQ(target["datasource"]["uid"], "${datasource}");
    }
}

TEST(MonitoringFiles, use_documented_metrics_and_labels_only) {
    auto const metrics = documented_metrics();
    ASSERT_GT(metrics.size(), 100u);
    ASSERT_GT(dashboard_queries().size(), 20u);
    for (auto const& query : dashboard_queries()) {
        EXPECT_FALSE(selectors_in(query).empty()) << query;
        expect_documented(query, metrics);
    }
    auto const alerts = contents("etc/alerts.yml");
    EXPECT_GT(selectors_in(alerts).size(), 15u);
    expect_documented(alerts, metrics);
}

/// Metrics of parts that this proxy does not have (peers, certificates) have no samples: the table must have them.
TEST(MonitoringFiles, use_metrics_that_a_scrape_gives) {
    House house;
    auto const scrape = house.at_admin().get("/metrics").body();
    auto const metrics = documented_metrics();
    auto const all = contents("etc/alerts.yml") + contents("etc/grafana.json");
    std::set<std::string> missing;
    for (auto const& selector : selectors_in(all)) {
        auto const name = family(selector.name, metrics);
        if (scrape.find("\n" + selector.name) == scrape.npos) missing.insert(name);
    }
    EXPECT_EQ(missing,
              (std::set<std::string>{"garner_peer_connect_rtt_seconds", "garner_peer_dead", "garner_peer_query_rtt_seconds",
                                     "garner_peer_received_bytes_total", "garner_tls_certificate_not_after_seconds"}));
}

TEST(MonitoringFiles, each_check_of_the_health_has_an_alert_and_a_sample) {
    House house;
    auto const alerts = contents("etc/alerts.yml"), scrape = house.at_admin().get("/metrics").body();
    for (auto const& check : health_checks()) {
        EXPECT_THAT(alerts, HasSubstr("- alert: " + std::string(check.alert) + "\n"));
        EXPECT_THAT(scrape, HasSubstr("garner_health{check=\"" + std::string(check.name) + "\"} 0\n"));
    }
    for (auto const* name : {"HitRatioHalved", "Restarted", "DiskErrors", "DiskDamaged"})
        EXPECT_THAT(alerts, HasSubstr(std::string("- alert: Garner") + name + "\n"));
}

}   // namespace
}   // namespace garner::admin
