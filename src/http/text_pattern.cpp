#include "http/text_pattern.hpp"

#include <re2/re2.h>

#include "http/message.hpp"
#include "http/pattern_options.hpp"

namespace garner::http {

re2::RE2::Options pattern_options(TextPattern::Case letters) {
    re2::RE2::Options options;
    options.set_encoding(re2::RE2::Options::EncodingLatin1);   // a URL is bytes, not always UTF-8
    options.set_max_mem(1 << 20);
    options.set_log_errors(false);
    options.set_never_capture(true);
    options.set_case_sensitive(letters == TextPattern::Case::matters);
    return options;
}

Result<TextPattern> TextPattern::parse(std::string_view text, Case letters) {
    if (text.empty()) return Fault{"the expression is empty"};
    if (text.size() > text_max) return Fault{"the expression is longer than 1024 bytes"};
    re2::StringPiece const piece(text.data(), text.size());
    auto expression = std::make_shared<re2::RE2 const>(piece, pattern_options(letters));
    if (!expression->ok()) return Fault{expression->error()};
    TextPattern pattern;
    pattern.expression_ = std::move(expression);
    pattern.letters_ = letters;
    return pattern;
}

bool TextPattern::matches(std::string_view subject) const {
    return re2::RE2::PartialMatch(re2::StringPiece(subject.data(), subject.size()), *expression_);
}

std::string const& TextPattern::text() const { return expression_->pattern(); }

Result<FieldPattern> FieldPattern::parse(std::string_view text) {
    auto const colon = text.find(':');
    auto const name = text.substr(0, colon);
    if (colon == text.npos || !is_token(name)) return Fault{"has no field name before a colon"};
    auto value = TextPattern::parse(trim(text.substr(colon + 1)));
    if (!value) return value.fault();
    FieldPattern pattern;
    pattern.name_ = lower_case(name);
    pattern.value_ = *std::move(value);
    return pattern;
}

}   // namespace garner::http
