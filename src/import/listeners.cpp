// http_port.
#include <algorithm>
#include <array>

#include "import/context.hpp"
#include "import/words.hpp"
#include "util/ip.hpp"
#include "util/result.hpp"
#include "util/text.hpp"

namespace garner::importing {
namespace {

struct Endpoint {
    std::string host;   // may be empty, "localhost", an IPv4 address, or an IPv6 address in brackets
    std::string port;
    std::string text() const { return host + ":" + port; }
};

bool is_listening_host(std::string_view host) {
    if (host.empty() || equals_ignoring_case(host, "localhost")) return true;
    bool const brackets = host.starts_with('[') && host.ends_with(']');
    auto const address = parse_ip(brackets ? host.substr(1, host.size() - 2) : host);
    return address && brackets != address->is_v4();
}

/// "3128", "10.0.0.1:3128"
Result<Endpoint> endpoint_of(std::string_view text) {
    auto const colon = text.rfind(':');
    std::string const host(colon == npos ? std::string_view() : text.substr(0, colon));
    auto const digits = text.substr(colon == npos ? 0 : colon + 1);
    auto const port = parse_decimal(digits);
    if (!port || *port == 0 || *port > 65'535) return Fault{printable(digits) + " is not a port between 1 and 65535"};
    if (!is_listening_host(host)) return Fault{printable(host) + " is not an IP address; write the address in `listen`"};
    return Endpoint{host, std::to_string(*port)};
}

/// The reason why a listener with this option is not translated; nullptr: it is.
char const* refusal_of(std::string_view option) {
    constexpr std::array<std::pair<std::string_view, char const*>, 8> refused{{
        {"intercept", "set `intercept` of a listener, as in docs/guides/interception-proxy.md"},
        {"transparent", "set `intercept` of a listener, as in docs/guides/interception-proxy.md"},
        {"tproxy", "set `intercept` of a listener, as in docs/guides/interception-proxy.md"},
        {"accel", "write an accelerator: a listener with `origin`, as in docs/guides/accelerator.md"},
        {"vhost", "write an accelerator: a listener with `origin`, as in docs/guides/accelerator.md"},
        {"defaultsite", "write an accelerator: a listener with `origin`, as in docs/guides/accelerator.md"},
        {"vport", "write an accelerator: a listener with `origin`, as in docs/guides/accelerator.md"},
        {"require-proxy-header", "write the listener with the networks of the load balancers as `proxy_protocol`"},
    }};
    auto const name = option.substr(0, option.find('='));
    auto const found = std::ranges::find(refused, name, [](auto const& row) { return row.first; });
    return found == refused.end() ? nullptr : found->second;
}

}   // namespace

void take_http_port(Context& context, Line const& line, Directive const&) {
    auto const words = split(line.rest);
    if (words.empty()) return context.report.needs_you(line, "has no port; write http_port 3128");
    auto const endpoint = endpoint_of(words.front());
    if (!endpoint) return context.report.needs_you(line, endpoint.fault().what);
    context.facts.listeners[words.front()] = endpoint->port;
    for (auto const& word : words)
        if (word.starts_with("name=")) context.facts.listeners[word.substr(5)] = endpoint->port;
    for (auto const& word : words)
        if (auto const* const refusal = refusal_of(word)) return context.report.needs_you(line, refusal);
    if (std::ranges::count(words, "ssl-bump") > 0)
        context.report.needs_you(line, "decrypts TLS; write `bump` and its CA, as in docs/guides/interception.md");
    if (std::ranges::count(context.listen, endpoint->text()) == 0) context.listen.push_back(endpoint->text());
}

}   // namespace garner::importing
