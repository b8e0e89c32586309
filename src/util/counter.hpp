// Statistics that one thread writes and any thread reads.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace garner {

/// A count with one writer. Readers see some recent value; adding costs a plain addition (no locked instruction).
class Counter {
public:
    void add(std::uint64_t n = 1) { value_.store(value() + n, std::memory_order_relaxed); }
    std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

/// One counter for each value of an enumeration that ends with count_.
template <class Enum>
class CounterOf {
public:
    static constexpr std::size_t size = static_cast<std::size_t>(Enum::count_);
    void add(Enum which, std::uint64_t n = 1) { counters_[static_cast<std::size_t>(which)].add(n); }
    std::uint64_t value(std::size_t index) const { return counters_[index].value(); }

private:
    std::array<Counter, size> counters_;
};

/// The buckets of a histogram of microseconds up to one hour: exact below 32, then 16 equal buckets per doubling, so that a
/// bucket's width is at most 1/16 of its values. Longer times count as one hour.
struct LatencyBuckets {
    static constexpr unsigned precision = 4;
    static constexpr std::uint64_t per_doubling = 1u << precision;
    static constexpr std::uint64_t greatest = 3'600'000'000;   // µs

    static constexpr std::size_t of(std::uint64_t micros) {
        std::uint64_t value = std::min(micros, greatest);
        if (value < per_doubling) return value;
        unsigned shift = static_cast<unsigned>(std::bit_width(value)) - 1 - precision;
        return (shift << precision) + (value >> shift);
    }
    /// The least value of a bucket; valid for the index after the last bucket, too.
    static constexpr std::uint64_t least(std::size_t bucket) {
        if (bucket < per_doubling) return bucket;
        auto shift = (bucket >> precision) - 1;
        return (per_doubling + bucket % per_doubling) << shift;
    }
    /// The greatest value of a bucket.
    static constexpr std::uint64_t most(std::size_t bucket) { return std::min(least(bucket + 1) - 1, greatest); }
    static constexpr std::size_t count() { return of(greatest) + 1; }
};

/// A histogram's values at one moment, or the sum over several workers.
struct LatencySnapshot {
    std::array<std::uint64_t, LatencyBuckets::count()> buckets{};
    std::uint64_t total = 0;   // values
    std::uint64_t sum_micros = 0;

    LatencySnapshot& operator+=(LatencySnapshot const& other) {
        for (std::size_t i = 0; i < buckets.size(); ++i) buckets[i] += other.buckets[i];
        total += other.total;
        sum_micros += other.sum_micros;
        return *this;
    }

    /// The values added after `before`, an earlier snapshot of the same histogram.
    LatencySnapshot since(LatencySnapshot const& before) const {
        LatencySnapshot more;
        for (std::size_t i = 0; i < buckets.size(); ++i) more.buckets[i] = buckets[i] - std::min(buckets[i], before.buckets[i]);
        more.total = total - std::min(total, before.total);
        more.sum_micros = sum_micros - std::min(sum_micros, before.sum_micros);
        return more;
    }

    /// The least bucket bound with `percent` (0 to 100) of the values at or below it, at most 1/16 too high; 0 without
    /// values.
    std::chrono::microseconds percentile(double percent) const {
        auto wanted = static_cast<std::uint64_t>(std::ceil(std::clamp(percent, 0.0, 100.0) / 100 * static_cast<double>(total)));
        wanted = std::clamp<std::uint64_t>(wanted, 1, std::max<std::uint64_t>(total, 1));
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < buckets.size(); ++i) {
            seen += buckets[i];
            if (seen >= wanted) return std::chrono::microseconds(LatencyBuckets::most(i));
        }
        return std::chrono::microseconds(0);
    }

    std::chrono::microseconds mean() const { return std::chrono::microseconds(total ? sum_micros / total : 0); }
};

/// Durations with one writer; any thread may take a snapshot. 4 KiB, no allocation.
class Histogram {
public:
    /// Negative durations count as zero.
    void add(std::chrono::microseconds duration) {
        auto micros = static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0));
        buckets_[LatencyBuckets::of(micros)].add();
        sum_.add(std::min(micros, LatencyBuckets::greatest));
    }

    /// While the writer continues, the sum may differ from the buckets by a few values; the total is always the buckets'
    /// sum.
    LatencySnapshot snapshot() const {
        LatencySnapshot now;
        for (std::size_t i = 0; i < buckets_.size(); ++i) now.total += now.buckets[i] = buckets_[i].value();
        now.sum_micros = sum_.value();
        return now;
    }

    std::chrono::microseconds percentile(double percent) const { return snapshot().percentile(percent); }

private:
    std::array<Counter, LatencyBuckets::count()> buckets_;
    Counter sum_;
};

}   // namespace garner
