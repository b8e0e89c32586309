// The numbers of responses, fetches, invalidations and other events, in their order.
#pragma once
#include <atomic>
#include <cstdint>

#include "store/disk_store.hpp"

namespace garner::cache {

/// Thread-safe.
class Numbers {
public:
    /// A thread that takes a higher number sees what the thread with a lower one had done before.
    std::uint64_t next() { return last_.fetch_add(1, std::memory_order_acq_rel) + 1; }
    std::uint64_t last() const { return last_.load(std::memory_order_relaxed); }
    /// Makes all further numbers higher than those of the disk's records.
    void begin_behind(store::DiskStore const& disk);
    /// Makes all further numbers higher than this one.
    void begin_behind(std::uint64_t number);

private:
    std::atomic<std::uint64_t> last_{0};
};

}   // namespace garner::cache
