#include "config/rule_tests.hpp"

#include <algorithm>

#include "auth/groups.hpp"
#include "config/address_form.hpp"
#include "config/object_form.hpp"
#include "config/rule_lines.hpp"
#include "proxy/moment.hpp"
#include "util/text.hpp"

namespace garner::config {
namespace {

using proxy::RuleQuestion;

Form<IpAddress> ip_address() {
    auto parse = [](std::string const& text, IpAddress& into, std::string&) {
        auto const read = parse_ip(text);
        if (read) into = *read;
        return read.has_value();
    };
    return parsed<IpAddress>("IP address", "an IP address", R"(write it like "10.4.0.7" or "2001:db8::7")", parse);
}

Form<WallTime> moment() {
    auto parse = [](std::string const& text, WallTime& into, std::string&) {
        auto const read = proxy::parse_moment(text);
        if (read) into = *read;
        return read.has_value();
    };
    return parsed<WallTime>("time", "a time", R"(write it like "Mon 09:00" or "2026-11-23T09:30:10Z")", parse);
}

Form<std::string> field_line() {
    auto const accept = [](std::string const& text, std::string&) {
        http::Field field;
        return http::parse_field_line(text, field) == nullptr;
    };
    return checked("field", "a field of a request", R"(write it like "User-Agent: curl/7.88")", accept);
}

/// "deny exams": the verdict, and the name or place of the rule.
struct Expectation {
    explicit Expectation(std::string_view text)
        : verdict(text.substr(0, text.find(' '))), rule(verdict == text ? std::string_view() : text.substr(verdict.size() + 1)) {}
    bool is_of(std::string_view name, std::string_view place) const { return rule == place || (!name.empty() && rule == name); }
    std::string_view verdict, rule;   // no rule: any
};

Form<std::string> expectation() {
    auto const accept = [](std::string const& text, std::string&) {
        constexpr std::string_view verdicts[]{"allow", "deny", "login", "undecided"};
        return std::ranges::count(verdicts, Expectation(text).verdict) == 1;
    };
    return checked("expected decision", "a decision", R"(write "allow", "deny", "login" or "undecided", and a rule: "deny exams")",
                   accept);
}

http::Identity& identity_of(RuleTest& test) {
    if (!test.question.identity) test.question.identity.emplace();
    return *test.question.identity;
}

/// Why the expected rule does not decide; empty if no rule is expected, or if it does decide.
std::string why_not(proxy::RuleInquiry const& inquiry, http::AccessRules const& access, Expectation const& expected,
                    http::Decision const& decision) {
    if (expected.rule.empty() || expected.is_of(decision.name, decision.place())) return {};
    auto const is_meant = [&](http::AccessRule const& rule) { return expected.is_of(rule.name, position_of(rule)); };
    auto const rule = std::ranges::find_if(access.rules(), is_meant);
    if (rule == access.rules().end()) return "; no rule is named " + in_quotes(expected.rule);
    auto const* destination = inquiry.destination() ? &*inquiry.destination() : nullptr;
    std::string keys;
    for (auto const& key : rule->match.failing(inquiry.facts(), destination, rule->doubt()))
        keys += (keys.empty() ? "" : ", ") + key;
    auto const position = "; " + std::string(position_of(*rule));
    return position + (keys.empty() ? " matches, but comes after " + rule_that_decides(decision) : " does not match: " + keys);
}

bool is_as_expected(http::Decision const& decision, Expectation const& expected) {
    return proxy::name_of(decision.verdict) == expected.verdict &&
           (expected.rule.empty() || expected.is_of(decision.name, decision.place()));
}

void run_one(Reader& reader, proxy::RuleInquiry& inquiry, http::AccessRules const& access, RuleTest const& test) {
    if (auto const fault = inquiry.ask(test.question); !fault.empty()) {
        reader.fault(fault, "change the test");
        return;
    }
    Expectation const expected(test.expect);
    auto const decision = inquiry.decide();
    if (is_as_expected(decision, expected)) return;
    auto const decided = std::string(proxy::name_of(decision.verdict)) + " by " + decision.text();
    reader.fault(
        "expects " + in_quotes(test.expect) + ", but the decision is " + decided + why_not(inquiry, access, expected, decision),
        "change the rules or the test");
}

}   // namespace

Form<RuleTest> rule_test() {
    using T = RuleTest;
    return object_of<T>({
        required(key<T>(
            "url", [](T & t) -> auto& { return t.question.url; }, text(), "URL of the request; `host:port` for CONNECT.")),
        required(key<T>("expect", &T::expect, expectation(),
                        "`allow`, `deny`, `login` (a login would be asked for) or `undecided` (the address is missing), and the "
                        "name or place of the rule that decides: `\"deny exams\"`, `\"allow access[2]\"`.")),
        key<T>(
            "source", [](T & t) -> auto& { return t.question.source; }, ip_address(), "Address of the client; default: 127.0.0.1."),
        key<T>(
            "at", [](T & t) -> auto& { return t.question.at; }, moment(),
            "Time: `\"Mon 09:00\"` in local time, `\"2026-11-23T09:30:10Z\"`; default: now."),
        key<T>(
            "listener", [](T & t) -> auto& { return t.question.listener; }, port(),
            "Port of `listen`; default: that of the first forward proxy."),
        key<T>(
            "user", [](T & t) -> auto& { return identity_of(t).user; }, text(), "Name of the user; default: not logged in."),
        key<T>(
            "groups", [](T & t) -> auto& { return identity_of(t).groups; }, list_of(text()),
            "Further groups of the user, besides those of `groups` that list its name."),
        key<T>(
            "method", [](T & t) -> auto& { return t.question.method; }, text(),
            "Method; default: CONNECT for https, as browsers send it, else GET."),
        key<T>(
            "destination", [](T & t) -> auto& { return t.question.destination; }, ip_address(),
            "Address of the origin; default: not known, unless the host is an address. Without it a rule with `destination` gives "
            "`undecided`."),
        key<T>(
            "fields", [](T & t) -> auto& { return t.question.fields; }, list_of(field_line()), "Fields of the request."),
    });
}

http::OwnAddresses own_addresses(Config const& config) {
    http::OwnAddresses own;
    auto const add = [&](std::string const& text, std::uint16_t port) {
        if (auto const address = parse_ip(text); address && port != 0) own.listening.push_back({*address, port});
    };
    for (auto const& listen : config.proxy.listen) add(listen.address, listen.port);
    if (config.admin.enabled) add(config.admin.address, config.admin.port);
    add(config.seen.address, config.seen.port);
    return own;
}

void run_rule_tests(Reader& reader, Config const& config) {
    if (config.tests.empty()) return;
    auto const groups = auth::Groups::load(config.auth.groups);
    if (!groups) return;
    proxy::RuleInquiry inquiry(config.proxy, own_addresses(config), groups->get());
    for (std::size_t i = 0; i < config.tests.size(); ++i) {
        Reader::Step const step(reader, Reader::Below{"tests", i});
        run_one(reader, inquiry, config.proxy.access, config.tests[i]);
    }
}

}   // namespace garner::config
