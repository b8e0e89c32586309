// Everything a running Garner is told: one plain struct with a part for each room. Its defaults are the embedded ones.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cache/options.hpp"
#include "http/rule.hpp"
#include "net/options.hpp"
#include "proxy/options.hpp"

namespace garner::config {

/// Where the figures and the page are, and purges are asked for.
struct Admin {
    std::string address = "127.0.0.1";
    std::uint16_t port = 3131;
    bool enabled = true;
    friend bool operator==(Admin const&, Admin const&) = default;
};

struct Disk {
    std::string path;                // empty: no disk tier
    Bytes size = 10 * GiB;
    std::string policy = "lfuda";
    Bytes object_max = 4 * GiB;
};

struct Icp {
    std::string address;             // empty: no ICP; "0.0.0.0"
    std::uint16_t port = 3130;
    milliseconds timeout{2'000};
    bool source_ping = false;
    std::vector<IpNetwork> allow;    // who gets answers; empty: nobody
};

struct Peer {
    enum class Type : std::uint8_t { parent, sibling };
    std::string name;
    Type type = Type::parent;
    std::string host;
    std::uint16_t http = 3128;
    std::uint16_t icp = 3130;        // 0: not asked
    std::vector<http::HostPattern> domains;   // empty: all
    std::uint32_t weight = 1;
    bool is_default = false;
};

/// Requests that go past the peers, or never do.
struct Direct {
    std::vector<http::Matcher> always;
    std::vector<http::Matcher> never;
};

struct Config {
    unsigned workers = 0;            // 0: one per core
    proxy::Options proxy;
    cache::Options memory;
    net::ResolverOptions dns;
    net::ConnectorOptions connect;
    net::TlsOptions tls;
    net::PoolOptions pool;
    Admin admin;

    // Read and checked, not in force yet.
    Disk disk;
    Icp icp;
    std::vector<Peer> peers;
    Direct direct;
};

}  // namespace garner::config
