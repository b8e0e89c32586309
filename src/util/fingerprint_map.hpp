// Maps fingerprints to numbers: an open-addressing table that finds entries ordered elsewhere.
#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "util/check.hpp"
#include "util/hash.hpp"

namespace garner {

/// Numbers below `none` by fingerprint. Grows by doubling, never shrinks. Not thread-safe.
class FingerprintMap {
public:
    static constexpr std::uint32_t none = UINT32_MAX;

    /// Reserves space for this many without growing.
    explicit FingerprintMap(std::uint64_t expected = 8) { resize(std::bit_ceil(expected + expected / 2 + 8)); }

    /// `none` when absent.
    std::uint32_t find(Fingerprint url) const { return values_[slot_of(url)]; }

    /// A reference to the number: `none` when absent, and must then be set at once. Valid until the next call.
    std::uint32_t& at(Fingerprint url) {
        auto slot = slot_of(url);
        if (values_[slot] != none) return values_[slot];
        if (++size_ > keys_.size() / 3 * 2) {
            resize(keys_.size() * 2);
            slot = slot_of(url);
        }
        keys_[slot] = url;
        return values_[slot];
    }

    /// The fingerprint must be present. Later entries of the probe run move up, so that no tombstone is needed.
    void erase(Fingerprint url) {
        auto hole = slot_of(url);
        check(values_[hole] != none);
        --size_;
        for (auto next = after(hole); values_[next] != none; next = after(next)) {
            bool const may_move = ((next - home_of(keys_[next])) & mask()) >= ((next - hole) & mask());
            if (!may_move) continue;
            keys_[hole] = keys_[next];
            values_[hole] = values_[next];
            hole = next;
        }
        values_[hole] = none;
    }

    void prefetch(Fingerprint url) const {
        auto const home = home_of(url);
        __builtin_prefetch(&keys_[home]);
        __builtin_prefetch(&values_[home]);
    }

    std::uint64_t size() const { return size_; }
    std::uint64_t memory_bits() const {
        return keys_.capacity() * 8 * sizeof(Fingerprint) + values_.capacity() * 8 * sizeof(std::uint32_t);
    }

    /// Calls `visit` with each fingerprint and its number, in no particular order.
    template <class Visit>
    void each(Visit visit) const {
        for (std::size_t i = 0; i < keys_.size(); ++i)
            if (values_[i] != none) visit(keys_[i], values_[i]);
    }

private:
    std::size_t mask() const { return keys_.size() - 1; }
    std::size_t after(std::size_t slot) const { return (slot + 1) & mask(); }
    // Fibonacci hashing: also spreads fingerprints that are not uniformly distributed.
    std::size_t home_of(Fingerprint url) const { return (url * 0x9e3779b97f4a7c15) >> shift_; }

    std::size_t slot_of(Fingerprint url) const {
        auto slot = home_of(url);
        while (values_[slot] != none && keys_[slot] != url) slot = after(slot);
        return slot;
    }

    void resize(std::size_t slots) {
        auto const keys = std::move(keys_);
        auto const values = std::move(values_);
        keys_ = std::vector<Fingerprint>(slots);
        values_ = std::vector<std::uint32_t>(slots, none);
        shift_ = 64 - std::countr_zero(slots);
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (values[i] == none) continue;
            auto const slot = slot_of(keys[i]);
            keys_[slot] = keys[i];
            values_[slot] = values[i];
        }
    }

    std::vector<Fingerprint> keys_;
    std::vector<std::uint32_t> values_;   // none: the slot is free
    std::uint64_t size_ = 0;
    int shift_ = 0;
};

}   // namespace garner
