// How peers take part in https:// requests, and which of them may read the URLs. Pure.
#pragma once
#include <string>
#include <string_view>

#include "icp/options.hpp"

namespace garner::icp {

/// peers[].https, or its default: `ask` with TLS, else `tunnel` for a parent and `no` for a sibling.
Https https_of(PeerOptions const&);

/// The peer gets https:// requests in absolute-form, so that it may store the responses, and its digest is looked up.
bool reads_https(PeerOptions const&);

/// The peer may have stored a response for the URL.
bool may_keep(std::string_view url, PeerOptions const&);

/// True if a query or a purge in clear text may name the URL, or "host:port" of a CONNECT, to the peer.
bool may_name(std::string_view url, PeerOptions const&);

/// A URL that may be named to every peer: its own, "http://10.0.0.3:3128/".
std::string own_url(PeerOptions const&);

std::string_view name_of(Https);

/// How requests reach the peer: "clear", "TLS", and for https:// requests of `tunnel` "CONNECT" and "CONNECT over TLS".
/// `of_https`: the request is an https:// one, and no CONNECT.
std::string_view reach_of(PeerOptions const&, bool of_https);

}   // namespace garner::icp
