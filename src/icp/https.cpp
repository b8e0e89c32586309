#include "icp/https.hpp"

#include <array>

#include "http/uri.hpp"

namespace garner::icp {

Https https_of(PeerOptions const& peer) {
    if (peer.https) return *peer.https;
    if (peer.tls) return Https::ask;
    return peer.type == PeerOptions::Type::parent ? Https::tunnel : Https::no;
}

bool reads_https(PeerOptions const& peer) {
    auto const https = https_of(peer);
    return https == Https::ask || https == Https::clear;
}

bool may_keep(std::string_view url, PeerOptions const& peer) { return !url.starts_with("https:") || reads_https(peer); }

bool may_name(std::string_view url, PeerOptions const& peer) {
    return url.starts_with("http://") || https_of(peer) == Https::clear;
}

std::string own_url(PeerOptions const& peer) {
    bool const ipv6 = peer.host.find(':') != std::string::npos;
    std::string url;
    http::append_normalised({.authority = {peer.host, peer.http, ipv6}, .path_and_query = "/"}, url);
    return url;
}

std::string_view name_of(Https https) {
    static constexpr std::array<std::string_view, 4> names{"ask", "tunnel", "no", "clear"};
    return names[static_cast<std::size_t>(https)];
}

std::string_view reach_of(PeerOptions const& peer, bool of_https) {
    bool const tunnelled = of_https && https_of(peer) == Https::tunnel;
    if (peer.tls) return tunnelled ? "CONNECT over TLS" : "TLS";
    return tunnelled ? "CONNECT" : "clear";
}

}   // namespace garner::icp
