// The packed entries of both compact tables: the rest of a fingerprint, a link, and one or two flags.
#pragma once
#include <bit>
#include <cstdint>

#include "papers/bit_fields.hpp"
#include "util/check.hpp"
#include "util/hash.hpp"

namespace garner::papers {

struct CompactShape {
    std::uint64_t entries = 1;   // a power of two
    unsigned x = 0;              // chaining: 2^x entries a head; at most log2 of the entries
    unsigned bits = 64;          // l: the number of upper bits of the fingerprint that are used; at least log2 of the entries
    std::uint64_t seed = 1;

    static unsigned log2_of(std::uint64_t power) { return static_cast<unsigned>(std::countr_zero(power)); }
};

/// Lampson's abbreviated keys: the position of a fingerprint in a table is implied, not stored. The first `home_bits`
/// of the first `bits` of a fingerprint select its home; home and rest restore the key.
class KeySplit {
public:
    struct Key {
        std::uint64_t home, rest;
    };

    KeySplit(unsigned bits, unsigned home_bits) : unused_(64 - bits), rest_bits_(bits - home_bits) {
        check(bits <= 64 && home_bits <= bits);
    }
    Key of(Fingerprint url) const {
        auto const key = static_cast<unsigned __int128>(url >> unused_);
        auto const home = key >> rest_bits_;
        return {static_cast<std::uint64_t>(home), static_cast<std::uint64_t>(key - (home << rest_bits_))};
    }
    unsigned rest_bits() const { return rest_bits_; }
    /// True if every bit of the fingerprint is used.
    bool is_whole() const { return unused_ == 0; }

private:
    unsigned unused_, rest_bits_;
};

/// The fields of an entry, from the lowest bit: the mark (if `marks`), the end of the chain, the link, the rest of the fingerprint.
template <bool marks>
class ChainedEntries {
public:
    struct Entry {
        std::uint64_t rest = 0;
        std::uint64_t next = 0;
        bool at_end = false;   // end of its chain; each table defines which end, and the meaning of its link
        bool marked = false;
    };
    ChainedEntries(std::uint64_t entries, unsigned rest_bits, unsigned link_bits)
        : link_bits_(link_bits), fields_(entries, rest_bits + link_bits + 1 + marks) {}

    Entry read(std::uint64_t at) const {
        auto field = fields_.get(at);
        auto take = [&](unsigned bits) {
            auto const low = static_cast<std::uint64_t>(field & ((BitFields::Field{1} << bits) - 1));
            field >>= bits;
            return low;
        };
        Entry entry;
        entry.marked = marks && take(1);
        entry.at_end = take(1);
        entry.next = take(link_bits_);
        entry.rest = static_cast<std::uint64_t>(field);
        return entry;
    }
    void write(std::uint64_t at, Entry const& entry) {
        auto field = BitFields::Field{entry.rest} << link_bits_ | entry.next;
        field = field << 1 | (entry.at_end ? 1 : 0);
        if constexpr (marks) field = field << 1 | (entry.marked ? 1 : 0);
        fields_.set(at, field);
    }
    void mark(std::uint64_t at, Entry entry) {
        if (!marks || entry.marked) return;
        entry.marked = true;
        write(at, entry);
    }
    void unmark(std::uint64_t at) {
        auto entry = read(at);
        entry.marked = false;
        write(at, entry);
    }
    std::uint64_t count() const { return fields_.count(); }
    std::uint64_t bits() const { return fields_.bits(); }
    void prefetch(std::uint64_t at) const { fields_.prefetch(at); }

private:
    unsigned link_bits_;
    BitFields fields_;
};

}   // namespace garner::papers
