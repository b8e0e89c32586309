// Ghost entries: remembers the keys of recently evicted objects.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "util/bytes.hpp"
#include "util/hash.hpp"

namespace garner::policy {

/// Remembers about the last `count` keys, as set by count(). A key maps to one of many short rows; each row forgets
/// its oldest key. A call touches one cache line; a key takes 4 to 8 bytes. The false positive rate is about one in
/// ten million. Allocates only in count(). Deterministic.
class Ghost {
public:
    static constexpr std::uint32_t tag_bits = 28;
    /// The stored part of a fingerprint: below 2^tag_bits.
    using Tag = std::uint32_t;
    static Tag tag(Fingerprint fingerprint) {
        fingerprint = (fingerprint ^ fingerprint >> 32) * 0x9e37'79b9'7f4a'7c15;
        return static_cast<Tag>(fingerprint >> (64 - tag_bits));
    }

    Ghost() : rows_(1) {}

    /// Sets how many keys to remember. Memory grows by doubling and never shrinks.
    void count(std::uint64_t count);

    void put(Tag);
    /// True if it was put in and not yet forgotten. It is forgotten now.
    bool take(Tag);

    Bytes metadata_bytes() const { return rows_.capacity() * sizeof(Row); }

private:
    static constexpr std::uint32_t places = 16;
    static constexpr Tag no_tag = UINT32_MAX;
    struct alignas(64) Row {
        std::array<Tag, places> tags;   // the newest first, then unused places
        Row() { tags.fill(no_tag); }
    };
    Row& row_of(Tag tag) { return rows_[tag & (rows_.size() - 1)]; }
    void double_rows();

    std::vector<Row> rows_;           // the number of rows is a power of two
    std::uint32_t used_places_ = 0;   // of each row
};

}   // namespace garner::policy
