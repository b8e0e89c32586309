// http_port.
#include <algorithm>
#include <array>

#include "import/context.hpp"
#include "import/words.hpp"
#include "util/ip.hpp"
#include "util/text.hpp"

namespace garner::importing {
namespace {

/// "3128" becomes ":3128". Empty if the host is a name, or the port is none.
std::string address_of(std::string_view place, std::string& port) {
    auto const colon = place.rfind(':');
    auto const host = colon == npos ? std::string_view() : place.substr(0, colon);
    port = place.substr(colon == npos ? 0 : colon + 1);
    auto const number = parse_decimal(port);
    if (!number || *number == 0 || *number > 65'535) return {};
    port = std::to_string(*number);
    bool const brackets = host.starts_with('[') && host.ends_with(']');
    auto const bare = brackets ? host.substr(1, host.size() - 2) : host;
    if (host.empty() || equals_ignoring_case(host, "localhost")) return std::string(host) + ":" + port;
    auto const address = parse_ip(bare);
    if (!address || brackets == address->is_v4()) return {};
    return std::string(host) + ":" + port;
}

/// The reason why a listener with this option is not translated; nullptr: it is.
char const* refusal_of(std::string_view option) {
    constexpr std::array<std::pair<std::string_view, char const*>, 8> refused{{
        {"intercept", "Garner takes no redirected connections; configure the proxy in the clients, or by a PAC file"},
        {"transparent", "Garner takes no redirected connections; configure the proxy in the clients, or by a PAC file"},
        {"tproxy", "Garner takes no redirected connections; configure the proxy in the clients, or by a PAC file"},
        {"accel", "write an accelerator: a listener with `origin`, as in docs/guides/accelerator.md"},
        {"vhost", "write an accelerator: a listener with `origin`, as in docs/guides/accelerator.md"},
        {"defaultsite", "write an accelerator: a listener with `origin`, as in docs/guides/accelerator.md"},
        {"vport", "write an accelerator: a listener with `origin`, as in docs/guides/accelerator.md"},
        {"require-proxy-header", "Garner does not read the PROXY protocol"},
    }};
    auto const name = option.substr(0, option.find('='));
    auto const found = std::ranges::find(refused, name, [](auto const& row) { return row.first; });
    return found == refused.end() ? nullptr : found->second;
}

}   // namespace

void take_http_port(Context& context, Line const& line, Directive const&) {
    auto const words = split(line.rest);
    std::string port;
    auto const address = words.empty() ? "" : address_of(words.front(), port);
    if (address.empty()) return context.report.needs_you(line, "has no port, or a name instead of an address; add it to `listen`");
    context.facts.listeners[words.front()] = port;
    for (auto const& word : words)
        if (word.starts_with("name=")) context.facts.listeners[word.substr(5)] = port;
    for (auto const& word : words)
        if (auto const* const refusal = refusal_of(word)) return context.report.needs_you(line, refusal);
    if (std::ranges::count(words, "ssl-bump") > 0)
        context.report.needs_you(line, "decrypts TLS; write `bump` and its CA, as in docs/guides/interception.md");
    if (std::ranges::count(context.listen, address) == 0) context.listen.push_back(address);
}

}   // namespace garner::importing
