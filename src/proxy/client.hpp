// The client of a connection, as rules, logs and origins see it.
#pragma once
#include <cstdint>
#include <string>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "http/identity.hpp"
#include "http/message.hpp"
#include "net/proxy_protocol.hpp"
#include "util/ip.hpp"

namespace garner::proxy {

/// Immutable; shared by the requests of a connection, and by those that continue without it. Behind a trusted gateway each request
/// may have its own.
struct Client {
    IpEndpoint peer;
    std::uint16_t listener = 0;   // the port that it connected to
    bool secure = false;          // it speaks TLS to this proxy
    bool http2 = false;
    std::vector<std::string> certificate = {};                  // the names in its certificate, the one that identifies it first
    std::shared_ptr<http::Identity const> identity = nullptr;   // applies to all its requests; nullptr: each request logs in
    std::uint64_t generation = 0;                               // Authenticator::generation() of `identity`
    std::uint64_t own_connections = 0;                          // the number of its own connections to origins; 0: it shares them
    std::string text = peer.address.text();
    std::optional<IpEndpoint> gateway = std::nullopt;           // the trusted gateway that sent the request and named `peer`
    std::shared_ptr<net::ProxyHeader const> header = nullptr;   // with which the connection began, if it has more than addresses
    /// The other end of the connection.
    IpEndpoint const& sender() const { return gateway ? *gateway : peer; }
};

/// The HTTP version of a request in logs and Via: "1.0", "1.1", "2.0".
inline std::string_view version_text(http::RequestHead const& request, Client const& client) {
    if (client.http2) return "2.0";
    return request.version == http::Version::http_1_0 ? "1.0" : "1.1";
}

}   // namespace garner::proxy
