// Hop-by-hop fields (RFC 9110 7.6.1), and connection persistence (RFC 9112 9.3).
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "http/message.hpp"

namespace garner::http {

/// True for Connection, Keep-Alive, TE, Trailer, Transfer-Encoding, Upgrade, HTTP2-Settings, Proxy-Connection,
/// Proxy-Authenticate, Proxy-Authorization and Proxy-Authentication-Info.
bool is_hop_by_hop(Name);

/// Decides which fields of one message are neither forwarded nor stored: hop-by-hop fields, and those that Connection
/// names. All other names that this proxy knows (Host, Content-Length, Cache-Control, Cookie, …) are end-to-end, even if
/// Connection names them.
/// Valid as long as the bytes of the fields. Allocates only when Connection names a field that is not in Name.
class HopByHop {
public:
    explicit HopByHop(Fields const&);
    bool dropped(Field const&) const;

private:
    std::vector<std::string_view> named_;   // unknown names, sorted by before()
};

/// True when a Connection field has this option, in any case.
bool connection_has(Fields const&, std::string_view option);

/// Connection: close.
inline bool wants_close(Fields const& fields) { return connection_has(fields, "close"); }

/// True when the client's connection may take another request after this one. Never with HTTP/1.0, whose keep-alive a proxy
/// must not honour; Proxy-Connection is ignored.
bool keeps_alive(RequestHead const&);

/// True when the server's connection may take another request after this response. HTTP/1.0 only with keep-alive. The
/// caller also checks the framing: a body that runs until close, or a 101, ends the connection in any case.
bool keeps_alive(ResponseHead const&);

/// The seconds of `Keep-Alive: timeout=N` (RFC 2068 19.7.1.1): the server closes a connection that is idle for so long. Nothing
/// without a number.
std::optional<std::uint32_t> keep_alive_timeout(Fields const&);

/// True for Upgrade with its connection option. HTTP/1.0 cannot upgrade (RFC 9110 7.8). False for another version of HTTP:
/// its requests would bypass the rules of this proxy (h2c is obsolete, RFC 9113 3.1). The request is then an ordinary one.
bool wants_upgrade(RequestHead const&);

}   // namespace garner::http
