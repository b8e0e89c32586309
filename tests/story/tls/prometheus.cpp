// Debian's Prometheus scrapes a proxy that has peers, a disk and certificates: the queries of the dashboard and of the alerts find
// series.
#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "story/tls/secure_listener.hpp"
#include "support/fake_peer.hpp"
#include "support/places.hpp"
#include "support/programs.hpp"

namespace garner::test {

namespace {

using Json = nlohmann::json;

/// Prometheus on a free port, with the alerts of etc/alerts.yml, that scrapes each second with a token.
class Prometheus {
public:
    Prometheus(std::uint16_t admin, std::string const& token) : port_(free_port()) {
        auto const config = filled_in(
            R"(global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [ "RULES" ]
scrape_configs:
  - job_name: garner
    authorization: { credentials_file: "TOKEN" }
    static_configs: [ { targets: [ "127.0.0.1:ADMIN" ] } ]
)",
            {{"RULES", source("etc/alerts.yml")}, {"TOKEN", dir_.write("token", token)}, {"ADMIN", std::to_string(admin)}});
        auto const address = "127.0.0.1:" + std::to_string(port_);
        child_ = std::make_unique<Child>(std::vector<std::string>{
            "prometheus", "--config.file=" + dir_.write("prometheus.yml", config), "--web.listen-address=" + address,
            "--storage.tsdb.path=" + dir_.path("data").string(), "--log.level=warn"});
    }

    /// The series of an expression at this moment.
    Json query(std::string const& expression) const {
        auto const reply = run({"curl", "-sS", "--max-time", "20", "-G", "--data-urlencode", "query=" + expression,
                                "http://127.0.0.1:" + std::to_string(port_) + "/api/v1/query"},
                               30s);
        auto const json = Json::parse(reply.output, nullptr, false);
        return json.is_object() && json.contains("data") ? json["data"]["result"] : Json::array();
    }
    /// True if a series has a finite value: a quotient by 0 is NaN.
    bool has(std::string const& expression) const {
        auto const series = query(expression);
        return std::ranges::any_of(series, [](Json const& one) {
            auto const value = one["value"][1].get<std::string>();
            return value != "NaN" && !value.ends_with("Inf");
        });
    }
    std::string errors() const { return child_->errors(); }

private:
    TempDir dir_;
    std::uint16_t port_;
    std::unique_ptr<Child> child_;
};

std::string replaced(std::string text, std::string const& word, std::string const& by) {
    for (auto at = text.find(word); at != text.npos; at = text.find(word, at + by.size())) text.replace(at, word.size(), by);
    return text;
}

std::vector<std::string> dashboard_queries() {
    std::vector<std::string> queries;
    auto const dashboard = Json::parse(read_file(source("etc/grafana.json")));
    for (auto const& panel : dashboard["panels"])
        for (auto const& target : panel["targets"]) {
            auto const query = replaced(target["expr"], "$instance", ".*");
            queries.push_back(replaced(query, "$__rate_interval", "20s"));
        }
    return queries;
}

/// The selectors of all alerts: an alert itself has a value only while it fires.
std::set<std::string> alert_selectors() {
    std::set<std::string> selectors;
    auto const text = read_file(source("etc/alerts.yml"));
    std::regex const one("(garner_[a-z_]+|up)\\{[^}]*\\}|garner_[a-z_]+");
    for (std::sregex_iterator at(text.begin(), text.end(), one), end; at != end; ++at) selectors.insert(at->str());
    return selectors;
}

/// The expressions of all alerts with values instead of filters, so that each has a value while no alert fires. Prometheus has no
/// values of the hour before.
std::vector<std::string> alert_values() {
    std::vector<std::string> values;
    std::istringstream lines(read_file(source("etc/alerts.yml")));
    for (std::string line; std::getline(lines, line);) {
        auto const at = line.find("expr: ");
        if (at == line.npos) continue;
        auto expression = line.substr(at + std::string_view("expr: ").size());
        if (expression == "|")
            for (expression.clear(); std::getline(lines, line) && line.find(": ") == line.npos;) expression += line;
        expression = std::regex_replace(expression, std::regex(" (<|>|>=|==) "), " $1 bool ");
        values.push_back(std::regex_replace(expression, std::regex(" offset [0-9]+[mh]"), ""));
    }
    return values;
}

}   // namespace

TEST(Prometheus, promtool_sees_each_alert_fire_and_none_without_a_problem) {
    NEEDS("promtool");
    TempDir dir;
    auto const rules = source("etc/alerts.yml");
    auto const file = dir.write("test.yml", filled_in(read_file(source("tests/data/alerts_test.yml")), {{"RULES", rules}}));
    auto const tested = run({"promtool", "test", "rules", file});
    EXPECT_EQ(tested.code, 0) << tested.output << tested.errors;
    EXPECT_THAT(tested.output, HasSubstr("SUCCESS"));
}

TEST(Prometheus, promtool_takes_the_alerts) {
    NEEDS("promtool");
    auto const checked = run({"promtool", "check", "rules", source("etc/alerts.yml")});
    EXPECT_EQ(checked.code, 0) << checked.errors;
    EXPECT_THAT(checked.output, HasSubstr("21 rules found"));
}

TEST(Prometheus, finds_series_for_each_query_and_alert) {
    NEEDS("prometheus");
    NEEDS("curl");
    auto const made = run({garner_binary(), "token", "prometheus"});
    ASSERT_EQ(made.code, 0);
    auto const end = made.output.find('\n');
    CertificateFiles files;
    TempDir disk;
    FakePeer parent;
    parent.http().otherwise(
        [](Hand& hand) { hand.answer(hand.request().head.target().ends_with("/page") ? fresh("x") : no_store("x")); });
    Json const dead{{"name", "campus"}, {"type", "parent"}, {"host", "127.0.0.1"}, {"http_port", 1}, {"icp_port", 7}};
    Json const alive{{"name", "near"},
                     {"type", "parent"},
                     {"host", "127.0.0.1"},
                     {"http_port", parent.http().port()},
                     {"icp_port", parent.icp()}};
    auto const patch = Json{{"admin", {{"tokens", Json::array({Json::parse(made.output.substr(end))})}}},
                            {"disk", {{"path", disk.path("store").string()}, {"size", "64 MiB"}}},
                            {"peers", {dead, alive}}};
    Origin origin;
    origin.answer("/page", fresh("x"));
    origin.answer("/never", no_store("x"));
    Proxy proxy(Proxy::Setup{.patch = patch.dump(), .tls = files.tls()});
    Prometheus const prometheus(proxy.admin(), made.output.substr(0, end));
    ASSERT_TRUE(eventually([&] { return prometheus.has("up{job=\"garner\"} == 1"); })) << prometheus.errors();
    // Rates of hits and misses, and quantiles of their times, need traffic between two scrapes.
    auto const has_value = [&](std::string const& expression) {
        return eventually([&] {
            for (auto const* path : {"/page", "/never"}) get(proxy, origin, path).body();
            return prometheus.has(expression);
        });
    };
    for (auto const& query : dashboard_queries()) EXPECT_TRUE(has_value(query)) << query;
    EXPECT_GT(alert_selectors().size(), 10u);
    for (auto const& selector : alert_selectors()) EXPECT_TRUE(has_value(selector)) << selector;
    EXPECT_EQ(alert_values().size(), 21u);
    for (auto const& value : alert_values()) EXPECT_TRUE(has_value(value)) << value;
    EXPECT_TRUE(eventually([&] { return prometheus.has("ALERTS{alertname=\"GarnerRestarted\"}"); }));
}

}   // namespace garner::test
