// Selects the next victim among the slots of an array: by CLOCK's hand over mark bits, or at random.
#pragma once
#include "papers/dice.hpp"

namespace garner::papers {

/// Broder, Najork, Wiener 2003, section 3.4: the hand clears marks until it finds an unmarked slot, takes it, and
/// continues after it the next time. A new entry is unmarked until its first hit.
class ClockHand {
public:
    static constexpr bool marks = true;

    ClockHand(std::uint64_t slots, std::uint64_t /*seed*/) : slots_(slots) {}

    /// `marked(slot)` reads a mark, `unmark(slot)` clears it.
    template <class Marked, class Unmark>
    std::uint64_t victim(Marked marked, Unmark unmark) {
        for (; marked(at_); turn()) unmark(at_);
        auto const found = at_;
        turn();
        return found;
    }

private:
    void turn() { at_ = at_ + 1 == slots_ ? 0 : at_ + 1; }

    std::uint64_t const slots_;
    std::uint64_t at_ = 0;
};

/// Section 3.5: any slot, with equal probability.
class RandomHand {
public:
    static constexpr bool marks = false;

    RandomHand(std::uint64_t slots, std::uint64_t seed) : slots_(slots), dice_(seed) {}

    template <class Marked, class Unmark>
    std::uint64_t victim(Marked, Unmark) {
        return dice_.below(slots_);
    }

private:
    std::uint64_t const slots_;
    Dice dice_;
};

}   // namespace garner::papers
