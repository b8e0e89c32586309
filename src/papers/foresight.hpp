// The future of a whole stream, for references that know it in advance.
#pragma once
#include <span>
#include <vector>

#include "util/fingerprint_map.hpp"

namespace garner::papers {

/// Made by a first pass over the stream; the caches that use it take the same stream in a second one. Takes 4 bytes a
/// request and about 30 a distinct one.
class Foresight {
public:
    /// The number of the next request for the same fingerprint, or `never`. Requests are numbered from 0.
    using Time = std::uint32_t;
    static constexpr Time never = UINT32_MAX;

    /// The next requests of the stream, in order. False when that would make more than 2^32 - 2 of them.
    bool add(std::span<Fingerprint const>);

    std::vector<Time> const& next_uses() const { return next_uses_; }
    /// The most requested fingerprints, the most popular first; among equals the one that came first.
    std::vector<Fingerprint> most_popular(std::uint64_t count) const;
    std::uint64_t distinct() const { return seen_.size(); }

private:
    struct Seen {
        Fingerprint url;
        Time last;
        std::uint32_t times;
    };
    std::vector<Time> next_uses_;
    FingerprintMap index_;
    std::vector<Seen> seen_;   // in the order of their first request
};

}  // namespace garner::papers
