// The client that trusted gateways name in X-Forwarded-For or Forwarded (RFC 7239).
#pragma once
#include <memory>
#include <span>

#include "http/access_rules.hpp"
#include "http/message.hpp"
#include "proxy/client.hpp"
#include "proxy/options.hpp"
#include "util/ip.hpp"

namespace garner::proxy {

/// From the last address to the first: past `trusted` gateways, the first address that is none of them. An address that only a
/// local program can have (`own`, loopback), and what is no address, ends the search at the gateway that wrote it. X-Forwarded-For
/// goes before Forwarded. Pure.
IpAddress named_client(http::Fields const& request, IpAddress const& sender, std::span<IpNetwork const> trusted,
                       std::span<IpAddress const> own);

/// The client of a request on a connection, whose last request was that of `last`.
std::shared_ptr<Client const> client_of_request(std::shared_ptr<Client const> const& last, http::Fields const& request,
                                                Options const& options, http::OwnAddresses const* own);

}   // namespace garner::proxy
