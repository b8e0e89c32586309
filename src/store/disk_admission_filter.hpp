// Admission filter: admits an object on its second request, because most objects are requested only once.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "util/hash.hpp"

namespace garner::store::disk {

/// Two bit arrays (Bloom filters with one hash function each) that take turns: the older one is cleared when the
/// newer one is half full. Thread-safe; 1 MiB. It forgets old hashes, and rarely admits a first request (false
/// positive).
class AdmissionFilter {
public:
    /// True when this hash was seen recently.
    bool knows(Fingerprint hash) {
        auto const at = hash % bits;
        auto const mask = std::uint64_t{1} << (at % 64);
        auto const newer = newer_.load(std::memory_order_relaxed);
        bool const before = (arrays_[newer ^ 1][at / 64].load(std::memory_order_relaxed) & mask) != 0;
        bool const now = (arrays_[newer][at / 64].fetch_or(mask, std::memory_order_relaxed) & mask) != 0;
        if (!now && set_.fetch_add(1, std::memory_order_relaxed) + 1 == bits / 2) turn(newer);
        return before || now;
    }

private:
    static constexpr std::size_t bits = 1u << 22;
    using Array = std::array<std::atomic<std::uint64_t>, bits / 64>;

    void turn(unsigned newer) {
        for (auto& word : arrays_[newer ^ 1]) word.store(0, std::memory_order_relaxed);
        newer_.store(newer ^ 1, std::memory_order_relaxed);
        set_.store(0, std::memory_order_relaxed);
    }
    std::unique_ptr<Array[]> arrays_ = std::make_unique<Array[]>(2);
    std::atomic<unsigned> newer_{0};
    std::atomic<std::size_t> set_{0};
};

}   // namespace garner::store::disk
