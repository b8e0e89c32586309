// Reads parts of a TLS ClientHello.
#pragma once
#include <string_view>

namespace garner::net {

/// The host name in the content of a server_name extension (RFC 6066 3). Empty if there is none or the extension is malformed.
std::string_view server_name_in(std::string_view extension);

}   // namespace garner::net
