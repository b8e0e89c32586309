// Forms for addresses, networks, hosts and origins.
#pragma once
#include "config/form.hpp"
#include "http/host_pattern.hpp"
#include "http/uri.hpp"
#include "util/ip.hpp"

namespace garner::config {

/// "127.0.0.1:3128", "[::1]:3128", "localhost:3128" (127.0.0.1), ":3128" (every address: "::"). Other names are refused,
/// because they would have to be resolved. False on failure, with the reason in `why`.
bool parse_endpoint(std::string_view text, IpEndpoint& into, std::string& why);

/// A URL without path and query. Nothing on failure, with the reason in `why`. Refers to `text`.
std::optional<http::Uri> parse_server_url(std::string_view text, std::string& why);

/// A listening address; with `may_be_off`, "" means none and gives port 0.
Form<IpEndpoint> endpoint(bool may_be_off);
/// "10.0.0.1", "10.0.0.1:5353", "[::1]:53"; stored unchanged.
Form<std::string> name_server();
Form<IpNetwork> network();
Form<http::HostPattern> host_pattern();
/// Notes why `text` is no host. Always false.
bool fault_of_host(Reader& reader, std::string_view text);
/// "10.0.0.1:4827", a destination address and port.
Form<IpEndpoint> remote_endpoint();
/// One host, by name or address.
Form<std::string> host_name();
/// "http://127.0.0.1:8000": scheme, host and port, stored in normal form.
Form<std::string> origin();

}   // namespace garner::config
