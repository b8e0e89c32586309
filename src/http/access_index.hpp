// Finds the first access rule that matches, without a look at each of them.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/access_rules.hpp"
#include "http/rule_bits.hpp"
#include "http/rules_by_host.hpp"
#include "http/rules_by_pattern.hpp"

namespace garner::http {

/// The first rule whose result is not `no`.
struct FirstMatch {
    std::size_t rule = SIZE_MAX;   // its index; SIZE_MAX: none
    Matcher::Result result = Matcher::Result::no;
    friend bool operator==(FirstMatch const&, FirstMatch const&) = default;
};

/// Looks at each rule in turn. AccessIndex finds the same.
FirstMatch first_match_by_walk(std::span<AccessRule const>, RuleRequest const&, IpAddress const* destination);

/// For each kind of matcher, a table from a fact of the request to the set of rules that may match. The intersection leaves a few
/// rules, and their matchers decide in order. Named matchers (`is`) count as matchers of the rule, negated ones do not. The
/// expressions for a text are one automaton; it runs when the first rule with such an expression is left. Immutable after
/// construction, so many threads may read it. Look-ups allocate nothing once a thread has made its first one.
class AccessIndex {
public:
    explicit AccessIndex(std::span<AccessRule const> rules);

    /// The matchers of a rule that must all match: its own, and those of `is`.
    using RuleParts = std::vector<Matcher const*>;

    /// `rules`: those of the construction.
    FirstMatch find(std::span<AccessRule const> rules, RuleRequest const&, IpAddress const* destination) const;

private:
    explicit AccessIndex(std::vector<RuleParts> const& rules);

    enum Text : std::uint8_t { url_part, url, host, decoded_url, decoded_path, texts };
    static std::vector<std::string> patterns_of(Matcher const&, Text);
    static std::vector<std::vector<std::string>> patterns_of(std::span<RuleParts const>, Text);

    void narrow(RuleRequest const&, IpAddress const* destination, RuleBits&) const;
    void keep_matching(Text, RuleRequest const&, RuleBits&) const;

    RuleBits all_;
    RulesByNumber<WideNumber> by_source_, by_destination_;
    RulesByNumber<std::uint32_t> by_port_, by_listener_, by_minute_;
    RulesByHost by_host_;
    std::vector<std::string> methods_;   // those that rules name
    std::vector<RuleBits> by_method_;    // for each of them, and for all others
    std::array<std::optional<RulesByPattern>, texts> by_text_;
    std::vector<std::uint8_t> texts_of_;   // a bit for each text with an automaton that the rule has expressions for
};

}   // namespace garner::http
