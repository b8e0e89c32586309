// The forms of co_await whose temporaries g++ 12 destroys twice, as far as the text alone shows them.
// Inside an awaited expression these are: a lambda that captures by value, a brace list, and ?:
// between temporaries. A lambda's body is a separate expression and is checked at its own co_await. A
// further form makes g++ 12 emit a trap: a co_await after && or || in the condition of a while.
#pragma once

#include "house/source.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace garner::house {

inline bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// The position after the bracket that closes the one at `open`.
inline std::size_t past_bracket(std::string_view code, std::size_t open) {
    int depth = 0;
    for (auto at = open; at < code.size(); ++at) {
        if (code[at] == '(' || code[at] == '[' || code[at] == '{') ++depth;
        if (code[at] == ')' || code[at] == ']' || code[at] == '}') --depth;
        if (depth == 0) return at + 1;
    }
    return code.size();
}

inline bool captures_by_value(std::string_view captures) {
    while (!captures.empty()) {
        auto const end = std::min(captures.find(','), captures.size());
        auto one = captures.substr(0, end);
        captures.remove_prefix(std::min(end + 1, captures.size()));
        one.remove_prefix(std::min(one.find_first_not_of(" \n\t"), one.size()));
        bool const harmless = one.empty() || one.starts_with('&') || one == "this";
        if (!harmless) return true;
    }
    return false;
}

/// True if an arm of ?: creates a temporary by a call or an initializer. Names, members and numbers do not.
inline bool makes_temporary(std::string_view arm) { return arm.find_first_of("({") != arm.npos; }

class AwaitedExpression {
public:
    AwaitedExpression(std::string_view code, std::size_t begin) : code_(code), at_(begin) {}

    /// The forbidden form; empty if there is none.
    std::string fault() {
        for (; at_ < code_.size(); ++at_) {
            char const c = code_[at_];
            if (c == ';' || (depth_ == 0 && (c == ')' || c == ']' || c == '}' || c == ','))) break;
            if (c == '(' || c == '[') ++depth_;
            if (c == ')' || c == ']') --depth_;
            if (c == '[' && opens_lambda()) {
                if (captures_by_value(captures())) return "a lambda that captures by value";
                skip_lambda();
            } else if (c == '{') {
                return "a brace list";
            } else if (c == '?' && chooses_temporaries()) {
                return "?: between temporaries";
            }
            previous_ = std::isspace(static_cast<unsigned char>(c)) ? previous_ : code_[at_];
        }
        return "";
    }

private:
    /// A '[' after a value is a subscript.
    bool opens_lambda() const { return !is_word(previous_) && previous_ != ')' && previous_ != ']'; }

    std::string_view captures() const { return code_.substr(at_ + 1, past_bracket(code_, at_) - at_ - 2); }

    void skip_lambda() {
        --depth_;
        auto const body = code_.find('{', past_bracket(code_, at_));
        at_ = body == code_.npos ? code_.size() - 1 : past_bracket(code_, body) - 1;
    }

    bool chooses_temporaries() const {
        auto const colon = end_of_arm(at_ + 1);
        if (colon >= code_.size() || code_[colon] != ':') return false;
        auto const yes = code_.substr(at_ + 1, colon - at_ - 1);
        auto const no = code_.substr(colon + 1, end_of_arm(colon + 1) - colon - 1);
        return makes_temporary(yes) || makes_temporary(no);
    }

    /// The ':', ',', ';' or closing bracket at which an arm of ?: ends.
    std::size_t end_of_arm(std::size_t at) const {
        while (at < code_.size()) {
            char const c = code_[at];
            if (c == '(' || c == '[' || c == '{') {
                at = past_bracket(code_, at);
                continue;
            }
            if (code_.substr(at, 2) == "::") {
                at += 2;
                continue;
            }
            if (c == ':' || c == ',' || c == ';' || c == ')' || c == ']' || c == '}') break;
            ++at;
        }
        return at;
    }

    std::string_view code_;
    std::size_t at_;
    int depth_ = 0;
    char previous_ = ' ';
};

/// True if `at` is in a while's condition, after && or ||.
inline bool behind_a_junction_of_while(std::string_view code, std::size_t at) {
    auto const begin = code.substr(0, at).rfind("while (");
    if (begin == code.npos) return false;
    auto const open = begin + std::string_view("while ").size();
    auto const before = code.substr(open, at - open);
    bool const inside = past_bracket(code, open) > at;
    return inside && (before.find("&&") != before.npos || before.find("||") != before.npos);
}

inline std::vector<Breach> breaches_of_await_forms(std::string const& file, std::string_view text) {
    static constexpr std::string_view keyword = "co_await";
    std::vector<Breach> breaches;
    auto const code = code_only(text);
    for (auto at = code.find(keyword); at != code.npos; at = code.find(keyword, at + 1)) {
        auto const begin = at + keyword.size();
        bool const part_of_a_name = (at > 0 && is_word(code[at - 1])) || (begin < code.size() && is_word(code[begin]));
        bool const is_operator = code.substr(0, at).ends_with("operator ");
        if (part_of_a_name || is_operator) continue;
        if (auto fault = AwaitedExpression(code, begin).fault(); !fault.empty())
            breaches.push_back({file, line_of(code, at), fault + " in a co_await expression: name it, then await it"});
        if (behind_a_junction_of_while(code, at))
            breaches.push_back({file, line_of(code, at), "&& or || of while in a co_await's way: await within the loop"});
    }
    return breaches;
}

}   // namespace garner::house
