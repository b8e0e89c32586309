// The numbers of member functions and data members of each class. A class with many has more than one job.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "house/source.hpp"

namespace garner::house {

struct ClassSize {
    std::string name;
    std::size_t line = 0;
    std::size_t functions = 0;
    std::size_t members = 0;
};

/// Counts the declarations of one class body. Types, aliases, friends and constants are not members.
class ClassBody {
public:
    explicit ClassBody(ClassSize& size) : size_(size) {}

    /// `code` begins after the class's opening brace. Returns the length of the body, including its closing brace.
    std::size_t count(std::string_view code) {
        std::size_t at = 0;
        for (int braces = 1, parentheses = 0; at < code.size() && braces > 0; ++at) {
            char const c = code[at];
            parentheses += c == '(' ? 1 : c == ')' ? -1 : 0;
            braces += c == '{' ? 1 : c == '}' ? -1 : 0;
            if (braces == 1 && c == '}' && parentheses == 0)
                end_of_block();
            else if (braces == 1 && c == ';' && parentheses == 0)
                end_of_declaration();
            else if (braces == 1)
                declaration_ += c;
        }
        return at;
    }

private:
    static bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> words) {
        return std::ranges::any_of(words, [&](auto word) { return text.starts_with(word); });
    }
    std::string_view declaration() const {
        std::string_view text = declaration_;
        auto const trim = [&] { text.remove_prefix(std::min(text.find_first_not_of(" \t\n"), text.size())); };
        for (trim(); begins_with_any(text, {"public:", "private:", "protected:"}); trim()) text.remove_prefix(text.find(':') + 1);
        return text;
    }
    static bool is_type(std::string_view text) { return begins_with_any(text, {"class ", "struct ", "enum ", "template "}); }
    static bool is_function(std::string_view text) {
        auto const guarded = text.find(" GUARDED_BY(");
        if (guarded != text.npos) text = text.substr(0, guarded);
        auto const parenthesis = text.find('('), assignment = text.find('=');
        return parenthesis != text.npos && parenthesis < assignment && text.find("std::function<") == text.npos;
    }
    /// The end of a function's body ends its declaration; the end of an initializer or a type does not.
    void end_of_block() {
        if (is_type(declaration()) || !is_function(declaration())) return;
        ++size_.functions;
        declaration_.clear();
    }
    void end_of_declaration() {
        auto const text = declaration();
        bool const is_none =
            text.empty() || is_type(text) || begins_with_any(text, {"using ", "friend ", "static constexpr ", "static_assert"});
        if (!is_none) ++(is_function(text) ? size_.functions : size_.members);
        declaration_.clear();
    }

    ClassSize& size_;
    std::string declaration_;
};

/// All classes and structs of a file, including nested ones.
inline std::vector<ClassSize> class_sizes(std::string_view text) {
    auto const code = code_only(text);
    std::vector<ClassSize> sizes;
    for (std::string_view const word : {"class ", "struct "})
        for (auto at = code.find(word); at != code.npos; at = code.find(word, at + 1)) {
            auto const open = code.find_first_of("{;()", at);
            bool const begins_word = at == 0 || code[at - 1] == ' ' || code[at - 1] == '\n';
            if (open == code.npos || code[open] != '{' || !begins_word) continue;
            auto const name = at + word.size();
            ClassSize size{code.substr(name, code.find_first_of(" :{", name) - name), line_of(code, at)};
            ClassBody(size).count(std::string_view(code).substr(open + 1));
            sizes.push_back(size);
        }
    return sizes;
}

}   // namespace garner::house
