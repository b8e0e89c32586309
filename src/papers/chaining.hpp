// Direct circular chaining: chains inside the array of entries, and a separate array of heads of chosen size.
#pragma once
#include "crawl/seen_cache.hpp"
#include "papers/chained_entries.hpp"

namespace garner::papers {

/// Broder, Najork, Wiener 2003, section 6. 2^(r-x) heads of r bits and 2^r entries of l + x + 1 bits, one more for
/// CLOCK's marks. The last entry of a chain links back to its head, so that an entry can be removed without its key.
/// Its decisions equal those of the policy over a plain array.
template <class Hand>
class Chaining final : public crawl::Batched<Chaining<Hand>> {
public:
    explicit Chaining(CompactShape const& shape)
        : key_(shape.bits, shape.log2_of(shape.entries) - shape.x), heads_(shape.entries >> shape.x, shape.log2_of(shape.entries)),
          entries_(shape.entries, key_.rest_bits(), shape.log2_of(shape.entries)), hand_(shape.entries, shape.seed) {}

    bool look(Fingerprint url) {
        auto const key = key_.of(url);
        if (has_chain(key.home)) {
            for (auto at = head(key.home);;) {
                auto entry = entries_.read(at);
                if (entry.rest == key.rest) return entries_.mark(at, entry), true;
                if (entry.at_end) break;
                at = entry.next;
            }
        }
        put(key);
        return false;
    }
    void prefetch(Fingerprint url) const { heads_.prefetch(key_.of(url).home); }
    std::uint64_t entries() const override { return entries_.count(); }
    bool claims() const override { return !key_.is_whole(); }
    std::uint64_t memory_bits() const override { return heads_.bits() + entries_.bits(); }

private:
    // The end of a chain is its last entry, which links to its head's home.
    using Entries = ChainedEntries<Hand::marks>;
    static constexpr std::uint64_t none = UINT64_MAX;

    // r bits can number every entry, but have no value for none. So 0 is stored for an empty chain, and the one chain
    // that really begins at entry 0 is recorded separately.
    std::uint64_t head(std::uint64_t home) const { return static_cast<std::uint64_t>(heads_.get(home)); }
    bool has_chain(std::uint64_t home) const { return head(home) != 0 || home_of_zero_ == home; }
    void set_head(std::uint64_t home, std::uint64_t first) {
        heads_.set(home, first);
        if (first == 0)
            home_of_zero_ = home;
        else if (home_of_zero_ == home)
            home_of_zero_ = none;
    }
    void clear_head(std::uint64_t home) {
        heads_.set(home, 0);
        if (home_of_zero_ == home) home_of_zero_ = none;
    }

    void put(KeySplit::Key key) {
        auto const at = filled_ < entries_.count() ? filled_++ : vacated();
        bool const alone = !has_chain(key.home);
        entries_.write(at, {.rest = key.rest, .next = alone ? key.home : head(key.home), .at_end = alone});
        set_head(key.home, at);
    }

    std::uint64_t vacated() {
        auto const victim = hand_.victim([&](std::uint64_t at) { return entries_.read(at).marked; },
                                         [&](std::uint64_t at) { entries_.unmark(at); });
        take_out(victim);
        return victim;
    }

    void take_out(std::uint64_t at) {
        auto const entry = entries_.read(at);
        auto last = entry;
        while (!last.at_end) last = entries_.read(last.next);
        auto const home = last.next;
        if (head(home) == at) return entry.at_end ? clear_head(home) : set_head(home, entry.next);
        auto before = head(home);
        auto predecessor = entries_.read(before);
        for (; predecessor.next != at; predecessor = entries_.read(before)) before = predecessor.next;
        predecessor.next = entry.next;
        predecessor.at_end = entry.at_end;
        entries_.write(before, predecessor);
    }

    KeySplit const key_;
    BitFields heads_;
    Entries entries_;
    std::uint64_t filled_ = 0;            // entries 0 to filled_ - 1 are in use
    std::uint64_t home_of_zero_ = none;   // the home whose chain begins at entry 0
    Hand hand_;
};

}   // namespace garner::papers
