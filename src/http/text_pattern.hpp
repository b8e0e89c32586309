// Regular expressions of rules.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "util/result.hpp"

namespace re2 {
class RE2;
}

namespace garner::http {

/// A regular expression over bytes (RE2 syntax, unanchored): linear time in the text's length, 1 MiB at most.
class TextPattern {
public:
    static constexpr std::size_t text_max = 1'024;
    enum class Case : std::uint8_t { matters, ignored };
    /// A fault if RE2 refuses it, or if it is empty or longer than text_max.
    static Result<TextPattern> parse(std::string_view text, Case = Case::matters);
    bool matches(std::string_view subject) const;
    std::string const& text() const;
    Case letters() const { return letters_; }
    friend bool operator==(TextPattern const& a, TextPattern const& b) { return a.letters_ == b.letters_ && a.text() == b.text(); }

private:
    std::shared_ptr<re2::RE2 const> expression_;
    Case letters_ = Case::matters;
};

/// A field of the request and an expression for its value: "User-Agent: ^curl/".
class FieldPattern {
public:
    /// A fault without a colon, for a name that is no token, and for those of TextPattern.
    static Result<FieldPattern> parse(std::string_view text);
    std::string const& name() const { return name_; }
    /// `value` of a line of the field, or of several lines combined.
    bool matches(std::string_view value) const { return value_.matches(value); }
    friend bool operator==(FieldPattern const&, FieldPattern const&) = default;

private:
    std::string name_;   // in lower case
    TextPattern value_;
};

}   // namespace garner::http
