// Links of other partitions whose answers are known, so that they are not asked again.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "util/bytes.hpp"
#include "util/hash.hpp"

namespace garner::seen {

/// Exact: holds a link that was put in, or has forgotten it. Unlike in crawl::SeenCache a lookup inserts nothing, because
/// a question may stay without an answer: only put() inserts. Not thread-safe.
class AnsweredCache {
public:
    /// At least 8; rounded up to a power of two.
    explicit AnsweredCache(std::uint64_t entries) : lines_(std::bit_ceil(std::max<std::uint64_t>(entries, slots)) / slots) {}

    bool holds(Fingerprint url) {
        if (url == empty) return false;
        auto& line = lines_[line_of(url)];
        auto const found = std::find(line.urls.begin(), line.urls.end(), url);
        if (found == line.urls.end()) return false;
        std::rotate(line.urls.begin(), found, found + 1);   // the last entry of a line is the next victim
        return true;
    }

    void put(Fingerprint url) {
        if (url == empty || holds(url)) return;
        auto& line = lines_[line_of(url)];
        std::rotate(line.urls.begin(), line.urls.end() - 1, line.urls.end());
        line.urls.front() = url;
    }

private:
    static constexpr std::size_t slots = 8;
    static constexpr Fingerprint empty = 0;   // a link of this fingerprint is never held
    struct alignas(64) Line {
        std::array<Fingerprint, slots> urls{};
    };
    std::size_t line_of(Fingerprint url) const { return url & (lines_.size() - 1); }

    std::vector<Line> lines_;
};

}   // namespace garner::seen
