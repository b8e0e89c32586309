#include "http/host_pattern.hpp"

#include "http/uri.hpp"
#include "util/text.hpp"

namespace garner::http {

bool HostPattern::is_valid(std::string_view text) {
    auto const name = without_final_dot(text);
    if (name.empty() || name == ".") return false;
    for (char c : name)
        if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) return false;
    bool const has_port = name.find(':') != name.npos && !parse_ip(name);
    return !has_port && name.find_first_of("/*?@#[]\\") == name.npos && !is_mistaken_ipv4(name);
}

std::optional<HostPattern> HostPattern::parse(std::string_view text) {
    if (!is_valid(text)) return std::nullopt;
    auto const name = without_final_dot(text);
    HostPattern pattern;
    pattern.text_ = lower_case(name);
    pattern.address_ = parse_ip(name);
    return pattern;
}

bool HostPattern::matches(std::string_view host) const {
    host = without_final_dot(host);
    if (address_) return parse_ip(host) == address_;
    std::string_view const wanted = text_;
    if (wanted.front() != '.') return equals_ignoring_case(host, wanted);
    if (host.size() >= wanted.size()) return equals_ignoring_case(host.substr(host.size() - wanted.size()), wanted);
    return equals_ignoring_case(host, wanted.substr(1));
}

bool HostPattern::covers(HostPattern const& other) const {
    return other.is_domain() ? is_domain() && other.text_.ends_with(text_) : matches(other.text_);
}

}   // namespace garner::http
