#include "proxy/upstream_head.hpp"

#include "http/range.hpp"
#include "icp/https.hpp"
#include "net/origin_pool.hpp"
#include "net/proxy_protocol.hpp"
#include "proxy/head_writer.hpp"
#include "proxy/passed_login.hpp"
#include "proxy/via.hpp"
#include "util/check.hpp"
#include "util/text.hpp"

namespace garner::proxy {

namespace {

using http::Method;
using http::Name;

constexpr char const* no_cache = "Cache-Control: no-cache\r\n";

/// RFC 9112 3.2.2: absolute-form.
std::string absolute_form(Target const& target, icp::PeerOptions const& peer) {
    bool const in_clear = !peer.tls && icp::https_of(peer) != icp::Https::clear;
    check(target.uri.scheme != http::Scheme::https || !in_clear);
    std::string url(http::text(target.uri.scheme));
    url.append("://").append(target.host_field);
    return target.path == "*" ? url : url.append(target.path);
}

/// Visitors of an accelerator and clients inside a decrypted tunnel log in to no proxy.
void append_login(Request const& request, icp::PeerOptions const& peer, std::string& out) {
    if (!peer.passes_login()) return append_peer_login(peer.login, out);
    if (!request.only_origin()) out += passed_login(request.head().fields);
}

/// A sibling is asked only for stored responses; it must not fetch (RFC 2187 5.2).
std::string lines_for_peer(Request const& request, icp::PeerOptions const& peer) {
    std::string lines;
    if (peer.type == icp::PeerOptions::Type::sibling) lines += "Cache-Control: only-if-cached\r\n";
    // The peer may still have an object that an unsafe request has changed.
    bool const has_changed = request.services.mesh->changed().has(request.target.url, steady_now());
    if (has_changed && !request.passes_caches) lines += no_cache;
    append_login(request, peer, lines);
    return lines;
}

/// `anew`: the client's own fields of this kind are not sent.
std::string lines_of_forwarding(Request const& request, bool anew) {
    auto const& client = *request.client.client();
    auto const kind = request.options->forwarded;
    if (kind != ForwardedField::by_listener) return forwarded_line(kind, sender_text(client));
    if (!request.target.accelerated) return {};
    return forwarded_lines(client, request.target.host_field, anew ? nullptr : &request.head().fields);
}

/// RFC 9110 7.6.2.
std::optional<std::uint32_t> max_forwards_of(http::RequestHead const& head) {
    bool const counts = head.method == Method::trace || head.method == Method::options;
    if (!counts || !head.fields.has(Name::max_forwards)) return std::nullopt;
    auto const hops = parse_decimal(head.fields.first(Name::max_forwards));
    if (!hops || *hops == 0) return std::nullopt;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(*hops, 1'000'000) - 1);
}

}   // namespace

void write_upstream_head(Request const& request, Sources const& sources, RequestChanges const& changes, std::string& out) {
    RequestExtras extras;
    std::string absolute, lines;
    extras.target = request.target.path;
    if (request.passes_caches) lines += no_cache;
    if (sources.current().peer && !sources.is_tunnelled()) {
        extras.target = absolute = absolute_form(request.target, sources.current().peer->options);
        lines += lines_for_peer(request, sources.current().peer->options);
    }
    extras.peer_lines = lines;
    extras.host = request.target.host_field;
    extras.via = request.options->via_name;
    extras.version = version_text(request.head(), *request.client.client());
    extras.body = request.client.body_framing();
    extras.validators = changes.validators;
    extras.strip_conditions = changes.strip_conditions;
    extras.range_lines = changes.range_lines;
    extras.upgrade = request.wants_upgrade();
    extras.strip_range = http::is_excessive_range(request.head().fields);
    extras.strip_gateway =
        drops_gateway_fields(*request.options, request.target.accelerated, request.client.client()->sender().address);
    auto const forwarded = lines_of_forwarding(request, extras.strip_gateway);
    extras.forwarded_lines = forwarded;
    extras.max_forwards = max_forwards_of(request.head());
    out.clear();
    append_request_head(request.head(), extras, out);
}

std::string connect_head(Request const& request, Sources const& sources) {
    auto const& target = request.target;
    bool const is_inside = sources.is_tunnelled();
    std::string authority(is_inside ? target.host_field : target.url);
    if (is_inside && target.uri.authority.port == 443) authority += ":443";   // Host leaves out the default port
    std::string text = "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n";
    for (auto const& field : request.head().fields)
        if (field.id == Name::via || equals_ignoring_case(field.name, "User-Agent"))
            text.append(field.name).append(": ").append(field.value).append("\r\n");
    append_via(text, request.options->via_name);
    text += forwarded_line(request.options->forwarded, sender_text(*request.client.client()));
    append_login(request, sources.current().peer->options, text);
    return text += "\r\n";
}

namespace {

net::ProxyProtocol proxy_protocol(Request const& request, Sources const& sources) {
    if (auto const& peer = sources.current().peer) return peer->options.proxy_protocol;
    return request.accelerated_origin ? request.accelerated_origin->proxy_protocol : net::ProxyProtocol::off;
}

}   // namespace

std::string proxy_header(Request const& request, Sources const& sources) {
    auto const version = proxy_protocol(request, sources);
    auto const& client = *request.client.client();
    if (request.client.is_absent()) return net::proxy_header(version, std::nullopt, {});
    return net::proxy_header(version, client.peer, {request.client.own_address(), client.listener});
}

void write_pool_key(Request const& request, Sources const& sources, std::string& out) {
    if (proxy_protocol(request, sources) != net::ProxyProtocol::off) return out.clear();
    auto const& authority = request.target.uri.authority;
    auto const& destination = request.target.destination;
    auto const address = destination ? destination->text() : std::string();
    net::PoolKey key{.tls = request.target.uri.scheme == http::Scheme::https ? request.services.worker.origin_tls->id() : 0,
                     .host = authority.host,
                     .port = authority.port,
                     .server_name = authority.host};
    if (destination) key.host = key.server_name = address;
    auto const& peer = sources.current().peer;
    auto const peer_tls = peer ? peer->tls() : nullptr;
    auto const peer_id = peer_tls ? peer_tls->id() : 0;
    if (sources.is_tunnelled()) {
        key.peer = peer->options.name;
        key.peer_tls = peer_id;
    } else if (peer) {
        key = {.tls = peer_id, .host = peer->options.host, .port = peer->options.http, .peer = peer->options.name};
    }
    net::pool_key(key, out);
    auto const own = request.client.client()->own_connections;
    if (own != 0) out.append("\n").append(std::to_string(own));
}

}   // namespace garner::proxy
