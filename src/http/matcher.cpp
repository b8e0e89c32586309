#include "http/matcher.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "http/url_text.hpp"
#include "util/text.hpp"

namespace garner::http {
namespace {

using Doubt = Matcher::Doubt;
using MatchResult = Matcher::Result;

constexpr std::size_t values_compared = 1'000;   // the comparison of two lists takes the product of their lengths

constexpr Doubt opposite(Doubt doubt) { return doubt == Doubt::matches ? Doubt::fails : Doubt::matches; }

constexpr MatchResult result_of(bool matches) { return matches ? MatchResult::yes : MatchResult::no; }

constexpr MatchResult negated(MatchResult result) {
    if (result == MatchResult::yes) return MatchResult::no;
    return result == MatchResult::no ? MatchResult::yes : result;
}

template <class Range, class Test>
bool any(Range const& values, Test&& test) {
    return std::any_of(values.begin(), values.end(), test);
}

/// `test` holds for one of the resolved URLs, or with Doubt::fails for all that can be in another folder than the URL itself.
template <class Test>
bool in_resolved(RuleRequest const& request, Doubt doubt, Test&& test) {
    bool const matches = doubt == Doubt::matches;
    if (!request.resolved) return !matches;
    auto const all = request.resolved->all();
    return matches ? any(all, test) : !request.resolved->climbs() || std::ranges::all_of(all, test);
}

/// Applies `test` to the forms of the URL: one must match, or all.
template <class Test>
bool in_forms(RuleRequest const& request, Doubt doubt, Test&& test) {
    bool const is_plain = request.plain_url.empty();
    if (doubt == Doubt::fails)
        return test(request.url) && (is_plain || test(request.plain_url)) && in_resolved(request, doubt, test);
    return test(request.url) || (!is_plain && test(request.plain_url)) || in_resolved(request, doubt, test);
}

/// Applies `test` to the URL with its escapes decoded once and to the resolved ones, reduced to `part` of each.
template <class Part, class Test>
bool in_decoded_forms(RuleRequest const& request, Doubt doubt, Part&& part, Test&& test) {
    auto const text = part(request.url);
    if (text.empty()) return false;
    thread_local std::string scratch;   // keeps its memory
    bool const as_sent = test(decoded_once(text, scratch));
    auto const test_part = [&](std::string_view url) { return test(part(url)); };
    if (doubt == Doubt::fails) return as_sent && in_resolved(request, doubt, test_part);
    bool const in_plain = !request.plain_url.empty() && test_part(request.plain_url);   // escapes of escapes are undone in it
    return as_sent || in_plain || in_resolved(request, doubt, test_part);
}

bool any_contained(std::vector<std::string> const& parts, std::string_view url) {
    return any(parts, [&](std::string const& part) { return url.find(part) != url.npos; });
}

bool any_matches(std::vector<TextPattern> const& patterns, std::string_view text) {
    return any(patterns, [&](TextPattern const& pattern) { return pattern.matches(text); });
}

bool any_matches(std::vector<CertificatePattern> const& patterns, std::span<std::string const> names) {
    return any(patterns, [&](CertificatePattern const& pattern) { return pattern.matches(names); });
}

bool is_in_any(std::vector<TimeWindow> const& windows, WallTime now) {
    auto const minute = minute_of_week(now);
    return any(windows, [&](TimeWindow const& window) { return window.contains(minute); });
}

void combine(std::string& values, std::string_view value) { values.append(values.empty() ? "" : ", ").append(value); }

/// Tests the lines of a field. Recipients differ in their reading of several: they use the first, the last, or all of them combined
/// (RFC 9110 5.3). In doubt each reading must match, or one is enough.
template <class Test>
bool in_lines(Fields const* fields, std::string_view name, Doubt doubt, Test&& test) {
    if (!fields) return false;
    thread_local std::string combined;   // keeps its memory
    std::size_t readings = 0, matching = 0;
    std::string_view first;
    for (auto const& field : *fields) {
        if (!equals_ignoring_case(field.name, name)) continue;
        matching += test(field.value);
        if (++readings == 1)
            first = field.value;
        else
            combine(readings == 2 ? combined.assign(first) : combined, field.value);
    }
    if (readings > 1) {
        matching += test(std::string_view(combined));
        ++readings;
    }
    return doubt == Doubt::matches ? matching > 0 : readings > 0 && matching == readings;
}

bool any_field_matches(std::vector<FieldPattern> const& patterns, Fields const* fields, Doubt doubt) {
    return any(patterns, [&](FieldPattern const& pattern) {
        return in_lines(fields, pattern.name(), doubt, [&](std::string_view value) { return pattern.matches(value); });
    });
}

bool any_type_matches(std::vector<std::string> const& types, Fields const* fields, Doubt doubt) {
    return in_lines(fields, "content-type", doubt, [&](std::string_view value) { return is_media_type_among(value, types); });
}

/// Some recipients ignore the case of methods.
bool any_is(std::vector<std::string> const& methods, std::string_view method, Doubt doubt) {
    return any(methods,
               [&](std::string const& one) { return doubt == Doubt::matches ? equals_ignoring_case(one, method) : one == method; });
}

bool any_contains(std::vector<PortRange> const& ranges, std::uint16_t port) {
    return any(ranges, [&](PortRange const& range) { return range.contains(port); });
}

}   // namespace

/// Calls visit(key, result) for each member that is given, the cheap ones first, until it returns false. True if it never did.
template <class Visit>
bool Matcher::each_member(RuleRequest const& request, IpAddress const* address, Doubt doubt, Visit&& visit) const {
    bool const trusts_host = !request.unverified || doubt == Doubt::matches;
    auto const says = [&](char const* key, bool matches) { return visit(key, result_of(matches)); };
    auto const says_of_url = [&](char const* key, auto&& test) { return says(key, trusts_host && in_forms(request, doubt, test)); };
    auto const whole = [](std::string_view url) { return url; };
    auto const others = [&](std::vector<NamedMatcher> const& all, char const* key, bool negate) {
        for (auto const& one : all) {
            auto const result = one.matcher->matches(request, address, negate ? opposite(doubt) : doubt);
            if (!visit(key, negate ? negated(result) : result)) return false;
        }
        return true;
    };
    return (!never || says(never, false)) && (source.empty() || says("source", source.contains(request.client))) &&
           (listener.empty() || says("listener", any_contains(listener, request.listener))) &&
           (port.empty() || says("port", any_contains(port, request.port))) &&
           (method.empty() || says("method", any_is(method, request.method_text, doubt))) &&
           (time.empty() || says("time", is_in_any(time, request.now))) &&
           (host.empty() || says("host", trusts_host && host.contains(request.host))) &&
           (certificate.empty() || says("certificate", any_matches(certificate, request.certificate))) &&
           (content_type.empty() || says("content_type", any_type_matches(content_type, request.fields, doubt))) &&
           (url_contains.empty() || says_of_url("url_contains", [&](auto url) { return any_contained(url_contains, url); })) &&
           (host_matches.empty() ||
            says("host_matches", trusts_host && any_matches(host_matches, without_final_dot(request.host)))) &&
           (url_matches.empty() || says_of_url("url_matches", [&](auto url) { return any_matches(url_matches, url); })) &&
           (decoded_url_matches.empty() ||
            says("decoded_url_matches",
                 trusts_host &&
                     in_decoded_forms(request, doubt, whole, [&](auto url) { return any_matches(decoded_url_matches, url); }))) &&
           (decoded_path_matches.empty() ||
            says("decoded_path_matches", in_decoded_forms(request, doubt, path_and_query_of,
                                                          [&](auto path) { return any_matches(decoded_path_matches, path); }))) &&
           (header.empty() || says("header", any_field_matches(header, request.fields, doubt))) && others(is, "is", false) &&
           others(is_not, "not", true) && (user.empty() || visit("user", users(request, doubt))) &&
           (group.empty() || visit("group", groups(request, doubt))) &&
           (destination.empty() ||
            visit("destination", address ? result_of(destination.contains(*address)) : MatchResult::needs_destination));
}

MatchResult Matcher::users(RuleRequest const& request, Doubt doubt) const {
    auto const* identity = request.identity;
    if (identity && identity->logged_in()) return result_of(user.contains(identity->user));
    return identity || request.accelerated ? result_of(doubt == Doubt::matches) : MatchResult::needs_identity;
}

MatchResult Matcher::groups(RuleRequest const& request, Doubt doubt) const {
    auto const* identity = request.identity;
    bool const logged_in = identity && identity->logged_in();
    auto const is_named = [&](std::string const& name) { return group.contains(name); };
    bool const is_member = logged_in && any(identity->groups, is_named);
    if (logged_in && !is_member && any(identity->unknown_groups, is_named)) return result_of(doubt == Doubt::matches);
    if (is_member || (logged_in && identity->groups_known)) return result_of(is_member);
    return request.accelerated || (identity && !logged_in) ? result_of(doubt == Doubt::matches) : MatchResult::needs_identity;
}

Matcher::Judgement Matcher::judge(RuleRequest const& request, IpAddress const* address, Doubt doubt) const {
    Judgement lowest;
    each_member(request, address, doubt, [&](char const* key, MatchResult result) {
        if (result < lowest.result) lowest = {result, key};
        return result != MatchResult::no;
    });
    return lowest;
}

std::vector<std::string> Matcher::failing(RuleRequest const& request, IpAddress const* address, Doubt doubt) const {
    std::vector<std::string> keys;
    each_member(request, address, doubt, [&](std::string_view key, MatchResult result) {
        if (result != MatchResult::yes && key != "is" && key != "not") keys.emplace_back(key);
        return true;
    });
    for (auto const& one : is)
        for (auto const& inner : one.matcher->failing(request, address, doubt)) keys.push_back("is " + one.name + ": " + inner);
    for (auto const& one : is_not)
        if (one.matcher->matches(request, address, opposite(doubt)) != MatchResult::no) keys.push_back("not " + one.name);
    return keys;
}

bool Matcher::may_match_url(RuleRequest const& request, Doubt doubt) const {
    if (never) return false;
    bool const matches =
        (port.empty() || any_contains(port, request.port)) && (host.empty() || host.contains(request.host)) &&
        (host_matches.empty() || any_matches(host_matches, without_final_dot(request.host))) &&
        (url_contains.empty() || in_forms(request, doubt, [&](auto url) { return any_contained(url_contains, url); })) &&
        (url_matches.empty() || in_forms(request, doubt, [&](auto url) { return any_matches(url_matches, url); }));
    return matches && std::ranges::all_of(is, [&](auto const& one) { return one.matcher->may_match_url(request, doubt); });
}

bool Matcher::matches_all() const {
    bool const any_list = !source.empty() || !destination.empty() || !host.empty() || !port.empty() || !listener.empty() ||
                          !certificate.empty() || !method.empty() || !url_contains.empty() || !url_matches.empty() ||
                          !time.empty() || !host_matches.empty() || !decoded_url_matches.empty() || !decoded_path_matches.empty() ||
                          !header.empty() || !content_type.empty() || !user.empty() || !group.empty();
    auto const is_all = [](NamedMatcher const& one) { return one.matcher->matches_all(); };
    return !never && !any_list && is_not.empty() && std::ranges::all_of(is, is_all);
}

namespace {

/// True if each value of `theirs` is covered by one of `mine`. No value: no condition.
template <class Range, class Covers>
bool each_covered(Range const& mine, Range const& theirs, Covers&& covers) {
    if (mine.empty()) return true;
    return !theirs.empty() && std::ranges::all_of(theirs, [&](auto const& other) {
        return std::ranges::any_of(mine, [&](auto const& one) { return covers(one, other); });
    });
}

template <class Range>
bool includes(Range const& mine, Range const& theirs) {
    return each_covered(mine, theirs, std::equal_to<>());
}

bool covers_networks(NetworkSet const& mine, NetworkSet const& theirs) {
    return mine.empty() || (!theirs.empty() && mine.intervals().covers(theirs.intervals()));
}

bool covers_ports(std::vector<PortRange> const& mine, std::vector<PortRange> const& theirs) {
    return each_covered(mine, theirs, [](auto const& a, auto const& b) { return a.first <= b.first && b.last <= a.last; });
}

bool covers_hosts(HostSet const& mine, HostSet const& theirs) {
    if (mine.empty()) return true;
    auto const is_shared = [&](auto const& list) { return std::ranges::count(mine.lists(), list) > 0; };
    auto const covered = [&](HostPattern const& other) {
        auto const covers = [&](HostPattern const& one) { return one.covers(other); };
        return mine.size() <= values_compared ? std::ranges::any_of(mine, covers) : std::ranges::count(mine, other) > 0;
    };
    return !theirs.empty() && theirs.size() <= values_compared && std::ranges::all_of(theirs.lists(), is_shared) &&
           std::ranges::all_of(theirs, covered);
}

bool covers_names(NameSet const& mine, NameSet const& theirs) {
    if (mine.empty()) return true;
    return !theirs.empty() && std::ranges::all_of(theirs, [&](std::string const& name) { return mine.contains(name); });
}

bool covers_times(std::vector<TimeWindow> const& mine, std::vector<TimeWindow> const& theirs) {
    return mine.empty() || (!theirs.empty() && minutes_of(mine).covers(minutes_of(theirs)));
}

bool covers_matchers(std::vector<NamedMatcher> const& mine, std::vector<NamedMatcher> const& theirs) {
    auto const is_used = [&](NamedMatcher const& one) {
        return std::ranges::count(theirs, one.matcher, &NamedMatcher::matcher) > 0;
    };
    return std::ranges::all_of(mine, is_used);
}

}   // namespace

bool Matcher::covers(Matcher const& other) const {
    if (other.never) return true;
    return !never && covers_networks(source, other.source) && covers_networks(destination, other.destination) &&
           covers_ports(port, other.port) && covers_ports(listener, other.listener) && covers_hosts(host, other.host) &&
           covers_times(time, other.time) && covers_names(user, other.user) && covers_names(group, other.group) &&
           includes(certificate, other.certificate) && includes(method, other.method) &&
           each_covered(url_contains, other.url_contains,
                        [](auto const& mine, auto const& theirs) { return theirs.find(mine) != theirs.npos; }) &&
           includes(url_matches, other.url_matches) && includes(host_matches, other.host_matches) &&
           includes(decoded_url_matches, other.decoded_url_matches) && includes(decoded_path_matches, other.decoded_path_matches) &&
           includes(header, other.header) && includes(content_type, other.content_type) && covers_matchers(is, other.is) &&
           covers_matchers(is_not, other.is_not);
}

IntervalSet<std::uint32_t> minutes_of(std::vector<TimeWindow> const& windows) {
    std::vector<IntervalSet<std::uint32_t>::Interval> all;
    for (auto const& window : windows)
        for (auto const& one : window.intervals()) all.push_back(one);
    return IntervalSet<std::uint32_t>(std::move(all));
}

bool Matcher::has(Member member, bool by_not) const {
    bool own = false;
    switch (member) {
    case Member::destination: own = !destination.empty(); break;
    case Member::user: own = !user.empty(); break;
    case Member::group: own = !group.empty(); break;
    case Member::port: own = !port.empty(); break;
    case Member::doubtful:
        own = !method.empty() || !url_contains.empty() || !url_matches.empty() || !decoded_url_matches.empty() ||
              !decoded_path_matches.empty() || !header.empty() || !content_type.empty() || !user.empty() || !group.empty() ||
              !is_not.empty();
        break;
    case Member::beyond_origin:
        own = has(Member::request) || !time.empty() || !certificate.empty() || !user.empty() || !group.empty();
        break;
    case Member::request:
        own = !method.empty() || !url_contains.empty() || !url_matches.empty() || !decoded_url_matches.empty() ||
              !decoded_path_matches.empty() || !header.empty() || !content_type.empty();
        break;
    }
    auto const in = [&](NamedMatcher const& one) { return one.matcher->has(member, by_not); };
    return own || any(is, in) || (by_not && any(is_not, in));
}

bool is_media_type_among(std::string_view content_type, std::vector<std::string> const& types) {
    auto const media = trim(content_type.substr(0, content_type.find(';')));
    return any(types, [&](std::string_view wanted) {
        if (!wanted.ends_with("/*")) return equals_ignoring_case(media, wanted);
        wanted.remove_suffix(1);
        return wanted.size() < media.size() && equals_ignoring_case(media.substr(0, wanted.size()), wanted);
    });
}

}   // namespace garner::http
