// Everything a running Garner is told: one plain struct with a part for each room. Its defaults are the embedded ones.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cache/options.hpp"
#include "icp/options.hpp"
#include "net/options.hpp"
#include "proxy/options.hpp"
#include "seen/options.hpp"
#include "store/disk_options.hpp"

namespace garner::config {

/// Where the figures and the page are, and purges are asked for.
struct Admin {
    std::string address = "127.0.0.1";
    std::uint16_t port = 3131;
    bool enabled = true;
    std::vector<IpNetwork> allow;       // clients beside those on loopback
    std::vector<std::string> names;     // that Host may have beside the address, in lower case
    friend bool operator==(Admin const&, Admin const&) = default;
};

/// No address: the crawler's service is not there unless it is asked for.
inline seen::Options no_seen() {
    seen::Options off;
    off.address.clear();
    return off;
}

struct Config {
    unsigned workers = 0;            // 0: one per core
    std::string user;                // taken when started as root; empty: garner, else nobody
    proxy::Options proxy;
    cache::Options memory;
    store::DiskOptions disk;
    net::ResolverOptions dns;
    net::ConnectorOptions connect;
    net::TlsOptions tls;
    net::PoolOptions pool;
    Admin admin;
    seen::Options seen = no_seen();

    icp::Options mesh;               // of the keys icp, htcp, digest, peers and direct
};

}  // namespace garner::config
