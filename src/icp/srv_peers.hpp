// Peers that DNS names by SRV records (RFC 2782). Pure.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "icp/choice.hpp"
#include "icp/options.hpp"
#include "net/srv_answer.hpp"

namespace garner::icp {

/// The servers of each service, as DNS last named them.
using KnownServices = std::map<std::string, std::vector<net::SrvTarget>, std::less<>>;

/// The options of a server of the service that these options name. Its name is "NAME/host:port".
PeerOptions server_of(PeerOptions const& service, net::SrvTarget const& target);

/// How long an answer of this lifetime is used before DNS is asked again: 1 s to 1 min.
milliseconds service_lifetime(seconds ttl);

/// A server with a higher priority value stands by while one of the same service can be used.
void mark_standby(std::span<PeerView> views);

/// The weight for weighted choices: a server with the weight 0 gets few requests while others have more (RFC 2782).
std::uint32_t scaled_weight(PeerOptions const& options);

/// Puts the servers of each service into their order for one request: by priority, then at random by weight. The other places
/// stay where they are, and servers that stand by come last.
void order_servers(std::span<PeerView const> views, std::uint32_t turn, std::vector<std::size_t>& places);

}   // namespace garner::icp
