// The memory budget of one tier: bytes are reserved before allocation and released with the last reference.
#pragma once
#include <atomic>

#include "util/bytes.hpp"
#include "util/check.hpp"

namespace garner::store {

/// Thread-safe. Counts all memory of the tier: bodies, heads, keys, index entries, policy arrays, allocator rounding.
class Budget {
public:
    Budget(Bytes capacity, Bytes filling_capacity) : capacity_(capacity), filling_capacity_(filling_capacity) {}

    /// Returns false and takes nothing when it would exceed the capacity.
    bool reserve(Bytes bytes) { return take(used_, capacity_.load(std::memory_order_relaxed), bytes); }
    void release(Bytes bytes) {
        auto before = used_.fetch_sub(bytes, std::memory_order_relaxed);
        check(before >= bytes);
    }
    /// A second account with its own limit: the share of growing bodies, reserved in addition to reserve().
    bool reserve_filling(Bytes bytes) { return take(filling_, filling_capacity_.load(std::memory_order_relaxed), bytes); }
    void release_filling(Bytes bytes) {
        auto before = filling_.fetch_sub(bytes, std::memory_order_relaxed);
        check(before >= bytes);
    }

    Bytes used() const { return used_.load(std::memory_order_relaxed); }
    Bytes filling() const { return filling_.load(std::memory_order_relaxed); }
    Bytes filling_capacity() const { return filling_capacity_.load(std::memory_order_relaxed); }
    Bytes capacity() const { return capacity_.load(std::memory_order_relaxed); }
    void set_capacity(Bytes capacity, Bytes filling_capacity) {
        capacity_.store(capacity, std::memory_order_relaxed);
        filling_capacity_.store(filling_capacity, std::memory_order_relaxed);
    }

private:
    static bool take(std::atomic<Bytes>& account, Bytes limit, Bytes bytes) {
        auto now = account.load(std::memory_order_relaxed);
        do {
            if (bytes > limit || now > limit - bytes) return false;
        } while (!account.compare_exchange_weak(now, now + bytes, std::memory_order_relaxed));
        return true;
    }
    std::atomic<Bytes> used_{0};
    std::atomic<Bytes> filling_{0};
    std::atomic<Bytes> capacity_;
    std::atomic<Bytes> filling_capacity_;
};

}   // namespace garner::store
