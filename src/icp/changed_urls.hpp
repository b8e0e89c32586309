// URLs that an unsafe request has changed while other caches may still hold older responses (RFC 9111 4.4).
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "util/bytes.hpp"
#include "util/clock.hpp"
#include "util/hash.hpp"
#include "util/mutex.hpp"

namespace garner::icp {

/// Peers are not queried for marked URLs. A mark ends when all peers have acknowledged the purge, or after `lasts`: by then
/// even a response that was fresh for a year is stale. Holds at most `marks_max`; the oldest mark of a full set is
/// replaced. Thread-safe. A check costs an atomic load while no URL is marked, otherwise a short lock.
class ChangedUrls {
public:
    ChangedUrls();
    static constexpr std::size_t marks_max = 65'536;
    static constexpr std::chrono::hours lasts{365 * 24};

    /// Returns the number of the mark, for unmark().
    std::uint64_t mark(std::string_view url, SteadyTime now);
    /// Does nothing if the URL was marked again since.
    void unmark(std::string_view url, std::uint64_t number);
    bool has(std::string_view url, SteadyTime now) const;
    /// The memory of the marks, and its bound.
    Bytes bytes() const;
    static constexpr Bytes bytes_max = marks_max * 24;

private:
    struct Mark {
        Fingerprint url = 0;
        std::uint64_t number = 0;   // 0: the entry is free
        SteadyTime until{};
    };
    static_assert(sizeof(Mark) * marks_max == bytes_max);
    static constexpr std::size_t ways = 8;
    using Set = std::array<Mark, ways>;

    std::size_t set_of(Fingerprint url) const REQUIRES(mutex_) { return url % sets_.size(); }

    std::uint64_t const seed_;
    mutable Mutex mutex_;
    std::vector<Set> sets_ GUARDED_BY(mutex_);   // allocated with the first mark
    std::uint64_t last_number_ GUARDED_BY(mutex_) = 0;
    std::atomic<std::size_t> marks_{0};
};

}   // namespace garner::icp
