#include "http/certificate_pattern.hpp"

#include <algorithm>

#include "util/text.hpp"

namespace garner::http {

std::optional<CertificatePattern> CertificatePattern::parse(std::string_view text) {
    auto const is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
    if (text.empty() || text == "." || trim(text) != text || std::ranges::any_of(text, is_control)) return std::nullopt;
    CertificatePattern pattern;
    pattern.text_ = lower_case(text);
    return pattern;
}

bool CertificatePattern::matches(std::span<std::string const> names) const {
    if (text_ == "any") return !names.empty();
    return std::ranges::any_of(names, [this](std::string const& name) { return matches_name(name); });
}

bool CertificatePattern::matches_name(std::string_view name) const {
    if (equals_ignoring_case(name, text_)) return true;
    if (text_.front() != '.' || name.find_first_of("@:/ ") != name.npos) return false;
    std::string_view const domain = std::string_view(text_).substr(1);
    return equals_ignoring_case(name, domain) ||
           (name.size() > text_.size() && equals_ignoring_case(name.substr(name.size() - text_.size()), text_));
}

}   // namespace garner::http
