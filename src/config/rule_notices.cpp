#include "config/rule_notices.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "util/text.hpp"

namespace garner::config {
namespace {

/// Notices rules that an earlier one leaves no request.
void check_dead_rules(Reader& reader, std::string_view list, std::span<http::DeadRule const> rules) {
    for (auto const& dead : rules)
        if (dead.by != http::DeadRule::none)
            reader.notice({list, dead.rule}, "is never reached: " + dead.why, "move it before that rule, or remove it");
}

/// False only if no host of one set is in the other one.
bool share_hosts(http::HostSet const& a, http::HostSet const& b) {
    if (a.empty() || b.empty() || a.has_lists() || b.has_lists()) return true;
    return std::ranges::any_of(a, [&](http::HostPattern const& one) {
        return std::ranges::any_of(b, [&](http::HostPattern const& other) { return one.covers(other) || other.covers(one); });
    });
}

/// False only if no port is in a range of each.
bool share_ports(std::vector<http::PortRange> const& a, std::vector<http::PortRange> const& b) {
    if (a.empty() || b.empty()) return true;
    return std::ranges::any_of(a, [&](http::PortRange const& one) {
        return std::ranges::any_of(
            b, [&](http::PortRange const& other) { return one.first <= other.last && other.first <= one.last; });
    });
}

/// A rule of `bump` may decrypt requests that meet this condition of hosts and ports.
bool may_be_bumped(bump::Rules const& rules, http::Matcher const& match) {
    return std::ranges::any_of(rules.all, [&](bump::Rule const& rule) {
        return rule.action == bump::Action::bump && share_hosts(rule.match.host, match.host) &&
               share_ports(rule.match.port, match.port);
    });
}

/// Notices rules that match a path, which an https request does not reveal unless its tunnel is decrypted.
void check_paths(Reader& reader, std::span<http::AccessRule const> rules, bump::Rules const& bumped) {
    auto const has_path = [](std::string const& text) { return text.find('/') != text.npos; };
    for (std::size_t i = 0; i < rules.size(); ++i) {
        auto const& match = rules[i].match;
        bool const meets_connect = match.method.empty() || std::ranges::count(match.method, "CONNECT") > 0;
        bool const by_text = !match.url_contains.empty() && std::ranges::all_of(match.url_contains, has_path);
        auto const& patterns = match.url_matches;
        bool const by_pattern = !patterns.empty() && std::ranges::all_of(patterns, has_path, &http::TextPattern::text);
        if (meets_connect && (by_text || by_pattern) && !may_be_bumped(bumped, match))
            reader.notice({"access", i}, "never matches https: a CONNECT request has only host:port, without a path",
                          R"(for https, name the host: { "host": ".example.com" })");
    }
}

/// "access[1]", as rules without a name are called.
bool is_position(std::string_view name) {
    auto const open = name.find('[');
    if (open == name.npos || !name.ends_with(']')) return false;
    auto const list = name.substr(0, open);
    return (list == "access" || list == "purge") && parse_decimal(name.substr(open + 1, name.size() - open - 2)).has_value();
}

void check_names(Reader& reader, std::string_view list, std::span<http::AccessRule const> rules) {
    std::map<std::string_view, std::size_t> known;
    for (std::size_t i = 0; i < rules.size(); ++i) {
        std::string_view const name = rules[i].name;
        if (name.empty()) continue;
        auto const [first, is_new] = known.try_emplace(name, i);
        if (!is_new)
            reader.notice({list, i, "name"}, "is also the name of " + std::string(list) + "[" + std::to_string(first->second) + "]",
                          "give each rule its own name: logs and tests call rules by their names");
        if (is_position(name))
            reader.notice({list, i, "name"}, "looks like the position of a rule",
                          "use another name: rules without one have such names");
    }
}

/// True if the matcher, or one that it uses, names the group.
bool names_group(http::Matcher const& match, std::string_view group) {
    auto const in = [&](http::NamedMatcher const& one) { return names_group(*one.matcher, group); };
    return match.group.contains(group) || std::ranges::any_of(match.is, in) || std::ranges::any_of(match.is_not, in);
}

/// Every list of rules that may name groups.
void check_groups(Reader& reader, Config const& config) {
    for (auto const& group : config.auth.groups) {
        auto const names = [&](auto const& rule) { return names_group(rule.match, group.name); };
        auto const& proxy = config.proxy;
        bool const is_used = std::ranges::any_of(proxy.access.rules(), names) || std::ranges::any_of(proxy.purge.rules(), names) ||
                             std::ranges::any_of(proxy.share.weights, names) || std::ranges::any_of(proxy.caps, names) ||
                             std::ranges::any_of(proxy.quotas, names);
        if (!is_used) reader.notice({"groups", group.name}, "no rule uses this group", "use it with group, or remove it");
    }
}

}   // namespace

void notice_rules(Reader& reader, Config const& config) {
    for (auto const& [list, rules] : {std::pair("access", &config.proxy.access), std::pair("purge", &config.proxy.purge)}) {
        check_dead_rules(reader, list, rules->dead());
        check_names(reader, list, rules->rules());
    }
    check_paths(reader, config.proxy.access.rules(), config.bump.rules);
    check_groups(reader, config);
}

void settle_learning(Reader& reader, bool is_given, Config& config) {
    auto& learn = config.bump.learn;
    auto const& rules = config.proxy.access.rules();
    auto const looks_inside = [&](http::AccessRule const& rule) {
        auto const& match = rule.match;
        bool const is_for_tunnels =
            !match.method.empty() && std::ranges::count(match.method, "CONNECT") == std::ssize(match.method);
        return match.has(http::Matcher::Member::request) && !is_for_tunnels && may_be_bumped(config.bump.rules, match);
    };
    auto const inside = std::ranges::find_if(rules, looks_inside);
    if (learn == bump::Learn::off || inside == rules.end()) return;
    auto const rule = "access[" + std::to_string(inside - rules.begin()) + "]";
    if (is_given)
        return reader.notice({"bump", "learn"},
                             "a client that refuses minted certificates of a host twice is spliced, and avoids " + rule +
                                 ", which looks at requests inside its tunnels",
                             R"(write "off", and splice hosts whose clients need that by a rule)");
    learn = bump::Learn::off;
    reader.notice({"bump", "learn"},
                  "is off: " + rule + " looks at requests inside tunnels, and a client that refuses certificates would avoid it",
                  R"(write "learn": "off", and splice hosts whose clients accept only certain certificates by a rule)");
}

}   // namespace garner::config
