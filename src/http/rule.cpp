// Matches rules, and decides by them.
#include "http/rule.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "http/dates.hpp"
#include "util/text.hpp"

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

bool opens_addresses(AccessRule const& rule) { return rule.allow && !rule.match.destination.empty(); }

Decision by_rule(AccessRule const& rule) {
    using enum Decision::Verdict;
    if (!rule.allow) return {.verdict = deny, .rule = rule.name, .matchers = rule.matchers};
    return {.verdict = allow,
            .opens_address = opens_addresses(rule),
            .opens_port = !rule.match.port.empty(),
            .rule = rule.name,
            .matchers = rule.matchers};
}

bool contains(std::string_view url, std::string const& part) { return url.find(part) != url.npos; }

std::string with_closed(char const* closed, std::string rule) { return closed ? std::string(closed) + " (" + rule + ")" : rule; }

// "example.com." is example.com with an explicit DNS root.
std::string_view without_final_dot(std::string_view host) {
    if (host.size() > 1 && host.back() == '.') host.remove_suffix(1);
    return host;
}

template <class Range, class Test>
bool any(Range const& values, Test&& test) {
    return std::any_of(values.begin(), values.end(), test);
}

// An empty list matches everything.
template <class Range, class Test>
bool allows(Range const& values, Test&& test) {
    return values.empty() || any(values, test);
}

/// Applies `test` to either form of the URL, or to both.
template <class Test>
bool in_forms(RuleRequest const& request, Matcher::Forms forms, Test&& test) {
    if (request.plain_url.empty()) return test(request.url);
    bool const both = forms == Matcher::Forms::both;
    return both ? test(request.url) && test(request.plain_url) : test(request.url) || test(request.plain_url);
}

}   // namespace

// ---- access ----

AccessRules::AccessRules(std::vector<AccessRule> rules) : rules_(std::move(rules)) { any_opens_ = any(rules_, opens_addresses); }

Decision AccessRules::decide(RuleRequest const& request, std::optional<IpAddress> destination) const {
    using enum Decision::Verdict;
    Decision decision = by_default(request);
    for (AccessRule const& rule : rules_) {
        auto const result = rule.matches(request, destination ? &*destination : nullptr);
        if (result == Matcher::Result::no) continue;
        if (result == Matcher::Result::needs_destination)
            return {.verdict = needs_destination, .rule = rule.name, .matchers = rule.matchers};
        decision = by_rule(rule);
        break;
    }
    if (!decision.allowed()) return decision;
    if (!decision.opens_port) decision.closed = blocked_port(request);
    if (decision.closed) {
        decision.verdict = deny;
    } else if (!decision.opens_address && !destination && opened_to_others(request)) {
        decision.verdict = needs_destination;
    }
    return decision;
}

// Another client's rule may have allowed this URL from a blocked destination: a hit must then check the address too.
bool AccessRules::opened_to_others(RuleRequest const& request) const {
    if (!any_opens_) return false;
    return any(rules_,
               [&](AccessRule const& rule) { return opens_addresses(rule) && rule.match.may_match_url(request, rule.forms()); });
}

std::string Decision::whole_rule() const {
    std::string text(rule);
    if (!matchers.empty()) text.append(" ").append(matchers);
    return text;
}

std::string Decision::text() const { return with_closed(closed, whole_rule()); }

std::string Decision::text_for_client() const { return with_closed(closed, std::string(rule)); }

// ---- matchers ----

Matcher::Result Matcher::matches(RuleRequest const& request, IpAddress const* address, Forms forms) const {
    if (!source.empty() && !is_among(request.client, source)) return Result::no;
    if (!allows(listener, [&](PortRange const& range) { return range.contains(request.listener); })) return Result::no;
    if (!allows(certificate, [&](CertificatePattern const& pattern) { return pattern.matches(request.certificate); }))
        return Result::no;
    if (!allows(method, [&](std::string const& name) { return name == request.method_text; })) return Result::no;
    if (!may_match_url(request, forms)) return Result::no;
    if (!allows(time, [&](TimeWindow const& window) { return window.contains(request.now); })) return Result::no;
    if (destination.empty()) return Result::yes;
    if (!address) return Result::needs_destination;
    return is_among(*address, destination) ? Result::yes : Result::no;
}

bool Matcher::may_match_url(RuleRequest const& request, Forms forms) const {
    return allows(port, [&](PortRange const& range) { return range.contains(request.port); }) &&
           allows(host, [&](HostPattern const& pattern) { return pattern.matches(request.host); }) &&
           (url_contains.empty() || has_url_part(request, forms)) && (url_matches.empty() || has_url_pattern(request, forms));
}

bool Matcher::has_url_part(RuleRequest const& request, Forms forms) const {
    return in_forms(request, forms, [&](std::string_view url) {
        return any(url_contains, [&](std::string const& part) { return contains(url, part); });
    });
}

bool Matcher::has_url_pattern(RuleRequest const& request, Forms forms) const {
    return in_forms(request, forms, [&](std::string_view url) {
        return any(url_matches, [&](UrlPattern const& pattern) { return pattern.matches(url); });
    });
}

std::optional<HostPattern> HostPattern::parse(std::string_view text) {
    auto const name = without_final_dot(text);
    if (name.empty() || name == ".") return std::nullopt;
    for (char c : name)
        if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) return std::nullopt;
    if (name.find_first_of("/*?@#[]\\") != name.npos || is_mistaken_ipv4(name)) return std::nullopt;
    HostPattern pattern;
    pattern.text_ = lower_case(name);
    pattern.address_ = parse_ip(name);
    return pattern;
}

bool HostPattern::matches(std::string_view host) const {
    host = without_final_dot(host);
    if (address_) return parse_ip(host) == address_;
    std::string_view const wanted = text_;
    if (wanted.front() != '.') return equals_ignoring_case(host, wanted);
    if (host.size() >= wanted.size()) return equals_ignoring_case(host.substr(host.size() - wanted.size()), wanted);
    return equals_ignoring_case(host, wanted.substr(1));
}

std::optional<PortRange> PortRange::parse(std::string_view text) {
    auto const dash = text.find('-');
    auto const first = parse_decimal(text.substr(0, dash));
    auto const last = dash == text.npos ? first : parse_decimal(text.substr(dash + 1));
    if (!first || !last || *first == 0 || *last > 65'535 || *first > *last) return std::nullopt;
    return PortRange{static_cast<std::uint16_t>(*first), static_cast<std::uint16_t>(*last)};
}

Result<UrlPattern> UrlPattern::parse(std::string_view text) {
    if (text.empty()) return Fault{"the expression is empty"};
    if (text.size() > text_max) return Fault{"the expression is longer than 1024 bytes"};
    re2::RE2::Options options;
    options.set_encoding(re2::RE2::Options::EncodingLatin1);   // a URL is bytes, not always UTF-8
    options.set_max_mem(1 << 20);
    options.set_log_errors(false);
    options.set_never_capture(true);
    auto expression = std::make_shared<re2::RE2 const>(re2::StringPiece(text.data(), text.size()), options);
    if (!expression->ok()) return Fault{expression->error()};
    UrlPattern pattern;
    pattern.expression_ = std::move(expression);
    return pattern;
}

bool UrlPattern::matches(std::string_view url) const {
    return re2::RE2::PartialMatch(re2::StringPiece(url.data(), url.size()), *expression_);
}

std::string const& UrlPattern::text() const { return expression_->pattern(); }

// ---- time windows ----

namespace {

std::optional<unsigned> parse_day(std::string_view text) {
    for (unsigned day = 0; day < day_names.size(); ++day)
        if (equals_ignoring_case(day_names[day], text)) return day;
    return std::nullopt;
}

// "Mon-Fri", "Sat,Sun", "Fri-Mon": bit 0 is Sunday.
std::optional<std::uint8_t> parse_days(std::string_view text) {
    unsigned days = 0;
    while (true) {
        auto const comma = text.find(',');
        auto const part = text.substr(0, comma);
        auto const dash = part.find('-');
        auto const first = parse_day(part.substr(0, dash));
        auto const last = dash == part.npos ? first : parse_day(part.substr(dash + 1));
        if (!first || !last) return std::nullopt;
        for (unsigned day = *first;; day = (day + 1) % 7) {
            days |= 1u << day;
            if (day == *last) break;
        }
        if (comma == text.npos) return static_cast<std::uint8_t>(days);
        text.remove_prefix(comma + 1);
    }
}

// "08:00" to "24:00", in minutes.
std::optional<std::uint16_t> parse_minute(std::string_view text) {
    if (text.size() != 5 || text[2] != ':') return std::nullopt;
    auto const hour = parse_decimal(text.substr(0, 2));
    auto const minute = parse_decimal(text.substr(3));
    if (!hour || !minute || *minute > 59 || *hour * 60 + *minute > 24 * 60) return std::nullopt;
    return static_cast<std::uint16_t>(*hour * 60 + *minute);
}

}   // namespace

std::optional<TimeWindow> TimeWindow::parse(std::string_view text) {
    TimeWindow window;
    text = trim(text);
    auto const space = text.find(' ');
    auto hours = text;
    if (!text.empty() && (text.front() < '0' || text.front() > '9')) {
        auto const days = parse_days(text.substr(0, space));
        if (!days) return std::nullopt;
        window.days_ = *days;
        if (space == text.npos) return window;
        hours = trim(text.substr(space + 1));
    }
    auto const dash = hours.find('-');
    if (dash == hours.npos) return std::nullopt;
    auto const begin = parse_minute(hours.substr(0, dash));
    auto const end = parse_minute(hours.substr(dash + 1));
    if (!begin || !end || *begin == *end || *begin == 24 * 60) return std::nullopt;
    window.begin_ = *begin;
    window.end_ = *end;
    return window;
}

bool TimeWindow::contains(WallTime time) const {
    std::time_t const seconds = unix_seconds(time);
    std::tm local{};
    localtime_r(&seconds, &local);
    return contains(static_cast<unsigned>(local.tm_wday), static_cast<unsigned>(local.tm_hour * 60 + local.tm_min));
}

bool TimeWindow::contains(unsigned weekday, unsigned minute) const {
    bool const today = (days_ >> weekday) & 1;
    if (begin_ < end_) return today && begin_ <= minute && minute < end_;
    bool const yesterday = (days_ >> ((weekday + 6) % 7)) & 1;
    return (today && minute >= begin_) || (yesterday && minute < end_);
}

// ---- caching rules ----

bool CachingRule::applies(RuleRequest const& request, std::string_view content_type) const {
    if (match.matches(request, nullptr) != Matcher::Result::yes) return false;
    auto const media = trim(content_type.substr(0, content_type.find(';')));
    return allows(type, [&](std::string_view wanted) {
        if (!wanted.ends_with("/*")) return equals_ignoring_case(media, wanted);
        wanted.remove_suffix(1);
        return wanted.size() < media.size() && equals_ignoring_case(media.substr(0, wanted.size()), wanted);
    });
}

Reload reload_for(std::span<CachingRule const> rules, RuleRequest const& request) {
    for (CachingRule const& rule : rules)
        if (rule.reload && rule.applies(request, "")) return *rule.reload;
    return Reload::honour;
}

}   // namespace garner::http
