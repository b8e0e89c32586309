#include "http/certificate_pattern.hpp"

#include <algorithm>

#include "util/idna.hpp"
#include "util/text.hpp"

namespace garner::http {
namespace {

/// `text` with its host in ASCII; empty if there is none to convert: a CN may be a person's name.
std::string with_ascii_host(std::string_view text) {
    auto const host = text.find('@') == npos ? 0 : text.find('@') + 1;
    std::string ascii(text.substr(0, host));
    bool const is_name = !is_ascii(text.substr(host)) && text.find_first_of("/: ") == npos;
    return is_name && append_ascii_name(text.substr(host), ascii) ? ascii : std::string();
}

bool matches_certificate_name(std::string_view wanted, std::string_view name) {
    if (equals_ignoring_case(name, wanted)) return true;
    if (!wanted.starts_with('.') || name.find_first_of("@:/ ") != name.npos) return false;
    return equals_ignoring_case(name, wanted.substr(1)) ||
           (name.size() > wanted.size() && equals_ignoring_case(name.substr(name.size() - wanted.size()), wanted));
}

}   // namespace

std::optional<CertificatePattern> CertificatePattern::parse(std::string_view text) {
    auto const is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
    if (text.empty() || text == "." || trim(text) != text || std::ranges::any_of(text, is_control)) return std::nullopt;
    CertificatePattern pattern;
    pattern.text_ = lower_case(text);
    pattern.ascii_ = with_ascii_host(pattern.text_);
    return pattern;
}

bool CertificatePattern::matches(std::span<std::string const> names) const {
    if (text_ == "any") return !names.empty();
    return std::ranges::any_of(names, [this](std::string const& name) {
        return matches_certificate_name(text_, name) || (!ascii_.empty() && matches_certificate_name(ascii_, name));
    });
}

}   // namespace garner::http
