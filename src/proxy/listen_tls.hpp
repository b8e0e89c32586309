// The TLS contexts of the listening addresses.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "net/tls_server_context.hpp"
#include "proxy/options.hpp"
#include "util/result.hpp"

namespace garner::proxy {

/// One for each listening address, in the order of options.listen; null for plain TCP.
using TlsContexts = std::vector<std::shared_ptr<net::TlsServerContext const>>;

/// Reads all certificates and keys. The fault names key and file. `keys` encrypt the tickets of all listeners.
Result<TlsContexts> make_tls_contexts(std::span<Listen const> listen, std::shared_ptr<net::TicketKeys> const& keys);

}   // namespace garner::proxy
