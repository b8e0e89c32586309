// The documents of the access log and of Cache-Status list every value that the program writes, and no other.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>

#include "http/cache_status.hpp"
#include "http/cacheability.hpp"
#include "http/freshness.hpp"
#include "proxy/access_log_format.hpp"
#include "proxy/counters.hpp"
#include "proxy/failure.hpp"
#include "support/tables.hpp"

namespace garner::proxy {
namespace {

using Names = std::multiset<std::string>;

std::string const log_document = "docs/reference/access-log.md";
std::string const status_document = "docs/reference/cache-status.md";

/// The texts of all values of an enumeration that ends with count_, or with `last`; empty texts are omitted.
template <class Enum, class NameOf>
Names names_of_all(NameOf const& name_of_one, std::size_t count = static_cast<std::size_t>(Enum::count_)) {
    Names names;
    for (std::size_t i = 0; i < count; ++i)
        if (std::string name{name_of_one(static_cast<Enum>(i))}; !name.empty()) names.insert(name);
    return names;
}

TEST(Documents, name_every_result_tag) {
    auto names = names_of_all<ResultTag>([](ResultTag tag) { return name_of(tag); });
    EXPECT_EQ(test::documented_names(log_document, "Result tags"), names);
}

TEST(Documents, name_every_hierarchy_tag) {
    auto names = names_of_all<Hierarchy>([](Hierarchy hierarchy) { return icp::name_of(hierarchy); });
    EXPECT_EQ(test::documented_names(log_document, "Hierarchy tags"), names);
}

TEST(Documents, name_every_member_of_the_JSON_format) {
    LineBuffer buffer;
    Names names;
    LogEntry entry;
    entry.rule = "access[0]: deny";
    entry.id = "1066036250.603-9f3a0c1d";   // only lines of error pages have an id
    entry.peer_reach = "TLS";               // only lines of requests to peers have it
    entry.trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    net::ProxyHeader const header{.authority = "www.example.org", .unique_id = "7F0001:9C40"};
    entry.proxy_header = &header;   // only connections that began with one have it
    auto const line = nlohmann::json::parse(format_line(LogFormat::json, entry, buffer));
    for (auto const& member : line.items()) names.insert(member.key());
    EXPECT_EQ(test::documented_names(log_document, "The json format"), names);
}

std::string fwd_of(http::Fwd fwd) {
    char text[http::cache_status_bytes];
    std::string const value(text, http::write_cache_status(text, {.fwd = fwd}));
    auto const at = value.find("fwd=");
    return at == value.npos ? "" : value.substr(at + 4);
}

TEST(Documents, name_every_value_of_fwd) {
    auto names = names_of_all<http::Fwd>(fwd_of, static_cast<std::size_t>(http::Fwd::partial) + 1);
    EXPECT_EQ(test::documented_names(status_document, "Values of fwd"), names);
}

TEST(Documents, name_every_reason_in_detail) {
    auto stored = names_of_all<http::StoreRefusal>([](http::StoreRefusal why) { return http::text(why); });
    stored.erase(http::text(http::StoreRefusal::none));
    EXPECT_EQ(test::documented_names(status_document, "Not stored"), stored);
    auto passed = names_of_all<http::Bypass>([](http::Bypass why) { return http::text(why); });
    EXPECT_EQ(test::documented_names(status_document, "Not looked up"), passed);
    auto not_fresh = names_of_all<http::ReuseReason>([](http::ReuseReason why) { return http::text(why); });
    for (auto used : {http::ReuseReason::fresh, http::ReuseReason::stale_while_revalidate, http::ReuseReason::max_stale_request})
        not_fresh.erase(http::text(used));
    EXPECT_EQ(test::documented_names(status_document, "Not fresh"), not_fresh);
    auto stale = names_of_all<StaleUse>([](StaleUse why) { return text(why); });
    EXPECT_EQ(test::documented_names(status_document, "Served stale"), stale);
    auto overrides = names_of_all<http::RuleOverride>([](http::RuleOverride why) { return http::text(why); },
                                                      static_cast<std::size_t>(http::RuleOverride::negative_ttl) + 1);
    overrides.insert("rule: reload ignored");
    overrides.insert("negative");
    EXPECT_EQ(test::documented_names(status_document, "Rules and negative hits"), overrides);
}

/// The deciding rule in each call in src/proxy that sends an error page: the call's last text.
Names rules_of_error_pages() {
    Names rules;
    // A failure kind and fields may follow.
    std::regex const call("(?:error\\(|refused\\(|refusal_ = \\{)[^;]*, \"([^\"]+)\""
                          "(?:, (?:[\\w:]*FailureKind::\\w+|[\\w.]+\\.kind|retry))*[)}];");
    for (auto const& entry : std::filesystem::directory_iterator(test::source("src/proxy"))) {
        std::ifstream in(entry.path());
        std::string const code{std::istreambuf_iterator<char>(in), {}};
        for (std::sregex_iterator at(code.begin(), code.end(), call), end; at != end; ++at) rules.insert((*at)[1]);
    }
    return rules;
}

TEST(Documents, name_the_rule_of_every_error_page) {
    auto const all = rules_of_error_pages();
    std::set<std::string> rules(all.begin(), all.end());
    rules.erase("negative");   // listed in the table of negative hits
    for (auto cause : {FailureCause::name, FailureCause::connection, FailureCause::answer}) rules.emplace(decided_by(cause));
    rules.insert("request body");    // the client does not send the whole body
    rules.insert("peers[].login");   // a 407 of a parent
    auto const named = test::documented_names(status_document, "Error pages");
    EXPECT_EQ(std::set<std::string>(named.begin(), named.end()), rules);
}

}   // namespace
}   // namespace garner::proxy
