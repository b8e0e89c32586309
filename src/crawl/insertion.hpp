// Where a key stands in its line after it was asked for: at the front as LRU has it, lower down, or where it pays at the
// moment.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

namespace garner::crawl {

/// What becomes of a line: order[i] is the slot whose key stands at `i` from now on, or the number of slots for the key
/// that was asked for. The slots from `to` to before `from` move up by one, the key comes to `to`.
struct alignas(32) Step {
    std::uint8_t order[16];
    std::uint8_t to, from;
};

/// Most newcomers of a crawl are never asked for again, but for a few times on the page where they stand; lower down they
/// push out less on their way. Which position misses least is found out by set dueling (Qureshi et al., ISCA 2007): a few
/// lines always use one position each, all others the one whose lines missed least lately.
class Insertion {
public:
    /// `low` lets one newcomer of eight in at the front (bimodal insertion, in the same paper), so that a part of what
    /// does not fit as a whole stays. In `middle` and `low` a repeat of what has hardly sunk since it came moves nothing:
    /// it comes from the same page.
    static constexpr std::array<std::string_view, 4> names{"front", "middle", "low", "duel"};
    enum Way : unsigned { front, middle, low, duel };
    static constexpr unsigned positions = 3;

    /// `ways`: keys in a line, 16 at the most. Few lines cannot spare any to find out: a duel is then won by the front.
    Insertion(Way way, std::uint64_t lines, unsigned ways)
        : ways_(ways),
          steps_{steps_of({.position = 0, .seldom = 0, .stays = 0}),
                 steps_of({.position = ways / 2, .seldom = ways / 2, .stays = 1}),
                 steps_of({.position = ways * 13 / 16, .seldom = 0, .stays = ways / 8})},
          last_of_group_(std::max(least_lines, std::bit_floor(lines) / leaders) - 1),
          leading_(way == duel && lines >= least_lines ? positions : 0),
          best_(way == duel ? front : way) {}

    /// For some keys in turn. No other one may be used on the same Insertion meanwhile.
    class Turn {
    public:
        explicit Turn(Insertion& insertion)
            : insertion_(insertion), last_of_group_(insertion.last_of_group_), leading_(insertion.leading_),
              lot_(insertion.lot_), turned_(insertion.turned_), steps_(insertion.best_steps()) {}
        ~Turn() { insertion_.lot_ = lot_; }
        Turn(Turn const&) = delete;
        Turn& operator=(Turn const&) = delete;

        /// What becomes of a line whose slot `found` holds the key; as many as there are slots: none does. It does not
        /// branch on that: whether a link was seen is what no processor can predict.
        __attribute__((always_inline)) Step const& step(std::uint64_t line, unsigned found) {
            auto const in_group = (line + turned_) & last_of_group_;
            auto const* both = steps_;
            if (in_group < leading_) [[unlikely]] {
                both = insertion_.lead(static_cast<unsigned>(in_group), found);
                turned_ = insertion_.turned_, steps_ = insertion_.best_steps();
            }
            auto const& steps = both[lot_ < front_share ? 1 : 0];
            draw();
            return steps[found];
        }
        /// Instead of it when the key stands at the front already, where it stays.
        __attribute__((always_inline)) void stays() { draw(); }

    private:
        __attribute__((always_inline)) void draw() { lot_ += golden; }

        Insertion& insertion_;
        std::uint64_t const last_of_group_, leading_;
        std::uint64_t lot_, turned_;
        std::array<Step, 17> const* steps_;
    };

private:
    using Steps = std::array<Step, 17>;        // by where the key was found
    using BothSteps = std::array<Steps, 2>;    // usually, and for one newcomer of eight
    struct Shape {
        unsigned position;     // of newcomers
        unsigned seldom;    // of one newcomer of eight
        unsigned stays;     // so many slots from there on: a key found there is left there
    };

    static constexpr std::uint64_t least_lines = 16;
    static constexpr std::uint64_t leaders = 32;                   // for each position, where there are lines enough
    static constexpr std::uint32_t round = 2'048;                  // misses of leading lines
    static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;    // Weyl's sequence: evenly spread, never periodic
    static constexpr std::uint64_t front_share = std::uint64_t{1} << 61;   // one of eight

    BothSteps steps_of(Shape shape) const {
        BothSteps both{};
        for (unsigned found = 0; found < ways_; ++found) {
            bool const stays = found >= shape.position && found < shape.position + shape.stays;
            for (auto& steps : both) steps[found] = step_of(stays ? found : 0, found);
        }
        both[0][ways_] = step_of(shape.position, ways_ - 1);
        both[1][ways_] = step_of(shape.seldom, ways_ - 1);
        return both;
    }
    Step step_of(unsigned to, unsigned from) const {
        Step step{};
        for (unsigned i = 0; i < 16; ++i)
            step.order[i] = static_cast<std::uint8_t>(i == to ? ways_ : i > to && i <= from ? i - 1 : i);
        step.to = static_cast<std::uint8_t>(to);
        step.from = static_cast<std::uint8_t>(from);
        return step;
    }

    Steps const* best_steps() const { return steps_[best_].data(); }

    __attribute__((noinline)) Steps const* lead(unsigned way, unsigned found) {
        if (found == ways_) {
            ++misses_[way];
            if (++misses_of_all_ == round) judge();
        }
        return steps_[way].data();
    }
    void judge() {
        for (unsigned way = 0; way < positions; ++way)
            if (misses_[way] < misses_[best_]) best_ = way;
        for (auto& misses : misses_) misses -= misses / 4;
        misses_of_all_ = 0;
        // Other lines lead from now on: each has its own links, and a few hot ones would decide for all.
        turned_ += positions;
    }

    unsigned const ways_;
    std::array<BothSteps, positions> const steps_;
    std::uint64_t const last_of_group_;   // lines of a group, a power of two, less one
    std::uint64_t const leading_;         // of each group: the first of it, one for each position
    unsigned best_;
    std::array<std::uint32_t, positions> misses_{};
    std::uint32_t misses_of_all_ = 0;
    std::uint64_t turned_ = 0;
    std::uint64_t lot_ = 0;
};

}  // namespace garner::crawl
