// Everything a running Garner is told: one plain struct with a part for each room. Its defaults are the embedded ones.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cache/options.hpp"
#include "icp/options.hpp"
#include "net/options.hpp"
#include "proxy/options.hpp"
#include "store/disk_options.hpp"

namespace garner::config {

/// Where the figures and the page are, and purges are asked for.
struct Admin {
    std::string address = "127.0.0.1";
    std::uint16_t port = 3131;
    bool enabled = true;
    friend bool operator==(Admin const&, Admin const&) = default;
};

struct Config {
    unsigned workers = 0;            // 0: one per core
    proxy::Options proxy;
    cache::Options memory;
    store::DiskOptions disk;
    net::ResolverOptions dns;
    net::ConnectorOptions connect;
    net::TlsOptions tls;
    net::PoolOptions pool;
    Admin admin;

    icp::Options mesh;               // of the keys icp, htcp, digest, peers and direct
};

}  // namespace garner::config
