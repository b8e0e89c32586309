// The part of the rules' index that finds rules by the expressions that match a text.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/rule_bits.hpp"

namespace re2 {
class RE2;
}

namespace garner::http {

/// All expressions of the rules as one automaton. Immutable after construction, so many threads may read it.
class RulesByPattern {
public:
    /// The expressions of each rule, in RE2's syntax; empty for a rule that every text may match.
    explicit RulesByPattern(std::vector<std::vector<std::string>> const& rules);
    ~RulesByPattern();
    RulesByPattern(RulesByPattern&&) noexcept;
    RulesByPattern& operator=(RulesByPattern&&) noexcept;

    /// False if it leaves all rules.
    bool is_active() const { return automaton_ != nullptr; }
    /// Clears the bits of rules of which no expression matches any of the texts.
    void keep_matching(std::span<std::string_view const> texts, RuleBits& bits) const;

private:
    struct Automaton;
    bool set_found(std::string_view text, RuleBits& found) const;

    std::unique_ptr<Automaton> automaton_;
    std::vector<std::vector<std::uint32_t>> rules_of_;   // by the number of the expression
    RuleBits others_;                                    // rules that every text may match
};

}   // namespace garner::http
