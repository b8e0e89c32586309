// What left lately: remembers keys of which nothing else is left.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "util/bytes.hpp"
#include "util/hash.hpp"

namespace garner::policy {

/// Remembers about the last `count` keys put in, where count() said how many. A key falls into one of many short rows,
/// each of which forgets its oldest: a call costs one cache line, a key 4 to 8 bytes. Others are taken for one that was
/// put in about once in ten million questions. Allocates only in count(). Deterministic.
class Ghost {
public:
    static constexpr std::uint32_t tag_bits = 28;
    /// What is left of a fingerprint here: below 2^tag_bits.
    using Tag = std::uint32_t;
    static Tag tag(Fingerprint fingerprint) {
        fingerprint = (fingerprint ^ fingerprint >> 32) * 0x9e37'79b9'7f4a'7c15;
        return static_cast<Tag>(fingerprint >> (64 - tag_bits));
    }

    Ghost() : rows_(1) {}

    /// So many are to be remembered from now on. The room grows by doubling and never shrinks.
    void count(std::uint64_t count);

    void put(Tag);
    /// Was it put in and not yet forgotten? It is forgotten now.
    bool take(Tag);

    Bytes metadata_bytes() const { return rows_.capacity() * sizeof(Row); }

private:
    static constexpr std::uint32_t places = 16;
    static constexpr Tag nobody = UINT32_MAX;
    struct alignas(64) Row {
        std::array<Tag, places> tags;   // the newest first, then nobody
        Row() { tags.fill(nobody); }
    };
    Row& row_of(Tag tag) { return rows_[tag & (rows_.size() - 1)]; }
    void double_rows();

    std::vector<Row> rows_;             // a power of two of them
    std::uint32_t used_places_ = 0;     // of each row
};

}  // namespace garner::policy
