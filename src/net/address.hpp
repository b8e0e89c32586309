// Converts addresses of Asio and of the system to plain values, and back.
#pragma once
#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/ip/address.hpp>
#include <cstring>
#include <optional>
#include <vector>

#include "util/ip.hpp"

namespace garner::net {

inline IpAddress to_ip(boost::asio::ip::address const& address) {
    if (address.is_v4()) return IpAddress::v4(address.to_v4().to_uint());
    return IpAddress::v6(address.to_v6().to_bytes());
}

inline std::vector<IpAddress> to_ips(std::vector<boost::asio::ip::address> const& addresses) {
    std::vector<IpAddress> all;
    for (auto const& address : addresses) all.push_back(to_ip(address));
    return all;
}

/// Nothing for an address that is neither IPv4 nor IPv6.
inline std::optional<IpAddress> to_ip(sockaddr const& address) {
    if (address.sa_family == AF_INET) return IpAddress::v4(ntohl(reinterpret_cast<sockaddr_in const&>(address).sin_addr.s_addr));
    if (address.sa_family != AF_INET6) return std::nullopt;
    IpAddress v6;
    std::memcpy(v6.bytes.data(), &reinterpret_cast<sockaddr_in6 const&>(address).sin6_addr, v6.bytes.size());
    return v6;
}

/// Nothing for an address that is neither IPv4 nor IPv6.
inline std::optional<IpEndpoint> to_endpoint(sockaddr const& at) {
    auto const address = to_ip(at);
    if (!address) return std::nullopt;
    auto const port = at.sa_family == AF_INET ? reinterpret_cast<sockaddr_in const&>(at).sin_port
                                              : reinterpret_cast<sockaddr_in6 const&>(at).sin6_port;
    return IpEndpoint{*address, ntohs(port)};
}

inline boost::asio::ip::address to_asio(IpAddress const& address) {
    boost::asio::ip::address_v6 const v6(address.bytes);
    if (!address.is_v4()) return v6;
    return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, v6);
}

}   // namespace garner::net
