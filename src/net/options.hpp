// The options of the network layer.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "util/clock.hpp"

namespace garner::net {

struct ResolverOptions {
    std::vector<std::string> servers;        // "10.0.0.1", "10.0.0.1:5353", "[::1]:53"; empty: those of /etc/resolv.conf
    milliseconds negative_first{5'000};      // a failure is remembered this long at first; doubles up to negative_ttl
    milliseconds negative_ttl{30'000};       // upper bound of the above, and of what a SOA record says
    milliseconds positive_ttl{86'400'000};   // an answer is remembered at most this long
    std::uint32_t entries_max = 100'000;     // names remembered, all shards together
    std::string hosts_file = "/etc/hosts";
    std::vector<std::string> search;   // domains that names without a dot are looked up in first
    // For tests: its servers, if `servers` is empty, and their port.
    std::string servers_file = "/etc/resolv.conf";
    std::uint16_t servers_port = 53;
    friend bool operator==(ResolverOptions const&, ResolverOptions const&) = default;
};

struct ConnectorOptions {
    milliseconds attempt_delay{250};   // RFC 8305 5: delay before the next address is tried in parallel
    milliseconds timeout{10'000};      // for all attempts together
    friend bool operator==(ConnectorOptions const&, ConnectorOptions const&) = default;
};

struct TlsOptions {
    bool verify = true;
    std::string ca_file;   // PEM; empty: the system's store
    friend bool operator==(TlsOptions const&, TlsOptions const&) = default;
};

/// PEM files. `chain`: the server's certificate, then the intermediate that issued it, and so on. `key`: its private key.
struct CertificateFiles {
    std::string chain;
    std::string key;
    friend bool operator==(CertificateFiles const&, CertificateFiles const&) = default;
};

/// How the kernel diverts connections to other addresses to a listening address.
enum class Intercept : std::uint8_t { off, redirect, tproxy };

/// TLS of one listening address.
struct ListenTls {
    enum class MinVersion : std::uint8_t { tls_1_2, tls_1_3 };
    std::vector<CertificateFiles> certificates;   // chosen by SNI; the first one if no name matches
    std::string client_ca;                        // PEM, trust anchors of client certificates; empty: none are requested
    bool client_required = true;                  // false: clients without a certificate are accepted too
    MinVersion min_version = MinVersion::tls_1_2;
    friend bool operator==(ListenTls const&, ListenTls const&) = default;
};

/// The PROXY protocol of connections to another server.
enum class ProxyProtocol : std::uint8_t { off, v1, v2 };

struct PoolOptions {
    std::uint32_t idle_per_origin = 64;   // per worker
    std::uint32_t idle_total = 4'096;     // per worker
    milliseconds idle_timeout{15'000};
    friend bool operator==(PoolOptions const&, PoolOptions const&) = default;
};

}   // namespace garner::net
