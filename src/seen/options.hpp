// The options of the service: address and clients, the set, the processes that share the hosts, limits.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "util/bytes.hpp"
#include "util/clock.hpp"
#include "util/ip.hpp"
#include "util/result.hpp"

namespace garner::seen {

/// A process that is responsible for a part of the hosts.
struct Peer {
    std::string host;   // a name or an address, without brackets
    std::uint16_t port = 0;
    std::string text() const;   // "10.0.0.3:3132"
    friend bool operator==(Peer const&, Peer const&) = default;
};

struct Options {
    std::string address = "127.0.0.1";   // an IP address
    std::uint16_t port = 3132;           // 0: any that is free
    std::vector<IpNetwork> allow = {};   // clients in addition to those on loopback

    std::string set = {};         // a name of catalog::url_sets(); empty: runs with a directory, else lines
    std::string directory = {};   // of the set; empty: in memory
    Bytes memory = 1 * GiB;       // limit of the set, without the batch
    std::uint64_t expected = 0;   // expected number of entries; 0: unknown
    std::string cache = "line";   // before the set; empty: none
    std::uint64_t cache_entries = 1 << 16;
    std::string layers = {};   // names of crawl::url_layer_names(), with commas

    std::uint32_t partition = 0;                // number of this process, below peers.size()
    std::vector<Peer> peers = {};               // all processes by partition, including this one; empty: one process has all hosts
    std::uint64_t answered_entries = 1 << 20;   // remembered links of other partitions

    // Bounds.
    std::uint64_t batch_links = 1'000'000;     // beyond: 413
    Bytes body_bytes = 256 * MiB;              // in a request; beyond: 413
    Bytes held_bytes = 512 * MiB;              // all batches in progress together; beyond: 503
    std::uint64_t waiting_links = 4'000'000;   // for the set, or for one other partition; beyond: 503
    std::uint32_t waiting_batches = 1'024;     // the same
    std::uint32_t connections = 256;           // beyond: the one idle longest is closed
    std::uint32_t head_bytes = 8 * KiB;

    milliseconds idle{60'000};          // a connection between two requests
    milliseconds progress{30'000};      // until the next byte of a request or a reply
    milliseconds peer_answer{20'000};   // for all that other partitions answer to a batch; then they are unreachable
    milliseconds drain{10'000};         // for running batches when it stops

    friend bool operator==(Options const&, Options const&) = default;
};

/// "10.0.0.3:3132,[::1]:3132,seen.example:3132".
Result<std::vector<Peer>> read_peers(std::string_view list);

inline constexpr milliseconds peer_answer_least{100}, peer_answer_most{600'000};

/// Fails if something does not fit. Opens nothing.
Result<void> validate(Options const&);

}   // namespace garner::seen
