// The client of a connection, as rules, logs and origins see it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "util/ip.hpp"

namespace garner::proxy {

/// Immutable; shared by the requests of a connection, and by those that continue without it.
struct Client {
    IpEndpoint peer;
    std::uint16_t listener = 0;             // the port that it connected to
    bool secure = false;                    // it speaks TLS to this proxy
    std::vector<std::string> certificate;   // the names in its certificate, the one that identifies it first
    std::string text = peer.address.text();
};

}   // namespace garner::proxy
