#include "cache/event_numbers.hpp"

#include <algorithm>

#include "util/clock.hpp"

namespace garner::cache {

void Numbers::begin_behind(store::DiskStore const& disk) {
    // The clock is used only if the disk has no number yet. A clock value read after the disk was opened could be in
    // the second from which the next start takes its numbers.
    auto const seconds = static_cast<std::uint64_t>(std::max<std::int64_t>(unix_seconds(wall_now()), 0));
    auto const by_disk = disk.first_sequence();
    begin_behind(by_disk != 0 ? by_disk : seconds << store::numbers_of_a_second);
}

void Numbers::begin_behind(std::uint64_t least) {
    for (auto last = last_.load(); last < least && !last_.compare_exchange_weak(last, least);) {
    }
}

}   // namespace garner::cache
