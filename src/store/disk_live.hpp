// The sum of the bytes of live records. Only the size class of a removed record is known.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "store/disk_sizes.hpp"

namespace garner::store::disk {

/// Thread-safe. A removed record subtracts the mean size of its class. So the sum is approximate, and exact if all
/// records of a class are equal or removed.
class LiveBytes {
public:
    /// Sums of records that arrived at about one time.
    class Sum {
    public:
        void add(Bytes bytes) {
            auto& kind = classes_[size_class(bytes)];
            kind.bytes += bytes;
            ++kind.records;
        }

    private:
        friend LiveBytes;
        struct Class {
            Bytes bytes = 0;
            std::int64_t records = 0;
        };
        std::array<Class, 1 << size_bits> classes_;
    };
    void came(Sum const& sum) {
        for (std::size_t i = 0; i < classes_.size(); ++i) {
            auto const& some = sum.classes_[i];
            if (some.records == 0) continue;
            classes_[i].bytes.fetch_add(some.bytes, std::memory_order_relaxed);
            classes_[i].records.fetch_add(some.records, std::memory_order_relaxed);
            sum_.fetch_add(some.bytes, std::memory_order_relaxed);
        }
    }
    void came(Bytes bytes) {
        auto& kind = classes_[size_class(bytes)];
        kind.bytes.fetch_add(bytes, std::memory_order_relaxed);
        kind.records.fetch_add(1, std::memory_order_relaxed);
        sum_.fetch_add(bytes, std::memory_order_relaxed);
    }
    /// `bytes`: the exact size, or rounded up to the end of its size class.
    void left(Bytes bytes) {
        auto& kind = classes_[size_class(bytes)];
        // The removal of a record may be counted before its insertion is.
        auto const records = std::max<std::int64_t>(kind.records.fetch_sub(1, std::memory_order_relaxed), 1);
        auto there = kind.bytes.load(std::memory_order_relaxed);
        Bytes share;
        do share = there / static_cast<Bytes>(records);
        while (!kind.bytes.compare_exchange_weak(there, there - share, std::memory_order_relaxed));
        sum_.fetch_sub(share, std::memory_order_relaxed);
    }
    Bytes sum() const { return sum_.load(std::memory_order_relaxed); }

private:
    struct Class {
        std::atomic<Bytes> bytes{0};
        std::atomic<std::int64_t> records{0};
    };
    std::array<Class, 1 << size_bits> classes_;
    std::atomic<Bytes> sum_{0};
};

}   // namespace garner::store::disk
