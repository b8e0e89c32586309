#include "proxy/named_client.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
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

/// The parts between `separator` outside quotes.
std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    bool in_quotes = false;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && in_quotes) {
            ++i;
        } else if (text[i] == '"') {
            in_quotes = !in_quotes;
        } else if (text[i] == separator && !in_quotes) {
            parts.push_back(trim(text.substr(begin, i - begin)));
            begin = i + 1;
        }
    }
    parts.push_back(trim(text.substr(begin)));
    return parts;
}

/// The value of `for` in an element of Forwarded; empty if it has none.
std::string_view for_of(std::string_view element) {
    constexpr std::string_view name = "for=";
    for (auto const pair : split(element, ';'))
        if (equals_ignoring_case(pair.substr(0, name.size()), name)) return pair.substr(name.size());
    return {};
}

/// All nodes in all lines of the field, in their order.
std::vector<std::string_view> nodes_of(http::Fields const& request, std::string_view name, bool forwarded) {
    std::vector<std::string_view> nodes;
    for (auto const& field : request) {
        if (!equals_ignoring_case(field.name, name)) continue;
        for (auto const part : split(field.value, ',')) nodes.push_back(forwarded ? for_of(part) : part);
    }
    return nodes;
}

std::vector<std::string_view> nodes_of(http::Fields const& request) {
    auto nodes = nodes_of(request, "X-Forwarded-For", false);
    if (nodes.empty()) nodes = nodes_of(request, "Forwarded", true);
    if (nodes.size() > hops_max) nodes.erase(nodes.begin(), nodes.end() - hops_max);
    return nodes;
}

}   // namespace

IpAddress named_client(http::Fields const& request, IpAddress const& sender, std::span<IpNetwork const> trusted,
                       std::span<IpAddress const> own) {
    if (!is_among(sender, trusted)) return sender;
    auto client = sender;
    auto const nodes = nodes_of(request);
    for (auto node = nodes.rbegin(); node != nodes.rend() && is_among(client, trusted); ++node) {
        auto const address = address_of_node(*node);
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
    return client;
}

}   // namespace garner::proxy
