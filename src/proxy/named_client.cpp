#include "proxy/named_client.hpp"

#include <algorithm>
#include <optional>
#include <ranges>
#include <string_view>
#include <utility>
#include <vector>

#include "util/text.hpp"

namespace garner::proxy {

namespace {

constexpr std::size_t hops_max = 64;   // addresses that are looked at, the last ones

/// Without quotes, port and the brackets of IPv6: "1.2.3.4:80", "\"[::1]:80\"".
std::optional<IpAddress> address_of_node(std::string_view node) {
    if (node.size() > 1 && node.starts_with('"') && node.ends_with('"')) node = node.substr(1, node.size() - 2);
    if (node.starts_with('[')) return parse_ip(node.substr(1, std::min(node.find(']'), node.size()) - 1));
    if (std::ranges::count(node, ':') == 1) node = node.substr(0, node.find(':'));
    return parse_ip(node);
}

bool is_escaped(std::string_view text, std::size_t at) {
    std::size_t backslashes = 0;
    while (backslashes < at && text[at - 1 - backslashes] == '\\') ++backslashes;
    return backslashes % 2 == 1;
}

/// Removes the part behind the last `separator` that is not quoted. Read from the end: a client may write a quote that it never
/// closes before the part that a gateway appends.
std::string_view take_last(std::string_view& text, char separator) {
    bool in_quotes = false;
    for (std::size_t i = text.size(); i-- > 0;) {
        if (text[i] == '"' && !(in_quotes && is_escaped(text, i))) in_quotes = !in_quotes;
        if (text[i] != separator || in_quotes) continue;
        auto const part = text.substr(i + 1);
        text = text.substr(0, i);
        return trim(part);
    }
    return trim(std::exchange(text, {}));
}

/// The value of `for` in an element of Forwarded; empty if it has none.
std::string_view for_of(std::string_view element) {
    constexpr std::string_view name = "for=";
    std::string_view value;
    while (!element.empty()) {
        auto const pair = take_last(element, ';');
        if (equals_ignoring_case(pair.substr(0, name.size()), name)) value = pair.substr(name.size());
    }
    return value;
}

/// The nodes in all lines of the field, from the last to the first.
std::vector<std::string_view> nodes_of(http::Fields const& request, std::string_view name, bool forwarded) {
    std::vector<std::string_view> lines, nodes;
    for (auto const& field : request)
        if (equals_ignoring_case(field.name, name)) lines.push_back(field.value);
    for (auto& line : lines | std::views::reverse) {
        do {
            auto const part = take_last(line, ',');
            nodes.push_back(forwarded ? for_of(part) : part);
        } while (!line.empty() && nodes.size() < hops_max);
    }
    return nodes;
}

std::vector<std::string_view> nodes_of(http::Fields const& request) {
    auto nodes = nodes_of(request, "X-Forwarded-For", false);
    return nodes.empty() ? nodes_of(request, "Forwarded", true) : nodes;
}

}   // namespace

IpAddress named_client(http::Fields const& request, IpAddress const& sender, std::span<IpNetwork const> trusted,
                       std::span<IpAddress const> own) {
    if (!is_among(sender, trusted)) return sender;
    auto client = sender;
    for (auto const node : nodes_of(request)) {
        if (!is_among(client, trusted)) break;
        auto const address = address_of_node(node);
        // A field that names such an address must not give its sender the rights of a local client.
        if (!address || address->is_loopback() || address->is_unspecified() || std::ranges::count(own, *address) > 0) break;
        client = *address;
    }
    return client;
}

std::shared_ptr<Client const> client_of_request(std::shared_ptr<Client const> const& last, http::Fields const& request,
                                                Options const& options, http::OwnAddresses const* own) {
    auto const interfaces = own ? std::span(own->interfaces) : std::span<IpAddress const>();
    auto const sender = last->sender();
    auto const named = named_client(request, sender.address, options.forwarded_trust, interfaces);
    if (named == last->peer.address) return last;
    auto client = std::make_shared<Client>(*last);
    bool const is_sender = named == sender.address;
    client->gateway = is_sender ? std::nullopt : std::optional(sender);
    client->peer = is_sender ? sender : IpEndpoint{named, 0};
    client->text = named.text();
    client->identity = nullptr;   // may be another client's
    client->generation = 0;
    client->own_connections = 0;
    return client;
}

}   // namespace garner::proxy
