// A host name or domain that hosts are compared with.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "util/ip.hpp"

namespace garner::http {

/// "example.com." is example.com with an explicit DNS root.
constexpr std::string_view without_final_dot(std::string_view host) {
    if (host.size() > 1 && host.back() == '.') host.remove_suffix(1);
    return host;
}

/// A host name, or with a leading dot a domain: ".example.com" is example.com and every name below it. The comparison
/// ignores case and one final dot; an IP address is compared as an address, in any spelling.
class HostPattern {
public:
    /// Nothing when `text` is empty, only a dot, has a port or a byte that no host name has, or is_mistaken_ipv4.
    static std::optional<HostPattern> parse(std::string_view text);
    /// True for a text that parse() reads.
    static bool is_valid(std::string_view text);

    bool matches(std::string_view host) const;
    /// True if this pattern matches every host that the other one matches.
    bool covers(HostPattern const&) const;
    /// The original text in lower case.
    std::string const& text() const { return text_; }
    std::optional<IpAddress> const& address() const { return address_; }
    bool is_domain() const { return text_.front() == '.'; }
    friend bool operator==(HostPattern const&, HostPattern const&) = default;

private:
    std::string text_;
    std::optional<IpAddress> address_;
};

}   // namespace garner::http
