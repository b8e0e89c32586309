#include "http/access_index.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <bit>

#include "http/url_text.hpp"

namespace garner::http {
namespace {

constexpr std::size_t hosts_max = 1'000;   // a rule with more of them is found by their own list

/// The matcher, and all named ones that must match with it.
void collect(Matcher const& matcher, std::vector<Matcher const*>& into) {
    into.push_back(&matcher);
    for (auto const& one : matcher.is) collect(*one.matcher, into);
}

using RuleParts = AccessIndex::RuleParts;

std::vector<RuleParts> parts_of(std::span<AccessRule const> rules) {
    std::vector<RuleParts> all(rules.size());
    for (std::size_t rule = 0; rule < rules.size(); ++rule) collect(rules[rule].match, all[rule]);
    return all;
}

template <class Number>
using Numbers = std::vector<std::optional<IntervalSet<Number>>>;

/// The numbers that `read` gives for the parts of each rule: those in all of them.
template <class Number, class Read>
Numbers<Number> numbers_of(std::span<RuleParts const> rules, Read const& read) {
    Numbers<Number> all(rules.size());
    for (std::size_t rule = 0; rule < rules.size(); ++rule)
        for (auto const* part : rules[rule]) {
            auto const numbers = read(*part);
            if (!numbers) continue;
            all[rule] = all[rule] ? common(*all[rule], *numbers) : *numbers;
        }
    return all;
}

Numbers<WideNumber> networks_of(std::span<RuleParts const> rules, NetworkSet Matcher::*member) {
    return numbers_of<WideNumber>(rules, [&](Matcher const& part) {
        auto const& set = part.*member;
        return set.empty() ? std::nullopt : std::optional(set.intervals());
    });
}

Numbers<std::uint32_t> ports_of(std::span<RuleParts const> rules, std::vector<PortRange> Matcher::*member) {
    return numbers_of<std::uint32_t>(rules, [&](Matcher const& part) -> std::optional<IntervalSet<std::uint32_t>> {
        std::vector<IntervalSet<std::uint32_t>::Interval> all;
        for (auto const& range : part.*member) all.push_back({range.first, range.last});
        if (all.empty()) return std::nullopt;
        return IntervalSet<std::uint32_t>(std::move(all));
    });
}

Numbers<std::uint32_t> times_of(std::span<RuleParts const> rules) {
    return numbers_of<std::uint32_t>(
        rules, [](Matcher const& part) { return part.time.empty() ? std::nullopt : std::optional(minutes_of(part.time)); });
}

std::vector<HostSet const*> hosts_of(std::span<RuleParts const> rules) {
    std::vector<HostSet const*> all;
    for (auto const& parts : rules) {
        auto const is_short = [](Matcher const* part) {
            return !part->host.empty() && !part->host.has_lists() && part->host.size() <= hosts_max;
        };
        auto const found = std::ranges::find_if(parts, is_short);
        all.push_back(found == parts.end() ? nullptr : &(*found)->host);
    }
    return all;
}

std::vector<std::string> const* methods_of(RuleParts const& parts) {
    auto const found = std::ranges::find_if(parts, [](Matcher const* part) { return !part->method.empty(); });
    return found == parts.end() ? nullptr : &(*found)->method;
}

/// The position of a method in any case; methods.size(): it is not there.
std::size_t position_of(std::string_view method, std::vector<std::string> const& methods) {
    auto const is_same = [&](std::string const& one) { return equals_ignoring_case(one, method); };
    return static_cast<std::size_t>(std::ranges::find_if(methods, is_same) - methods.begin());
}

std::vector<std::string> named_methods(std::span<RuleParts const> rules) {
    constexpr std::size_t most = 32;   // others count as one
    std::vector<std::string> all;
    for (auto const& rule : rules)
        if (auto const* methods = methods_of(rule))
            for (auto const& method : *methods)
                if (all.size() < most && position_of(method, all) == all.size()) all.push_back(method);
    return all;
}

RuleBits rules_for_method(std::span<RuleParts const> rules, auto const& may_match) {
    RuleBits bits(words_for(rules.size()));
    for (std::size_t rule = 0; rule < rules.size(); ++rule) {
        auto const* methods = methods_of(rules[rule]);
        if (!methods || std::ranges::any_of(*methods, may_match)) set_bit(bits, rule);
    }
    return bits;
}

/// A set of rules for each method in any case, in order, and one for all others.
std::vector<RuleBits> rules_by_method(std::span<RuleParts const> rules, std::vector<std::string> const& methods) {
    std::vector<RuleBits> all;
    for (std::size_t method = 0; method <= methods.size(); ++method)
        all.push_back(rules_for_method(rules, [&](auto const& one) { return position_of(one, methods) == method; }));
    return all;
}

std::vector<std::string> texts_of(std::vector<TextPattern> const& patterns) {
    std::vector<std::string> all;
    for (auto const& pattern : patterns)
        all.push_back((pattern.letters() == TextPattern::Case::ignored ? "(?i)" : "") + pattern.text());
    return all;
}

std::vector<std::string> quoted(std::vector<std::string> const& parts) {
    std::vector<std::string> all;
    for (auto const& part : parts) all.push_back(re2::RE2::QuoteMeta(part));
    return all;
}

}   // namespace

FirstMatch first_match_by_walk(std::span<AccessRule const> rules, RuleRequest const& request, IpAddress const* destination) {
    for (std::size_t i = 0; i < rules.size(); ++i)
        if (auto const result = rules[i].matches(request, destination); result != Matcher::Result::no) return {i, result};
    return {};
}

std::vector<std::string> AccessIndex::patterns_of(Matcher const& matcher, Text text) {
    switch (text) {
    case url_part: return quoted(matcher.url_contains);
    case url: return texts_of(matcher.url_matches);
    case host: return texts_of(matcher.host_matches);
    case decoded_url: return texts_of(matcher.decoded_url_matches);
    case decoded_path: return texts_of(matcher.decoded_path_matches);
    case texts: break;
    }
    return {};
}

/// For each rule, the expressions of its first part that has some.
std::vector<std::vector<std::string>> AccessIndex::patterns_of(std::span<RuleParts const> rules, Text text) {
    std::vector<std::vector<std::string>> all(rules.size());
    for (std::size_t rule = 0; rule < rules.size(); ++rule)
        for (auto const* part : rules[rule])
            if (all[rule].empty()) all[rule] = patterns_of(*part, text);
    return all;
}

AccessIndex::AccessIndex(std::span<AccessRule const> rules) : AccessIndex(parts_of(rules)) {}

AccessIndex::AccessIndex(std::vector<RuleParts> const& rules)
    : all_(words_for(rules.size())), by_source_(networks_of(rules, &Matcher::source)),
      by_destination_(networks_of(rules, &Matcher::destination)), by_port_(ports_of(rules, &Matcher::port)),
      by_listener_(ports_of(rules, &Matcher::listener)), by_minute_(times_of(rules)), by_host_(hosts_of(rules)),
      methods_(named_methods(rules)), by_method_(rules_by_method(rules, methods_)), texts_of_(rules.size()) {
    for (std::size_t rule = 0; rule < rules.size(); ++rule) set_bit(all_, rule);
    for (std::uint8_t text = 0; text < texts; ++text) {
        auto const patterns = patterns_of(rules, static_cast<Text>(text));
        RulesByPattern by_text(patterns);
        if (!by_text.is_active()) continue;
        for (std::size_t rule = 0; rule < rules.size(); ++rule)
            if (!patterns[rule].empty()) texts_of_[rule] |= 1u << text;
        by_text_[text].emplace(std::move(by_text));
    }
}

void AccessIndex::keep_matching(Text text, RuleRequest const& request, RuleBits& bits) const {
    thread_local std::string scratch;   // keeps its memory
    std::array<std::string_view, 5> subjects{request.url};
    std::size_t count = 1;
    switch (text) {
    case url_part:
    case url: break;
    case host: subjects[0] = without_final_dot(request.host); break;
    case decoded_url: subjects[0] = decoded_once(request.url, scratch); break;
    case decoded_path: subjects[0] = decoded_once(path_and_query_of(request.url), scratch); break;
    case texts: return;
    }
    auto const add = [&](std::string_view form) { subjects[count++] = text == decoded_path ? path_and_query_of(form) : form; };
    if (text != host && !request.plain_url.empty()) add(request.plain_url);
    if (text != host && request.resolved) std::ranges::for_each(request.resolved->all(), add);
    by_text_[text]->keep_matching(std::span(subjects).first(count), bits);
}

/// Leaves the rules that the facts with cheap look-ups do not exclude.
void AccessIndex::narrow(RuleRequest const& request, IpAddress const* destination, RuleBits& bits) const {
    if (by_source_.is_active()) keep_common(bits, by_source_.find(number_of(request.client)));
    if (by_port_.is_active()) keep_common(bits, by_port_.find(request.port));
    if (by_listener_.is_active()) keep_common(bits, by_listener_.find(request.listener));
    if (by_minute_.is_active()) keep_common(bits, by_minute_.find(minute_of_week(request.now)));
    if (destination && by_destination_.is_active()) keep_common(bits, by_destination_.find(number_of(*destination)));
    if (by_host_.is_active()) by_host_.keep_matching(request.host, bits);
    if (methods_.empty()) return;
    keep_common(bits, by_method_[position_of(request.method_text, methods_)]);
}

FirstMatch AccessIndex::find(std::span<AccessRule const> rules, RuleRequest const& request, IpAddress const* destination) const {
    thread_local RuleBits bits;   // keeps its memory
    bits.assign(all_.begin(), all_.end());
    narrow(request, destination, bits);
    unsigned texts_seen = 0;
    for (std::size_t word = 0; word < bits.size(); ++word)
        while (bits[word] != 0) {
            auto const rule = word * 64 + static_cast<std::size_t>(std::countr_zero(bits[word]));
            if (unsigned const unseen = texts_of_[rule] & ~texts_seen) {
                auto const text = std::countr_zero(unseen);
                keep_matching(static_cast<Text>(text), request, bits);
                texts_seen |= 1u << text;
                continue;   // this rule may be out
            }
            auto const result = rules[rule].matches(request, destination);
            if (result != Matcher::Result::no) return {rule, result};
            bits[word] &= bits[word] - 1;
        }
    return {};
}

}   // namespace garner::http
