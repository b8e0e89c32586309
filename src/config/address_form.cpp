// Reads addresses, networks, hosts and origins.
#include "config/address_form.hpp"

#include "http/uri.hpp"
#include "util/text.hpp"

namespace garner::config {

bool parse_endpoint(std::string_view text, IpEndpoint& into, std::string& why) {
    auto const colon = text.rfind(':');
    auto host = text.substr(0, colon);
    bool const bare_ipv6 = !host.starts_with('[') && host.find(':') != host.npos;
    if (colon == text.npos || text.ends_with(']') || bare_ipv6) return why = "has no port", false;

    auto const digits = text.substr(colon + 1);
    auto const port = parse_decimal(digits);
    if (!port && digits.find_first_not_of("0123456789") != digits.npos) return why = "has a port that is not a number", false;
    if (!port || *port == 0 || *port > 65'535) return why = "has a port outside 1 to 65535", false;
    into.port = static_cast<std::uint16_t>(*port);

    if (host.empty()) return into.address = IpAddress{}, true;
    if (equals_ignoring_case(host, "localhost")) return into.address = IpAddress::v4(127, 0, 0, 1), true;
    bool const brackets = host.starts_with('[') && host.ends_with(']');
    if (brackets) host = host.substr(1, host.size() - 2);
    auto const address = parse_ip(host);
    if (!address || brackets != (host.find(':') != host.npos)) return why = "has no IP address before its port", false;
    into.address = *address;
    return true;
}

Form<IpEndpoint> endpoint(bool may_be_off) {
    auto parse = [may_be_off](std::string const& text, IpEndpoint& into, std::string& why) {
        if (may_be_off && text.empty()) return into = {}, true;
        return parse_endpoint(text, into, why);
    };
    return parsed<IpEndpoint>("address", "an address with a port", R"(write it like "127.0.0.1:3128", "[::1]:3128" or ":3128")",
                              parse);
}

Form<std::string> name_server() {
    auto const accept = [](std::string const& text, std::string& why) {
        if (parse_ip(text)) return true;
        if (text.find(':') == text.npos) return why = "is not an IP address", false;
        IpEndpoint endpoint;
        if (!parse_endpoint(text, endpoint, why)) return false;
        // A listening address may be a name or empty; the resolver accepts neither.
        bool const is_literal = parse_ip(text.substr(0, text.rfind(':'))) || text.starts_with('[');
        if (!is_literal) why = "has no IP address before its port";
        return is_literal;
    };
    return checked("name server", "a name server's address", R"(write it like "10.0.0.1", "10.0.0.1:5353" or "[::1]:53")", accept);
}

Form<IpNetwork> network() {
    auto parse = [](std::string const& text, IpNetwork& into, std::string& why) {
        auto const network = parse_network(text);
        if (network) return into = *network, true;
        auto const slash = text.find('/');
        if (slash != text.npos && parse_ip(std::string_view(text).substr(0, slash))) {
            auto const prefix = parse_decimal(std::string_view(text).substr(slash + 1));
            bool const fits = prefix && *prefix <= (text.find(':') == text.npos ? 32u : 128u);
            why = fits ? "has bits set after its prefix" : "has no valid prefix length";
        }
        return false;
    };
    return parsed<IpNetwork>("network", "a network", R"(write it like "10.0.0.0/8", "127.0.0.1" or "2001:db8::/32")", parse);
}

Form<http::HostPattern> host_pattern() {
    auto read = [](Reader& reader, Json const& value, http::HostPattern& into) {
        if (!value.is_string())
            return reader.fault("expects a host, not " + kind_of(value),
                                R"(write "www.example.com", or ".example.com" for it and its subdomains)");
        auto const& text = value.get_ref<std::string const&>();
        auto pattern = http::HostPattern::parse(text);
        if (!pattern) return fault_of_host(reader, text);
        into = *std::move(pattern);
        return true;
    };
    return {"host", described_as("string"), read, nullptr};
}

bool fault_of_host(Reader& reader, std::string_view text) {
    auto const fault = http::HostPattern::fault_of(text);
    return reader.fault(quoted_value(text) + " " + fault.what, fault.mend);
}

Form<IpEndpoint> remote_endpoint() {
    auto parse = [](std::string const& text, IpEndpoint& into, std::string& why) {
        if (!parse_endpoint(text, into, why)) return false;
        if (into.port != 0 && !into.address.is_unspecified()) return true;
        why = "has no destination address";
        return false;
    };
    return parsed<IpEndpoint>("address", "an address and a port", R"(write it like "10.0.0.1:4827")", parse);
}

Form<std::string> host_name() {
    auto parse = [](std::string const& text, std::string& into, std::string& why) {
        auto const pattern = http::HostPattern::parse(text);
        if (!pattern) return why = http::HostPattern::fault_of(text).what, false;
        if (pattern->is_domain()) return false;
        into = pattern->text();
        return true;
    };
    return parsed<std::string>("host", "a host", R"(write a name or an address without port, such as "cache.example.com")", parse);
}

std::optional<http::Uri> parse_server_url(std::string_view text, std::string& why) {
    http::UriError error;
    auto uri = http::parse_absolute(text, error);
    if (!uri) {
        if (error.refusal) why += ": " + std::string(error.refusal);
        return std::nullopt;
    }
    if (!uri->bare_query && uri->path_and_query == "/") return uri;
    why = "has a path";
    return std::nullopt;
}

Form<std::string> origin() {
    auto parse = [](std::string const& text, std::string& into, std::string& why) {
        auto const uri = parse_server_url(text, why);
        if (!uri) return false;
        std::string normal;
        http::append_normalised(*uri, normal);
        normal.pop_back();
        into = std::move(normal);
        return true;
    };
    return parsed<std::string>("origin", "an origin", R"(write it like "http://127.0.0.1:8000", without a path)", parse);
}

}   // namespace garner::config
