// The minted certificates in memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "bump/likeness.hpp"
#include "net/certificate.hpp"
#include "util/clock.hpp"
#include "util/lru_map.hpp"
#include "util/mutex.hpp"
#include "util/random_bits.hpp"

typedef struct x509_st X509;

namespace garner::bump {

/// The certificate of an origin, and when a connection has verified it.
struct VerifiedOrigin {
    std::shared_ptr<X509> certificate;   // null: it is not known
    WallTime at{};
};

/// Thread-safe. Certificates of valid origins by "host:port"; the least recently used ones are evicted.
class MintedCertificates {
public:
    using Pointer = std::shared_ptr<net::Certificate const>;
    static constexpr std::chrono::hours verified_for{1};
    static constexpr std::size_t certificate_bytes = 6 * 1024;   // approximately, with the origin's

    /// `most`: the number of certificates, at least 1.
    explicit MintedCertificates(std::size_t most) : most_(most) {}

    /// The certificate of an origin that was verified within the last `verified_for`. nullptr: take_verified(), or verify the
    /// origin (again), and call renew().
    Pointer find(std::string_view origin, WallTime now) EXCLUDES(mutex_);
    /// A connection for a request has verified the origin.
    void note_verified(std::string_view origin, VerifiedOrigin) EXCLUDES(mutex_);
    /// Returns and forgets a note of the last `verified_for`, unless the certificate has expired.
    VerifiedOrigin take_verified(std::string_view origin, WallTime now) EXCLUDES(mutex_);
    /// The origin was verified then and has this likeness. Returns a certificate of the same day with the
    /// same likeness, which find() returns again, or nullptr: mint a certificate and add() it.
    Pointer renew(std::string_view origin, Likeness const&, WallTime verified, WallTime now) EXCLUDES(mutex_);
    void add(std::string_view origin, Likeness const&, Pointer, WallTime verified, WallTime now) EXCLUDES(mutex_);

    /// After a change of `bump.certificates`: applies at the next add().
    void resize(std::size_t most) EXCLUDES(mutex_);
    /// After a change of the CA.
    void clear() EXCLUDES(mutex_);
    std::size_t size() EXCLUDES(mutex_);

private:
    struct Entry {
        Pointer certificate;
        std::uint64_t likeness = 0;    // its hash under seed_
        std::chrono::sys_days day{};   // on which the leaf key was made
        WallTime verified{};
        VerifiedOrigin noted;
        bool is_good(WallTime now) const;
    };
    std::uint64_t hash_of(Likeness const&) const;

    std::uint64_t const seed_ = random_bits();   // origins choose their names
    Mutex mutex_;
    std::size_t most_ GUARDED_BY(mutex_);
    LruMap<Entry> entries_ GUARDED_BY(mutex_);
};

}   // namespace garner::bump
