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
    milliseconds negative_ttl{300'000};      // upper bound of the above
    milliseconds positive_max{86'400'000};   // an answer is remembered at most this long
    std::uint32_t entries_max = 100'000;     // names remembered, all shards together
    std::string hosts_file = "/etc/hosts";
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

struct PoolOptions {
    std::uint32_t idle_per_origin = 64;   // per worker
    std::uint32_t idle_total = 4'096;     // per worker
    milliseconds idle_timeout{15'000};
    friend bool operator==(PoolOptions const&, PoolOptions const&) = default;
};

}   // namespace garner::net
