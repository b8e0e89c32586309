// URLs that an unsafe request has changed while other caches may still hold older answers (RFC 9111 4.4).
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "util/clock.hpp"
#include "util/hash.hpp"

namespace garner::icp {

/// No peer is asked for what is marked. A mark ends when all peers have acknowledged the purge, or after `lasts`: by then
/// older answers have aged out (RFC 9111 1.2.2 knows no longer lifetime of use). Holds at most `marks_max`; where they crowd, the
/// oldest go. Thread-safe; asking costs a load while nothing is marked, else a short lock.
class ChangedUrls {
public:
    ChangedUrls();
    static constexpr std::size_t marks_max = 65'536;
    static constexpr std::chrono::hours lasts{365 * 24};

    /// The number of the mark, for unmark().
    std::uint64_t mark(std::string_view url, SteadyTime now);
    /// Nothing when the URL was marked again since.
    void unmark(std::string_view url, std::uint64_t number);
    bool has(std::string_view url, SteadyTime now) const;

private:
    struct Mark {
        Fingerprint url = 0;
        std::uint64_t number = 0;   // 0: the place is free
        SteadyTime until{};
    };
    static constexpr std::size_t ways = 8;
    using Set = std::array<Mark, ways>;

    Set& set_of(Fingerprint url) const { return sets_[url % sets_.size()]; }

    std::uint64_t const seed_;
    mutable std::mutex mutex_;
    mutable std::vector<Set> sets_;          // made with the first mark
    std::uint64_t last_number_ = 0;
    std::atomic<bool> any_{false};
};

}  // namespace garner::icp
