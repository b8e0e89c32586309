// The TLS contexts of the peers.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "icp/options.hpp"
#include "net/tls_context.hpp"
#include "util/result.hpp"

namespace garner::icp {

/// One for each peer, in the order of Options::peers; null for peers without TLS.
using PeerContexts = std::vector<std::shared_ptr<net::TlsContext>>;

/// Reads all CA files, certificates and keys. The fault names key and file: "peers[0].tls.ca_file: …".
Result<PeerContexts> make_peer_contexts(std::span<PeerOptions const>);

}   // namespace garner::icp
