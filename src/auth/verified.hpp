// The credentials that were checked, and the results.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/facts.hpp"
#include "http/identity.hpp"
#include "util/counted.hpp"
#include "util/lru_map.hpp"
#include "util/mutex.hpp"
#include "util/random_bits.hpp"
#include "util/sip_hash.hpp"

namespace garner::auth {

/// Thread-safe. Holds no credentials: only SipHash-128 digests of them, under a random key of the process. The least recently
/// used entries are evicted.
class Verified {
public:
    using Identity = std::shared_ptr<http::Identity const>;
    struct Found {
        enum class Kind : std::uint8_t { unknown, accepted, wrong };
        Kind kind = Kind::unknown;
        Identity identity = {};   // accepted
    };
    struct Known {
        Facts facts = {};
        WallTime checked{};
    };

    /// The digest of a value of Proxy-Authorization. Allocates nothing.
    SipDigest digest(std::string_view field) const { return sip_hash(field, key_); }

    /// Allocates nothing. Counts as a use.
    Found find(SipDigest const&, WallTime now) EXCLUDES(mutex_);
    /// The last result if it was `accepted`, even after its end.
    std::optional<Known> last_accepted(SipDigest const&) EXCLUDES(mutex_);

    /// `until`: the end of the entry.
    void accept(SipDigest const&, Facts, Identity, WallTime checked, WallTime until, std::size_t entries_max) EXCLUDES(mutex_);
    void reject(SipDigest const&, WallTime until, std::size_t entries_max) EXCLUDES(mutex_);

    /// Drops rejected credentials, and accepted ones whose facts match.
    void drop(std::function<bool(Facts const&)> const& matches) EXCLUDES(mutex_);
    /// Replaces the identities after a change of the groups. `identity_of` gets the facts and the old end.
    void rebuild(std::function<Identity(Facts const&, WallTime until)> const& identity_of) EXCLUDES(mutex_);
    std::size_t size() EXCLUDES(mutex_);

    /// An entry with its groups and claims. With larger ones fewer entries are kept.
    static constexpr Bytes entry_bytes = 2 * KiB;
    /// The memory of all entries.
    static Bytes bytes() { return CountedBytes<Verified>::sum(); }

private:
    struct Entry {
        Identity identity = {};   // empty: wrong
        Facts facts = {};
        WallTime checked{};
        WallTime until{};
        CountedBytes<Verified> counted = {};
    };
    static Bytes bytes_of(Facts const&);
    void limit_bytes(std::size_t entries_max) REQUIRES(mutex_);
    static std::string_view key_of(SipDigest const&);

    SipKey const key_{random_bits(), random_bits()};
    Mutex mutex_;
    LruMap<Entry> entries_ GUARDED_BY(mutex_);
};

}   // namespace garner::auth
