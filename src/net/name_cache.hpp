// The cache of host names: DNS answers, failures, and the hosts file. Shared by all workers.
#pragma once
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "net/asio.hpp"
#include "net/dns_health.hpp"
#include "net/options.hpp"
#include "util/clock.hpp"
#include "util/counted.hpp"
#include "util/lru_map.hpp"
#include "util/mutex.hpp"
#include "util/prepared.hpp"
#include "util/result.hpp"

namespace garner::net {

/// The addresses of a name. Immutable once shared.
struct Names {
    std::vector<Address> addresses;     // in the order to try them (RFC 6724); empty exactly when `failure` is not
    std::string failure = {};           // text for messages: "no such host", "DNS server did not answer"
    CountedBytes<Names> counted = {};   // of a DNS answer, with its entry in the cache
};
using NamesPtr = std::shared_ptr<Names const>;

/// Thread-safe; a lookup holds one of 16 locks for some 50 ns. Host names must be in lower case. Holds at most
/// `entries_max` names in addition to those of the hosts file; the least recently used is evicted.
class NameCache {
public:
    /// Reads the hosts file; an unreadable one counts as empty.
    explicit NameCache(ResolverOptions const&);

    /// The valid entry; nullptr if there is none. Allocates nothing.
    NamesPtr find(std::string_view host, SteadyTime now = steady_now());

    /// Keeps an answer for `ttl`, at least 1 s, at most positive_ttl. The hosts file takes precedence.
    NamesPtr store(std::string_view host, std::vector<Address> addresses, seconds ttl, SteadyTime now = steady_now());

    /// Keeps a failure for `ttl`, at most negative_ttl: DNS has said how long the name is absent (RFC 2308 5). Without `ttl` for
    /// negative_first, doubled with each failure of this name in a row, up to negative_ttl.
    NamesPtr store_failure(std::string_view host, std::string failure, SteadyTime now = steady_now(),
                           std::optional<milliseconds> ttl = {});

    /// A remembered failure and its remaining time; nothing when there is none. Does not count as a use.
    struct Failure {
        NamesPtr names;
        milliseconds left{};
    };
    std::optional<Failure> failure_of(std::string_view host, SteadyTime now = steady_now());

    /// The remembered failures of `servers`, for another process.
    struct HandedFailure {
        std::string host, failure;
        std::uint32_t failures = 0;   // in a row
        milliseconds left{0};
    };
    std::vector<HandedFailure> failures(SteadyTime now = steady_now());
    std::vector<std::string> const& servers() const { return servers_; }
    /// A name that is not in the hosts file.
    void adopt(HandedFailure const& failed, SteadyTime now = steady_now());

    /// Removes the entry: the next lookup queries DNS. Names of the hosts file are kept.
    void forget(std::string_view host);

    /// For a reload, by one thread: reads the hosts file of `fresh`, whose names replace those of the former file. The fault names
    /// the key. DNS answers are kept if the servers stay the same.
    Result<Prepared> prepare(ResolverOptions const& fresh);

    /// Of the servers that the names come from.
    DnsHealth& health() { return health_; }
    /// Other servers answer from now on: their answers replace those of the former servers.
    void forget_answers();

    /// The number of entries, valid or expired, including the hosts file's.
    std::size_t size();

    /// At most this many addresses of a name are kept.
    static constexpr std::size_t addresses_max = 32;
    /// The most that answers may take. The hosts file comes in addition.
    Bytes bytes_max();

private:
    struct CachedNames {
        NamesPtr names;
        SteadyTime expires{};
        std::uint32_t failures = 0;   // in a row
    };
    struct Bounds {
        milliseconds positive_ttl{}, negative_first{}, negative_ttl{};
        std::size_t answers_max = 1;   // in one shard
    };
    using Hosts = std::unordered_map<std::string, NamesPtr, KeyedHash, std::equal_to<>>;
    struct Shard {
        Mutex mutex;
        Bounds bounds GUARDED_BY(mutex);
        Hosts hosts GUARDED_BY(mutex);                   // from the hosts file
        LruMap<CachedNames> answers GUARDED_BY(mutex);   // from DNS; never of a name in the hosts file

        /// nullptr when the hosts file does not have the name.
        NamesPtr from_hosts(std::string_view host) const REQUIRES(mutex);
    };

    static constexpr std::size_t shards_max = 16;
    struct Change {
        ResolverOptions options;
        std::array<Hosts, shards_max> hosts;
    };
    Change change_to(ResolverOptions const& options, std::string_view hosts) const;
    void apply(Change& change);
    static constexpr Bytes entry_bytes = 256;   // of maps, pointers and heap blocks, without texts and addresses
    static constexpr Bytes host_max = 256, failure_max = 128;
    static constexpr Bytes entry_bytes_max = entry_bytes + host_max + failure_max + addresses_max * sizeof(Address);
    static NamesPtr counted(std::string_view host, Names names);
    std::size_t shard_number(std::string_view host) const { return (hash_(host) >> 56) % shards_used_; }
    Shard& shard_of(std::string_view host) { return shards_[shard_number(host)]; }

    DnsHealth health_;
    KeyedHash hash_;
    std::vector<std::string> servers_;   // that gave the answers
    std::vector<std::string> search_;    // by which they were found
    std::size_t shards_used_;            // 1 for a small entries_max
    std::array<Shard, shards_max> shards_;
};

/// A host name in the cache's form: lower case, without the root's dot.
void write_cached_form(std::string_view host, std::string& out);

/// The names of a hosts(5) text in lower case, each with its addresses in the given order. Invalid lines are ignored.
std::unordered_map<std::string, std::vector<Address>> parse_hosts(std::string_view text);

}   // namespace garner::net
