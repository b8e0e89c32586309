// Scatter table with circular lists: fingerprints are hashed directly into the array of entries.
#pragma once
#include "crawl/seen_cache.hpp"
#include "papers/chained_entries.hpp"

namespace garner::papers {

/// Broder, Najork, Wiener 2003, section 6 (Knuth, volume 3, exercise 6.4.13). 2^r entries of l + 1 bits, one more for
/// CLOCK's marks, and no other memory. A chain is a circle whose first entry is at its home. Entries of other chains
/// may be moved away, with their marks.
template <class Hand>
class Scatter final : public crawl::Batched<Scatter<Hand>> {
public:
    explicit Scatter(CompactShape const& shape)
        : key_(shape.bits, shape.log2_of(shape.entries)), entries_(shape.entries, key_.rest_bits(), shape.log2_of(shape.entries)),
          hand_(shape.entries, shape.seed) {
        for (std::uint64_t at = 0; at < shape.entries; ++at) entries_.write(at, free_at(at));
    }

    bool look(Fingerprint url) {
        auto const key = key_.of(url);
        auto entry = entries_.read(key.home);
        if (entry.at_end) {
            for (auto at = key.home;;) {
                if (entry.rest == key.rest) return entries_.mark(at, entry), true;
                if (entry.next == key.home) break;
                at = entry.next;
                entry = entries_.read(at);
            }
        }
        put(key);
        return false;
    }
    void prefetch(Fingerprint url) const { entries_.prefetch(key_.of(url).home); }
    std::uint64_t entries() const override { return entries_.count(); }
    bool claims() const override { return !key_.is_whole(); }
    std::uint64_t memory_bits() const override { return entries_.bits(); }

private:
    // The end of a circle is its first entry; the last one's link leads there.
    using Entries = ChainedEntries<Hand::marks>;
    using Entry = typename Entries::Entry;

    // An entry that is not first has a predecessor, so this value is invalid for it and marks a free slot.
    static Entry free_at(std::uint64_t at) { return {.next = at}; }
    bool is_free(std::uint64_t at) const {
        auto const entry = entries_.read(at);
        return !entry.at_end && entry.next == at;
    }

    void link(std::uint64_t at, std::uint64_t next) {
        auto entry = entries_.read(at);
        entry.next = next;
        entries_.write(at, entry);
    }
    std::uint64_t before(std::uint64_t at) const {
        auto slot = at;
        for (auto entry = entries_.read(at); entry.next != at; entry = entries_.read(slot)) slot = entry.next;
        return slot;
    }

    void put(KeySplit::Key key) {
        auto const slot = held_ < entries_.count() ? free_slot(key.home) : vacated();
        auto const alone = Entry{.rest = key.rest, .next = key.home, .at_end = true};
        if (slot == key.home) return entries_.write(slot, alone);
        auto const occupant = entries_.read(key.home);
        if (occupant.at_end) {
            entries_.write(slot, {.rest = key.rest, .next = occupant.next});
            link(key.home, slot);
        } else {
            link(before(key.home), slot);
            entries_.write(slot, occupant);
            entries_.write(key.home, alone);
        }
    }

    /// While the table fills: the home, otherwise the first free slot.
    std::uint64_t free_slot(std::uint64_t home) {
        ++held_;
        if (is_free(home)) return home;
        while (!is_free(filled_)) ++filled_;
        return filled_;
    }

    std::uint64_t vacated() {
        return take_out(hand_.victim([&](std::uint64_t at) { return entries_.read(at).marked; },
                                     [&](std::uint64_t at) { entries_.unmark(at); }));
    }

    /// Returns the slot that becomes free: if the first entry of a longer chain is removed, the second one takes its
    /// slot.
    std::uint64_t take_out(std::uint64_t at) {
        auto const entry = entries_.read(at);
        if (!entry.at_end) {
            link(before(at), entry.next);
            return at;
        }
        if (entry.next == at) return at;
        auto second = entries_.read(entry.next);
        second.at_end = true;
        entries_.write(at, second);
        return entry.next;
    }

    KeySplit const key_;
    Entries entries_;
    std::uint64_t held_ = 0;
    std::uint64_t filled_ = 0;   // no free slot before this one
    Hand hand_;
};

}   // namespace garner::papers
