// What is known of host names: DNS answers, failures, and the hosts file. Shared by all workers.
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
#include "net/options.hpp"
#include "util/clock.hpp"
#include "util/lru_map.hpp"
#include "util/mutex.hpp"

namespace garner::net {

/// What a name leads to. Immutable once shared.
struct Names {
    std::vector<Address> addresses;   // in the order to try them (RFC 6724); empty exactly when `failure` is not
    std::string failure;              // in words: "no such host", "DNS server did not answer"
};
using NamesPtr = std::shared_ptr<Names const>;

/// Thread-safe; a look-up holds one of 16 locks for some 50 ns. Host names are given in lower case.
/// Holds at most `entries_max` names besides those of the hosts file; the least recently used is evicted.
class NameCache {
public:
    /// Reads the hosts file; one that cannot be read is empty.
    explicit NameCache(ResolverOptions const&);

    /// What is known and still valid; nullptr otherwise. Allocates nothing.
    NamesPtr find(std::string_view host, SteadyTime now = steady_now());

    /// Keeps an answer for `ttl`, at least a second, at most positive_max. The hosts file's word stands against it.
    NamesPtr store(std::string_view host, std::vector<Address> addresses, seconds ttl, SteadyTime now = steady_now());

    /// Keeps a failure for negative_first, doubled with each failure of this name in a row, up to negative_ttl.
    NamesPtr store_failure(std::string_view host, std::string failure, SteadyTime now = steady_now());

    /// A failure that is remembered, and for how long yet; nothing when none is. Moves nothing in the order of use.
    struct Failure {
        NamesPtr names;
        milliseconds left{};
    };
    std::optional<Failure> failure_of(std::string_view host, SteadyTime now = steady_now());

    /// The next look-up asks again. Names of the hosts file stay.
    void forget(std::string_view host);

    /// Reads the hosts file again, in place of what it said before. Answers of DNS stay.
    void reload();

    /// Names held, valid or not, the hosts file's included.
    std::size_t size();

private:
    struct Answer {
        NamesPtr names;
        SteadyTime expires{};
        std::uint32_t failures = 0;        // in a row
    };
    using Hosts = std::unordered_map<std::string, NamesPtr, KeyedHash, std::equal_to<>>;
    struct Shard {
        Mutex mutex;
        Hosts hosts GUARDED_BY(mutex);               // of the hosts file
        LruMap<Answer> answers GUARDED_BY(mutex);    // of DNS; of no name that is in the hosts file

        /// nullptr when the hosts file does not have the name.
        NamesPtr from_hosts(std::string_view host) const REQUIRES(mutex);
    };

    static constexpr std::size_t shards_max = 16;
    std::size_t shard_number(std::string_view host) const { return (hash_(host) >> 56) % shards_used_; }
    Shard& shard_of(std::string_view host) { return shards_[shard_number(host)]; }
    std::size_t answers_max() const { return std::max<std::size_t>(1, options_.entries_max / shards_used_); }

    ResolverOptions options_;
    KeyedHash hash_;
    std::size_t shards_used_;   // 1 when there is room for a few names only
    std::array<Shard, shards_max> shards_;
};

/// A host name as the cache takes it: in lower case, without the root's dot.
void write_cached_form(std::string_view host, std::string& out);

/// The names of a hosts(5) text in lower case, each with its addresses in the order they are given. Lines that are
/// not understood are passed over.
std::unordered_map<std::string, std::vector<Address>> parse_hosts(std::string_view text);

}  // namespace garner::net
