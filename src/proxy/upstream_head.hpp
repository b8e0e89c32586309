// Writes the heads of requests to origins and peers from the client's request. Pure except for the mesh's list of changed
// URLs.
#pragma once
#include <string>
#include <string_view>

#include "http/validation.hpp"
#include "proxy/request.hpp"
#include "proxy/sources.hpp"

namespace garner::proxy {

/// The differences between a request to a source and the client's request.
struct RequestChanges {
    http::Validators validators;     // for a conditional request; empty: none
    bool strip_conditions = false;   // the client's preconditions and Range are not sent
    std::string range_lines;         // own Range and If-Range, each with its CRLF; empty: none
    bool of_rest = false;            // for the rest of a body that the client has begun to receive: no interim responses
    milliseconds first_byte_max = milliseconds::max();   // in addition to deadlines.first_byte
};
/// The request's head for the current source.
void write_upstream_head(Request const&, Sources const&, RequestChanges const&, std::string& out);

/// CONNECT to the current source, a peer. Includes the client's own Via: without it a loop of proxies would not be
/// detected.
std::string connect_head(Request const&, Sources const&);

/// The key of pooled connections that requests to the current source may share.
/// Empty if the connection belongs to this client alone.
void write_pool_key(Request const&, Sources const&, std::string& out);
/// The PROXY header of a connection to the current source; empty: none.
std::string proxy_header(Request const&, Sources const&);

}   // namespace garner::proxy
