#include "import/posix_regex.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <optional>

#include "util/text.hpp"

namespace garner::importing {
namespace {

using Kind = Translated::Kind;

constexpr std::size_t pattern_max = 1'024;   // limit of Garner's regular expressions
constexpr unsigned group_depth_max = 100;
constexpr unsigned repeat_max = 1'000;   // of RE2

bool is_word(unsigned char c) { return is_alpha(static_cast<char>(c)) || is_digit(static_cast<char>(c)) || c == '_'; }

std::string escaped(unsigned char c) {
    if (is_word(c) || std::string_view("/:%=&;, ~@!#\"'<>").find(static_cast<char>(c)) != npos) return {static_cast<char>(c)};
    if (c > ' ' && c < 0x7f) return {'\\', static_cast<char>(c)};
    return {'\\', 'x', "0123456789abcdef"[c >> 4], "0123456789abcdef"[c & 15]};
}

struct Stop {
    Kind kind;
    char const* why;
};

/// Reads an expression once, from left to right, and writes it for RE2.
class Translation {
public:
    Translation(std::string_view text, bool ignore_case) : text_(text), ignore_case_(ignore_case) {}

    bool has_dot() const { return has_dot_; }

    /// The branches of the outermost alternation. Throws Stop.
    std::vector<std::string> branches() {
        std::vector<std::string> all{branch()};
        while (!at_end()) {   // a branch ends at "|" only
            ++at_;
            all.push_back(branch());
        }
        return all;
    }

private:
    bool at_end() const { return at_ == text_.size(); }
    unsigned char peek() const { return static_cast<unsigned char>(text_[at_]); }
    bool is_next(std::string_view text) const { return text_.substr(at_).starts_with(text); }
    /// Without case the C library compares capitals.
    unsigned char capital(unsigned char c) const {
        return ignore_case_ && is_lower(static_cast<char>(c)) ? static_cast<unsigned char>(c - 32) : c;
    }
    [[noreturn]] static void invalid(char const* why) { throw Stop{Kind::invalid, why}; }
    [[noreturn]] static void unsupported(char const* why) { throw Stop{Kind::unsupported, why}; }

    /// One element of a branch.
    struct Piece {
        std::string text;
        bool anchor = false;       // cannot be repeated
        bool word = false;         // begins and ends with a character of a word
        bool word_begin = false;   // \<, which needs such a piece behind it
        bool word_end = false;     // \>, which needs one before it
    };

    std::string branch() {
        std::string out;
        Piece last;
        while (!at_end() && peek() != '|' && !(depth_ > 0 && peek() == ')')) {
            auto piece = element();
            if (!piece.anchor) repeat(piece);
            if (piece.word_end && !last.word) unsupported("\\> is supported only behind a letter, digit or _");
            // The C library matches such expressions where no reading of POSIX would.
            if (last.text == "$" || (piece.text == "^" && !out.empty())) unsupported("an anchor is in the middle");
            if (last.word_begin && !piece.word) unsupported("\\< is supported only before a letter, digit or _");
            out += piece.text;
            last = std::move(piece);
        }
        if (last.word_begin) unsupported("\\< is supported only before a letter, digit or _");
        return out;
    }

    Piece element() {
        auto const c = peek();
        ++at_;
        switch (c) {
        case '^':
        case '$': return {.text = {static_cast<char>(c)}, .anchor = true};
        case '.': has_dot_ = true; return {.text = "."};
        case '[': return {.text = bracket()};
        case '(': return {.text = group()};
        case '\\': return escape();
        case '*':
        case '+':
        case '?':
        case '{': invalid("it repeats nothing");
        default: return literal(c);
        }
    }

    Piece literal(unsigned char c) const {
        // RE2 knows the case of Latin-1, and the C locale does not.
        bool const fold = ignore_case_ && c >= 0x80;
        return {.text = fold ? "(?-i:" + escaped(c) + ")" : escaped(c), .word = is_word(c)};
    }

    std::string group() {
        if (++depth_ > group_depth_max) unsupported("it has more than 100 groups inside each other");
        std::string out = "(?:" + branch();
        while (!at_end() && peek() == '|') {
            ++at_;
            out += "|" + branch();
        }
        if (at_end()) invalid("a parenthesis is not closed");
        ++at_;
        --depth_;
        return out + ")";
    }

    Piece escape() {
        if (at_end()) invalid("it ends with a backslash");
        auto const c = peek();
        ++at_;
        switch (c) {
        case 'w':
        case 'W': return {.text = {'\\', static_cast<char>(c)}};
        case 's': return {.text = "[[:space:]]"};   // RE2's \s has no vertical tab
        case 'S': return {.text = "[^[:space:]]"};
        case 'b':
        case 'B': return {.text = {'\\', static_cast<char>(c)}, .anchor = true};
        case '<': return {.text = "\\b", .anchor = true, .word_begin = true};
        case '>': return {.text = "\\b", .anchor = true, .word_end = true};
        case '`': return {.text = "\\A", .anchor = true};
        case '\'': return {.text = "\\z", .anchor = true};
        default:
            if (c >= '1' && c <= '9') unsupported("it refers back to a group");
            // The C library does not capitalise an escaped letter of the expression.
            if (capital(c) != c) return {.text = "[^\\x00-\\xff]"};
            return literal(c);
        }
    }

    /// "a**" and "a+?" repeat what is repeated already; RE2 reads them otherwise.
    void repeat(Piece& piece) {
        for (bool repeated = false; !at_end(); repeated = true) {
            std::string operation;
            auto const c = peek();
            if (c == '*' || c == '+' || c == '?') {
                operation = {static_cast<char>(c)};
                ++at_;
            } else if (c == '{') {
                operation = interval();
            } else {
                return;
            }
            if (repeated) piece.text = "(?:" + piece.text + ")";
            piece.text += operation;
            piece.word = piece.word && operation == "+";
        }
    }

    /// "{2}", "{2,}", "{2,4}" and "{,4}".
    std::string interval() {
        ++at_;
        auto const first = number();
        auto last = first;
        bool const has_comma = !at_end() && peek() == ',';
        if (has_comma) {
            ++at_;
            last = number();
        }
        if (at_end() || peek() != '}' || (!first && !has_comma)) invalid("an interval in braces is malformed");
        ++at_;
        auto const least = first.value_or(0);
        if (last && least > *last) invalid("an interval in braces ends before it begins");
        if (least > repeat_max || last.value_or(0) > repeat_max) unsupported("it repeats something more than 1000 times");
        if (!has_comma) return "{" + std::to_string(least) + "}";
        return "{" + std::to_string(least) + "," + (last ? std::to_string(*last) : "") + "}";
    }

    std::optional<unsigned> number() {
        constexpr unsigned enough = 100'000;
        std::optional<unsigned> value;
        for (; !at_end() && is_digit(static_cast<char>(peek())); ++at_)
            value = std::min(value.value_or(0) * 10 + (peek() - '0'), enough);
        return value;
    }

    // ---- brackets ----

    std::string bracket() {
        std::string out = "[";
        if (!at_end() && peek() == '^') {
            out += '^';
            ++at_;
        }
        for (bool first = true;; first = false) {
            if (at_end()) invalid("a bracket is not closed");
            if (peek() == ']' && !first) break;
            if (is_next("[:")) {
                out += named_class();
                if (is_next("-") && !is_next("-]")) invalid("a class begins a range");
                continue;
            }
            if (peek() == '-' && !first && !is_next("-]")) invalid("a hyphen is between two ranges");
            out += range();
        }
        ++at_;
        return out + "]";
    }

    std::string range() {
        auto const first = member();
        if (!is_next("-") || is_next("-]")) return escaped_member(first);
        ++at_;
        if (is_next("[:")) invalid("a class ends a range");
        if (at_end()) invalid("a bracket is not closed");
        auto const last = member();
        if (first > last) invalid("a range ends before it begins");
        return escaped_member(first) + "-" + escaped_member(last);
    }

    unsigned char member() {
        for (std::string_view const open : {"[.", "[="}) {
            if (!is_next(open)) continue;
            // One character between the marks. Names of several need a locale.
            std::string const close{open[1], ']'};
            if (text_.size() < at_ + 5 || text_.substr(at_ + 3, 2) != close) unsupported("it names a collating element");
            at_ += 5;
            return capital(static_cast<unsigned char>(text_[at_ - 3]));
        }
        return capital(static_cast<unsigned char>(text_[at_++]));
    }

    std::string escaped_member(unsigned char c) const {
        if (ignore_case_ && c >= 0x80) unsupported("it ignores the case of bytes outside ASCII");
        return escaped(c);
    }

    std::string named_class() {
        constexpr std::array<std::string_view, 12> names{"alpha", "digit", "alnum", "upper", "lower", "space",
                                                         "blank", "punct", "print", "graph", "cntrl", "xdigit"};
        auto const end = text_.find(":]", at_ + 2);
        if (end == npos) invalid("a class is not closed");
        auto const name = text_.substr(at_ + 2, end - at_ - 2);
        if (std::ranges::find(names, name) == names.end()) invalid("it has an unknown class");
        at_ = end + 2;
        return "[:" + std::string(name) + ":]";
    }

    std::string_view text_;
    bool ignore_case_;
    std::size_t at_ = 0;
    unsigned depth_ = 0;
    bool has_dot_ = false;
};

/// The options with which the rules compile expressions.
re2::RE2::Options options_of_rules() {
    re2::RE2::Options options;
    options.set_encoding(re2::RE2::Options::EncodingLatin1);
    options.set_max_mem(1 << 20);
    options.set_log_errors(false);
    options.set_never_capture(true);
    return options;
}

bool is_accepted(std::string const& pattern) { return pattern.size() <= pattern_max && re2::RE2(pattern, options_of_rules()).ok(); }

/// One pattern if it is short enough, else a pattern for each branch.
std::vector<std::string> patterns_of(std::vector<std::string> const& branches, std::string const& flags) {
    auto all = flags;
    for (auto const& branch : branches) all += (&branch == &branches.front() ? "" : "|") + branch;
    if (all.size() <= pattern_max) return {all};
    std::vector<std::string> patterns;
    for (auto const& branch : branches) patterns.push_back(flags + branch);
    return patterns;
}

}   // namespace

Translated to_re2(std::string_view posix, bool ignore_case) {
    try {
        Translation translation(posix, ignore_case);
        auto const branches = translation.branches();
        // POSIX's dot matches the end of a line, too.
        auto const* const flags = ignore_case ? (translation.has_dot() ? "(?is)" : "(?i)") : translation.has_dot() ? "(?s)" : "";
        auto patterns = patterns_of(branches, flags);
        if (std::ranges::all_of(patterns, is_accepted)) return {.patterns = std::move(patterns)};
        return {.kind = Kind::unsupported, .why = "it is longer than 1024 bytes, or too large for RE2"};
    } catch (Stop const& stop) {
        return {.kind = stop.kind, .why = stop.why};
    }
}

bool matches_nothing(std::string const& pattern) { return re2::RE2::PartialMatch("", re2::RE2(pattern, options_of_rules())); }

std::string re2_for_text(std::string_view text) {
    std::string out = "(?i)^";
    for (char c : text) out += escaped(static_cast<unsigned char>(c));
    return out + "$";
}

}   // namespace garner::importing
