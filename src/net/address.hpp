// Asio's addresses as plain values, and back.
#pragma once
#include <boost/asio/ip/address.hpp>

#include "util/ip.hpp"

namespace garner::net {

inline IpAddress to_ip(boost::asio::ip::address const& address) {
    if (address.is_v4()) return IpAddress::v4(address.to_v4().to_uint());
    return IpAddress::v6(address.to_v6().to_bytes());
}

}  // namespace garner::net
