// A host name or domain that hosts are compared with.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "util/ip.hpp"
#include "util/result.hpp"

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
    /// Nothing if no host of a URL looks like `text`: see fault_of().
    static std::optional<HostPattern> parse(std::string_view text);

    /// `text` as it is compared with hosts, but in any case: an international name in ASCII (util/idna.hpp), and "||example.com^" of
    /// Adblock as ".example.com". A view of `text` or of `scratch`. Nothing for a text that parse() does not read.
    static std::optional<std::string_view> plain_form(std::string_view text, std::string& scratch);

    /// Why parse() does not read `text`: "is not a host: it is a URL", and a suggested fix.
    static Fault fault_of(std::string_view text);

    bool matches(std::string_view host) const;
    /// True if this pattern matches every host that the other one matches.
    bool covers(HostPattern const&) const;
    /// In lower case and ASCII, without a final dot.
    std::string const& text() const { return text_; }
    std::optional<IpAddress> const& address() const { return address_; }
    bool is_domain() const { return text_.front() == '.'; }
    friend bool operator==(HostPattern const&, HostPattern const&) = default;

private:
    std::string text_;
    std::optional<IpAddress> address_;
};

}   // namespace garner::http
