// The future requests of a whole stream, for reference policies that need them.
#pragma once
#include <span>
#include <vector>

#include "util/fingerprint_map.hpp"

namespace garner::papers {

/// Built by a first pass over the stream; caches that use it replay that stream in a second pass. Takes 4 bytes a
/// request and about 30 a distinct fingerprint.
class Foresight {
public:
    /// The number of the next request for the same fingerprint, or `never`. Requests are numbered from 0.
    using Time = std::uint32_t;
    static constexpr Time never = UINT32_MAX;

    /// Appends requests of the stream, in order. False when that would exceed 2^32 - 2 requests.
    bool add(std::span<Fingerprint const>);

    std::vector<Time> const& next_uses() const { return next_uses_; }
    /// The most requested fingerprints in descending order; among equals in order of their first request.
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

}   // namespace garner::papers
