#include "http/access_rules.hpp"

#include <algorithm>
#include <utility>

#include "http/access_index.hpp"

namespace garner::http {
namespace {

constexpr std::string_view default_allow = "default: clients on loopback";
constexpr std::string_view default_accelerator = "default: accelerators allow all clients";
constexpr std::string_view default_deny = "default: clients on loopback only";

Decision by_default(RuleRequest const& request) {
    using enum Decision::Verdict;
    if (request.accelerated) return {.verdict = allow, .rule = default_accelerator};
    if (!request.client.is_loopback()) return {.verdict = deny, .rule = default_deny};
    return {.verdict = allow, .rule = default_allow};
}

/// True if the rule names the requested host as an address, or as localhost while that is on loopback.
bool opens_host(Matcher const& match, RuleRequest const& request, IpAddress const* destination) {
    auto const literal = parse_ip(without_final_dot(request.host));
    bool const is_named = literal ? match.host.names(*literal)
                                  : destination && destination->is_loopback() && match.host.names_localhost() &&
                                        equals_ignoring_case(without_final_dot(request.host), "localhost");
    auto const in = [&](NamedMatcher const& one) { return opens_host(*one.matcher, request, destination); };
    return is_named || std::ranges::any_of(match.is, in);
}

bool may_open_host(Matcher const& match) {
    auto const is_address = [](HostPattern const& pattern) { return pattern.address().has_value(); };
    auto const in = [](NamedMatcher const& one) { return may_open_host(*one.matcher); };
    return std::ranges::any_of(match.host, is_address) || match.host.names_localhost() || std::ranges::any_of(match.is, in);
}

/// `not` opens nothing: it names the destinations that are not meant.
bool opens_destination(AccessRule const& rule) { return rule.allow && rule.match.has(Matcher::Member::destination, false); }

bool may_open_addresses(AccessRule const& rule) { return opens_destination(rule) || (rule.allow && may_open_host(rule.match)); }

Decision told(std::span<AccessRule const> rules, std::size_t index, Decision::Verdict verdict) {
    auto const& rule = rules[index];
    Decision decision{
        .verdict = verdict, .rule = rule.place, .matchers = rule.matchers, .name = rule.name, .because = rule.because};
    decision.index = static_cast<std::uint32_t>(index);
    return decision;
}

/// "access[2]" for "access[2]: deny".
std::string_view without_verdict(std::string_view place) { return place.substr(0, place.find(':')); }

std::string covers_text(AccessRule const& rule) {
    return std::string(without_verdict(rule.place)) + " matches " +
           (rule.match.matches_all() ? "every request" : "all its requests");
}

constexpr std::size_t few_rules = 8;   // a walk is as fast as the index

std::string with_closed(char const* closed, std::string rule) { return closed ? std::string(closed) + " (" + rule + ")" : rule; }

}   // namespace

bool AccessRule::covers(AccessRule const& other) const {
    // In doubt the deny rule matches more requests than the allow rule.
    if (allow && !other.allow && match.has(Matcher::Member::doubtful)) return false;
    return match.covers(other.match);
}

std::vector<DeadRule> find_dead_rules(std::span<AccessRule const> rules) {
    constexpr std::size_t rules_compared = 2'000;
    std::vector<DeadRule> dead;
    for (std::size_t i = 0; i < std::min(rules.size(), rules_compared); ++i) {
        auto const& rule = rules[i];
        auto const earlier = rules.first(i);
        auto const found = std::ranges::find_if(earlier, [&](AccessRule const& one) { return one.covers(rule); });
        if (found != earlier.end())
            dead.push_back({i, static_cast<std::size_t>(found - earlier.begin()), covers_text(*found)});
        else if (rule.match.never)
            dead.push_back({i, DeadRule::none, "the list of its " + std::string(rule.match.never) + " is empty"});
    }
    return dead;
}

AccessRules::AccessRules(std::vector<AccessRule> rules) : rules_(std::move(rules)), dead_(find_dead_rules(rules_)) {
    if (rules_.size() > few_rules) index_ = std::make_shared<AccessIndex const>(rules_);
    auto const looks_further = [](AccessRule const& rule) { return rule.match.has(Matcher::Member::beyond_origin); };
    about_origins_ = !rules_.empty() && std::ranges::none_of(rules_, looks_further);
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        auto const& rule = rules_[i];
        opens_.push_back({.address = opens_destination(rule), .port = rule.match.has(Matcher::Member::port, false)});
        if (may_open_addresses(rule)) opening_.push_back(i);
    }
}

Decision AccessRules::by_rule(std::size_t index, RuleRequest const& request, IpAddress const* destination) const {
    auto const& rule = rules_[index];
    auto decision = told(rules_, index, rule.allow ? Decision::Verdict::allow : Decision::Verdict::deny);
    if (!rule.allow) return decision;
    decision.opens_address = opens_[index].address || opens_host(rule.match, request, destination);
    decision.opens_port = opens_[index].port;
    return decision;
}

Decision AccessRules::first_match(RuleRequest const& request, IpAddress const* destination) const {
    auto const [index, result] =
        index_ ? index_->find(rules_, request, destination) : first_match_by_walk(rules_, request, destination);
    switch (result) {
    case Matcher::Result::needs_destination: return told(rules_, index, Decision::Verdict::needs_destination);
    case Matcher::Result::needs_identity: return told(rules_, index, Decision::Verdict::needs_identity);
    case Matcher::Result::yes: return by_rule(index, request, destination);
    case Matcher::Result::no: break;
    }
    return by_default(request);
}

Decision AccessRules::decide(RuleRequest const& request, std::optional<IpAddress> destination) const {
    using enum Decision::Verdict;
    Decision decision = first_match(request, destination ? &*destination : nullptr);
    if (!decision.allowed()) return decision;
    if (!decision.opens_port) decision.closed = blocked_port(request);
    decision.closed_port = decision.closed != nullptr;
    if (decision.closed) {
        decision.verdict = deny;
    } else if (!decision.opens_address && !destination && opened_to_others(request)) {
        decision.verdict = needs_destination;
    }
    return decision;
}

// Another client's rule may have allowed this URL from a blocked destination: a hit must then check the address too.
bool AccessRules::opened_to_others(RuleRequest const& request) const {
    return std::ranges::any_of(
        opening_, [&](std::size_t index) { return rules_[index].match.may_match_url(request, rules_[index].doubt()); });
}

namespace {

std::string named(std::string_view name, std::string_view rule) {
    return name.empty() ? std::string(rule) : std::string(name).append(" (").append(rule).append(")");
}

}   // namespace

std::string AccessRule::label() const { return named(name, place); }

std::string Decision::text_for_client() const { return with_closed(closed, named(name, rule)); }

std::string Decision::whole_rule() const {
    auto text = named(name, rule);
    if (!matchers.empty()) text.append(" ").append(matchers);
    return text;
}

std::string Decision::text() const { return with_closed(closed, whole_rule()); }

std::string_view Decision::place() const {
    bool const by_default = rule.starts_with("default:");
    return by_default ? std::string_view() : without_verdict(rule);
}

}   // namespace garner::http
