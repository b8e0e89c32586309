#include "http/rules_by_pattern.hpp"

#include <re2/set.h>

#include <map>

#include "http/pattern_options.hpp"

namespace garner::http {
namespace {

constexpr std::size_t fewest = 8;               // below, each expression by itself is as fast
constexpr std::int64_t memory_max = 64 << 20;   // limit of the automaton, which is built while it runs

re2::RE2::Options set_options() {
    auto options = pattern_options(TextPattern::Case::matters);
    options.set_max_mem(memory_max);
    return options;
}

}   // namespace

struct RulesByPattern::Automaton {
    re2::RE2::Set set{set_options(), re2::RE2::UNANCHORED};
};

RulesByPattern::~RulesByPattern() = default;
RulesByPattern::RulesByPattern(RulesByPattern&&) noexcept = default;
RulesByPattern& RulesByPattern::operator=(RulesByPattern&&) noexcept = default;

RulesByPattern::RulesByPattern(std::vector<std::vector<std::string>> const& rules) : others_(words_for(rules.size())) {
    std::map<std::string_view, std::vector<std::uint32_t>> by_text;
    for (std::uint32_t rule = 0; rule < rules.size(); ++rule) {
        if (rules[rule].empty()) set_bit(others_, rule);
        for (auto const& text : rules[rule]) by_text[text].push_back(rule);
    }
    if (by_text.size() < fewest) return;
    auto automaton = std::make_unique<Automaton>();
    for (auto& [text, users] : by_text) {
        if (automaton->set.Add(re2::StringPiece(text.data(), text.size()), nullptr) < 0) return;
        rules_of_.push_back(std::move(users));
    }
    if (automaton->set.Compile()) automaton_ = std::move(automaton);
}

/// False if the automaton ran out of memory: any rule may match.
bool RulesByPattern::set_found(std::string_view text, RuleBits& found) const {
    thread_local std::vector<int> numbers;   // keeps its memory
    re2::RE2::Set::ErrorInfo error{};
    if (!automaton_->set.Match(re2::StringPiece(text.data(), text.size()), &numbers, &error))
        return error.kind == re2::RE2::Set::kNoError;
    for (auto const number : numbers)
        for (auto const rule : rules_of_[static_cast<std::size_t>(number)]) set_bit(found, rule);
    return true;
}

void RulesByPattern::keep_matching(std::span<std::string_view const> texts, RuleBits& bits) const {
    thread_local RuleBits found;   // keeps its memory
    found.assign(others_.begin(), others_.end());
    for (auto const text : texts)
        if (!set_found(text, found)) return;
    keep_common(bits, found);
}

}   // namespace garner::http
