// Maps a hash to the slot of its key: one cache line per lookup, no tombstones, dense.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "policy/policy.hpp"
#include "util/check.hpp"

namespace garner::sim {

/// Open addressing over buckets of twelve entries, each bucket one cache line: tags that are compared at once, then slots.
/// A bucket counts the keys that found it full and went on to the next bucket. A search ends where that count is zero, so
/// removal needs no tombstone. Grows by one sixteenth. Not thread-safe.
class SlotIndex {
public:
    using Slot = policy::Slot;

    /// Maximum fill in percent: 60 takes 9 bytes per key and is fastest, 80 takes 7. Effective from the next growth on.
    void fill_to(unsigned percent) { fill_ = percent; }

    void prefetch(std::uint64_t hash) const { __builtin_prefetch(&buckets_[home(hash)]); }

    /// The slot with this hash for which `is_it` is true, or no_slot. `is_it` is rarely called for other slots.
    template <class IsIt>
    Slot find(std::uint64_t hash, IsIt&& is_it) const {
        auto tag = tag_of(hash);
        auto const first = home(hash);
        for (auto at = first;;) {
            Bucket const& bucket = buckets_[at];
            for (auto alike = matches(bucket, tag); alike; alike &= alike - 1) {
                Slot slot = bucket.slots[static_cast<std::size_t>(std::countr_zero(alike))];
                if (is_it(slot)) return slot;
            }
            if (!bucket.passed) return policy::no_slot;
            at = next(at);
            if (at == first) return policy::no_slot;   // every bucket was full once
        }
    }

    /// Adds a key that is absent. `hash_of` returns the hash of a present slot when the index grows.
    template <class HashOf>
    void insert(std::uint64_t hash, Slot slot, HashOf&& hash_of) {
        if (++size_ > most_) grow(hash_of);
        put(hash, slot);
    }

    /// Removes a key that is present.
    void erase(std::uint64_t hash, Slot slot) {
        --size_;
        auto tag = tag_of(hash);
        for (auto at = home(hash);; at = next(at)) {
            Bucket& bucket = buckets_[at];
            for (auto alike = matches(bucket, tag); alike; alike &= alike - 1) {
                auto entry = static_cast<std::size_t>(std::countr_zero(alike));
                if (bucket.slots[entry] != slot) continue;
                bucket.tags[entry] = 0;
                return;
            }
            check(bucket.passed > 0);
            --bucket.passed;
        }
    }

    std::size_t size() const { return size_; }
    Bytes metadata_bytes() const { return buckets_.capacity() * sizeof(Bucket); }

private:
    static constexpr std::size_t slots_in_bucket = 12;
    struct alignas(64) Bucket {
        std::array<std::uint8_t, slots_in_bucket> tags{};   // 0: empty
        std::uint32_t passed = 0;
        std::array<Slot, slots_in_bucket> slots{};
    };
    static_assert(sizeof(Bucket) == 64);

    static std::uint8_t tag_of(std::uint64_t hash) {
        auto tag = static_cast<std::uint8_t>(hash);
        return tag ? tag : 1;
    }
    std::size_t home(std::uint64_t hash) const { return ((hash >> 32) * buckets_.size()) >> 32; }
    std::size_t next(std::size_t at) const { return at + 1 == buckets_.size() ? 0 : at + 1; }

    /// A bit mask of the bucket's entries with this tag.
    static unsigned matches(Bucket const& bucket, std::uint8_t tag) {
#if defined(__SSE2__)
        auto tags = _mm_load_si128(reinterpret_cast<__m128i const*>(&bucket));
        auto same = _mm_cmpeq_epi8(tags, _mm_set1_epi8(static_cast<char>(tag)));
        return static_cast<unsigned>(_mm_movemask_epi8(same)) & ((1u << slots_in_bucket) - 1);
#else
        unsigned found = 0;
        for (std::size_t i = 0; i < slots_in_bucket; ++i) found |= unsigned{bucket.tags[i] == tag} << i;
        return found;
#endif
    }

    void put(std::uint64_t hash, Slot slot) {
        for (auto at = home(hash);; at = next(at)) {
            Bucket& bucket = buckets_[at];
            if (auto empty = matches(bucket, 0)) {
                auto entry = static_cast<std::size_t>(std::countr_zero(empty));
                bucket.tags[entry] = tag_of(hash);
                bucket.slots[entry] = slot;
                return;
            }
            ++bucket.passed;
        }
    }

    template <class HashOf>
    void grow(HashOf&& hash_of) {
        auto const old = std::move(buckets_);
        auto count = old.size() + old.size() / 16 + 1;
        buckets_.assign(count, {});
        most_ = std::max<std::size_t>(count * slots_in_bucket * fill_ / 100, size_);
        for (Bucket const& bucket : old)
            for (std::size_t i = 0; i < slots_in_bucket; ++i)
                if (bucket.tags[i]) put(hash_of(bucket.slots[i]), bucket.slots[i]);
    }

    std::vector<Bucket> buckets_ = std::vector<Bucket>(1);
    std::size_t size_ = 0;
    std::size_t most_ = slots_in_bucket / 2;
    unsigned fill_ = 60;
};

}   // namespace garner::sim
