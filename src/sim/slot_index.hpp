// From a hash to the slot that holds its key: one cache line a lookup, no tombstones, dense.
#pragma once
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

/// A key lies in one of two buckets of twelve slots, each one cache line that begins with the slots' tags, in the emptier
/// one when it came. So a search looks at two lines, never more, whether it finds or not, and removal leaves no trace. It
/// grows by a sixteenth when nine tenths are full: 6 to 6.4 bytes a key. Not thread-safe.
class SlotIndex {
public:
    using Slot = policy::Slot;

    void prefetch(std::uint64_t hash) const {
        __builtin_prefetch(&buckets_[one(hash)]);
        __builtin_prefetch(&buckets_[other(hash)]);
    }

    /// The slot for which `is_it` is true among those with this hash, or no_slot. `is_it` is asked for few others.
    template <class IsIt>
    Slot find(std::uint64_t hash, IsIt&& is_it) const {
        auto place = find_place(hash, is_it);
        return place.bucket ? place.bucket->slots[place.at] : policy::no_slot;
    }

    /// For a key that is not there. `hash_of` tells the hash of a slot that is, when the index grows.
    template <class HashOf>
    void insert(std::uint64_t hash, Slot slot, HashOf&& hash_of) {
        if (++size_ > most()) grow(hash_of);
        while (!put(hash, slot, hash_of)) grow(hash_of);
    }

    void erase(std::uint64_t hash, Slot slot) {
        --size_;
        auto place = find_place(hash, [&](Slot candidate) { return candidate == slot; });
        check(place.bucket != nullptr);
        buckets_[static_cast<std::size_t>(place.bucket - buckets_.data())].tags[place.at] = 0;
    }

    std::size_t size() const { return size_; }
    Bytes metadata_bytes() const { return buckets_.capacity() * sizeof(Bucket); }

private:
    static constexpr std::size_t slots_in_bucket = 12;
    struct alignas(64) Bucket {
        std::array<std::uint8_t, 16> tags{};   // 0: empty; the last four are not used
        std::array<Slot, slots_in_bucket> slots{};
    };
    static_assert(sizeof(Bucket) == 64);

    static std::uint8_t tag_of(std::uint64_t hash) {
        auto tag = static_cast<std::uint8_t>(hash);
        return tag ? tag : 1;
    }
    std::size_t one(std::uint64_t hash) const { return ((hash >> 32) * buckets_.size()) >> 32; }
    std::size_t other(std::uint64_t hash) const { return ((hash * 0x9e3779b97f4a7c15u >> 32) * buckets_.size()) >> 32; }
    std::size_t most() const { return buckets_.size() * slots_in_bucket * 9 / 10; }

    struct Place {
        Bucket const* bucket = nullptr;
        std::size_t at = 0;
    };
    /// Both buckets are compared before the first branch: which of them has the key cannot be foretold.
    template <class IsIt>
    Place find_place(std::uint64_t hash, IsIt&& is_it) const {
        Bucket const* a = &buckets_[one(hash)];
        Bucket const* b = &buckets_[other(hash)];
        auto tag = tag_of(hash);
        for (auto alike = places_of(*a, tag) | places_of(*b, tag) << 16; alike; alike &= alike - 1) {
            auto bit = static_cast<unsigned>(std::countr_zero(alike));
            Place place{bit < 16 ? a : b, bit % 16};
            if (is_it(place.bucket->slots[place.at])) return place;
        }
        return {};
    }

    static unsigned places_of(Bucket const& bucket, std::uint8_t tag) {
        constexpr unsigned used = (1u << slots_in_bucket) - 1;
#if defined(__SSE2__)
        auto tags = _mm_load_si128(reinterpret_cast<__m128i const*>(&bucket));
        auto same = _mm_cmpeq_epi8(tags, _mm_set1_epi8(static_cast<char>(tag)));
        return static_cast<unsigned>(_mm_movemask_epi8(same)) & used;
#else
        unsigned places = 0;
        for (std::size_t i = 0; i < slots_in_bucket; ++i) places |= unsigned{bucket.tags[i] == tag} << i;
        return places;
#endif
    }

    /// False when both buckets are full and none of those in the first can move.
    template <class HashOf>
    bool put(std::uint64_t hash, Slot slot, HashOf&& hash_of) {
        return place(hash, slot) || (make_room(buckets_[one(hash)], hash_of) && place(hash, slot));
    }

    /// False when both buckets are full.
    bool place(std::uint64_t hash, Slot slot) {
        Bucket& a = buckets_[one(hash)];
        Bucket& b = buckets_[other(hash)];
        auto empty_a = places_of(a, 0), empty_b = places_of(b, 0);
        bool first = std::popcount(empty_a) >= std::popcount(empty_b);
        auto empty = first ? empty_a : empty_b;
        if (!empty) return false;
        Bucket& bucket = first ? a : b;
        auto at = static_cast<std::size_t>(std::countr_zero(empty));
        bucket.tags[at] = tag_of(hash);
        bucket.slots[at] = slot;
        return true;
    }

    /// Moves a key to its other bucket.
    template <class HashOf>
    bool make_room(Bucket& full, HashOf&& hash_of) {
        for (std::size_t i = 0; i < slots_in_bucket; ++i) {
            auto hash = hash_of(full.slots[i]);
            Bucket& elsewhere = &buckets_[one(hash)] == &full ? buckets_[other(hash)] : buckets_[one(hash)];
            if (!places_of(elsewhere, 0)) continue;
            bool moved = place(hash, full.slots[i]);   // there: this bucket is still full
            full.tags[i] = 0;
            return moved;
        }
        return false;
    }

    template <class HashOf>
    void grow(HashOf&& hash_of) {
        auto old = std::move(buckets_);
        for (auto count = old.size();;) {
            count += count / 16 + 1;
            buckets_.assign(count, {});
            if (place_all(old, hash_of)) return;
        }
    }

    template <class HashOf>
    bool place_all(std::vector<Bucket> const& old, HashOf&& hash_of) {
        for (Bucket const& bucket : old)
            for (std::size_t i = 0; i < slots_in_bucket; ++i)
                if (bucket.tags[i] && !put(hash_of(bucket.slots[i]), bucket.slots[i], hash_of)) return false;
        return true;
    }

    std::vector<Bucket> buckets_ = std::vector<Bucket>(1);
    std::size_t size_ = 0;
};

}  // namespace garner::sim
