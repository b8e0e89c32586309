#include "takeover/client_message.hpp"

#include <charconv>
#include <utility>

#include "takeover/member_reader.hpp"

namespace garner::takeover {
namespace {

/// "127.0.0.1:3128", "[::1]:3128".
std::optional<IpEndpoint> endpoint_of(std::string_view text) {
    auto const colon = text.rfind(':');
    if (colon == text.npos) return std::nullopt;
    auto host = text.substr(0, colon);
    auto const digits = text.substr(colon + 1);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    auto const address = parse_ip(host);
    std::uint16_t port = 0;
    auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (!address || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return IpEndpoint{*address, port};
}

void read_endpoint(Reader& reader, char const* name, IpEndpoint& into) {
    std::string text;
    reader.text(name, text);
    if (auto const endpoint = endpoint_of(text))
        into = *endpoint;
    else
        reader.refuse(name);
}

Json json_of(HandedWay const& way) { return {{"in_pipe", way.in_pipe}, {"ended", way.ended}}; }

void read_way(Reader& reader, char const* name, HandedWay& way) {
    auto const* const member = reader.object(name);
    if (!member) return;
    Reader inner(*member, "clients");
    inner.number("in_pipe", way.in_pipe);
    inner.flag("ended", way.ended);
    if (!inner.is_valid()) reader.refuse(name);
}

Json json_of(HandedTunnel const& tunnel) {
    Json groups = Json::array();
    for (auto const& group : tunnel.groups) groups.push_back(bytes_of(group));
    return {{"head", bytes_of(tunnel.head)},
            {"user", bytes_of(tunnel.user)},
            {"groups", std::move(groups)},
            {"age_ms", static_cast<std::uint64_t>(tunnel.age.count())},
            {"sent", tunnel.sent},
            {"status", tunnel.status},
            {"tag", tunnel.tag},
            {"hierarchy", tunnel.hierarchy},
            {"peer", bytes_of(tunnel.peer)},
            {"reach", tunnel.reach},
            {"reason", bytes_of(tunnel.reason)},
            {"of_peer", tunnel.of_peer},
            {"on_line", tunnel.on_line},
            {"up", json_of(tunnel.up)},
            {"down", json_of(tunnel.down)}};
}

HandedTunnel read_tunnel(Reader& reader) {
    HandedTunnel tunnel;
    reader.text("head", tunnel.head);
    reader.text("user", tunnel.user);
    reader.texts("groups", tunnel.groups);
    reader.time("age_ms", tunnel.age);
    reader.number("sent", tunnel.sent);
    reader.number("status", tunnel.status);
    reader.text("tag", tunnel.tag);
    reader.text("hierarchy", tunnel.hierarchy);
    reader.text("peer", tunnel.peer);
    reader.text("reach", tunnel.reach);
    reader.text("reason", tunnel.reason);
    reader.flag("of_peer", tunnel.of_peer);
    reader.flag("on_line", tunnel.on_line);
    read_way(reader, "up", tunnel.up);
    read_way(reader, "down", tunnel.down);
    return tunnel;
}

Json json_of(HandedClient const& client) {
    Json json{{"listener", client.listener.text()},
              {"client", client.client.text()},
              {"accelerated", client.is_accelerated},
              {"new", client.is_new},
              {"unread", bytes_of(client.unread)}};
    if (client.destination) json["destination"] = client.destination->text();
    if (!client.authority.empty()) json["authority"] = bytes_of(client.authority);
    if (!client.unique_id.empty()) json["unique_id"] = bytes_of(client.unique_id);
    if (client.tunnel) json["tunnel"] = json_of(*client.tunnel);
    return json;
}

Result<HandedClient> client_of(Json const& json) {
    HandedClient client;
    Reader reader(json, "clients");
    read_endpoint(reader, "listener", client.listener);
    read_endpoint(reader, "client", client.client);
    reader.flag("accelerated", client.is_accelerated);
    reader.flag("new", client.is_new);
    reader.text("unread", client.unread);
    if (reader.has("destination")) read_endpoint(reader, "destination", client.destination.emplace());
    if (reader.has("authority")) reader.text("authority", client.authority);
    if (reader.has("unique_id")) reader.text("unique_id", client.unique_id);
    if (auto const* const tunnel = reader.has("tunnel") ? reader.object("tunnel") : nullptr) {
        Reader inner(*tunnel, "clients");
        client.tunnel = read_tunnel(inner);
        if (!inner.is_valid()) reader.refuse("tunnel");
    }
    return reader.result(std::move(client));
}

}   // namespace

Json json_of(Clients const& clients) {
    Json all = Json::array();
    for (auto const& client : clients.clients) all.push_back(json_of(client));
    return {{"do", "clients"}, {"number", clients.number}, {"clients", std::move(all)}};
}

Json json_of(Taken const& taken) { return {{"do", "taken"}, {"number", taken.number}, {"returned", taken.returned}}; }

Result<Clients> clients_of(Json const& message) {
    Clients clients;
    Reader reader(message);
    reader.number("number", clients.number);
    auto const* const all = reader.array("clients");
    if (!all) return reader.result(std::move(clients));
    for (auto const& one : *all) {
        auto client = one.is_object() ? client_of(one)
                                      : Result<HandedClient>(Fault{"the message \"clients\" has no valid member \"clients\""});
        if (!client) return client.fault();
        clients.clients.push_back(*std::move(client));
    }
    return reader.result(std::move(clients));
}

Result<Taken> taken_of(Json const& message) {
    Taken taken;
    Reader reader(message);
    reader.number("number", taken.number);
    reader.numbers("returned", taken.returned);
    return reader.result(std::move(taken));
}

}   // namespace garner::takeover
