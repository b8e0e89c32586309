// The position of a key in its line after a request: at the front (LRU), lower, or chosen adaptively.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

namespace garner::crawl {

/// The new order of a line: order[i] is the slot whose key moves to `i`, or the number of slots for the requested
/// key. The slots from `to` to before `from` move up by one, and the key moves to `to`.
struct alignas(32) Step {
    std::uint8_t order[16];
    std::uint8_t to, from;
};

/// Most new keys of a crawl are not requested again, except for repeats on the same page; at a lower position they
/// evict fewer others. Set dueling (Qureshi et al., ISCA 2007) finds the position with the fewest misses: a few
/// leading lines use a fixed position each, all other lines the one with the fewest recent misses.
class Insertion {
public:
    /// `low` inserts one new key of eight at the front (bimodal insertion, in the same paper), so that a part of an
    /// oversized working set stays. In `middle` and `low` a repeat of a key that has hardly sunk moves nothing: it
    /// comes from the same page.
    static constexpr std::array<std::string_view, 4> names{"front", "middle", "low", "duel"};
    enum Way : unsigned { front, middle, low, duel };
    static constexpr unsigned positions = 3;

    /// `ways`: keys in a line, at most 16. A small cache has no leading lines: `duel` then uses the front.
    Insertion(Way way, std::uint64_t lines, unsigned ways)
        : ways_(ways), steps_{steps_of({.position = 0, .seldom = 0, .stays = 0}),
                              steps_of({.position = ways / 2, .seldom = ways / 2, .stays = 1}),
                              steps_of({.position = ways * 13 / 16, .seldom = 0, .stays = ways / 8})},
          last_of_group_(std::max(least_lines, std::bit_floor(lines) / leaders) - 1),
          leading_(way == duel && lines >= least_lines ? positions : 0), best_(way == duel ? front : way) {}

    /// A run over some keys. The Insertion must not be used otherwise meanwhile.
    class Turn {
    public:
        explicit Turn(Insertion& insertion)
            : insertion_(insertion), last_of_group_(insertion.last_of_group_), leading_(insertion.leading_), lot_(insertion.lot_),
              turned_(insertion.turned_), steps_(insertion.best_steps()) {}
        ~Turn() { insertion_.lot_ = lot_; }
        Turn(Turn const&) = delete;
        Turn& operator=(Turn const&) = delete;

        /// The step for a line whose slot `found` holds the key; the number of slots: no slot holds it. Branch-free,
        /// because whether a link was seen is unpredictable.
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
        /// Replaces step() if the key stays at the front.
        __attribute__((always_inline)) void stays() { draw(); }

    private:
        __attribute__((always_inline)) void draw() { lot_ += golden; }

        Insertion& insertion_;
        std::uint64_t const last_of_group_, leading_;
        std::uint64_t lot_, turned_;
        std::array<Step, 17> const* steps_;
    };

private:
    using Steps = std::array<Step, 17>;       // by the slot that held the key
    using BothSteps = std::array<Steps, 2>;   // the usual one, and the one for one new key of eight
    struct Shape {
        unsigned position;   // position of new keys
        unsigned seldom;     // position of one new key of eight
        unsigned stays;      // a key found in this many slots from `position` on is not moved
    };

    static constexpr std::uint64_t least_lines = 16;
    static constexpr std::uint64_t leaders = 32;                           // for each position, if there are enough lines
    static constexpr std::uint32_t round = 2'048;                          // misses of leading lines
    static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;            // Weyl sequence: evenly distributed, never periodic
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
        // The leading lines rotate: otherwise a few hot links would decide for all lines.
        turned_ += positions;
    }

    unsigned const ways_;
    std::array<BothSteps, positions> const steps_;
    std::uint64_t const last_of_group_;   // lines of a group, a power of two, minus one
    std::uint64_t const leading_;         // of each group: its first lines, one for each position
    unsigned best_;
    std::array<std::uint32_t, positions> misses_{};
    std::uint32_t misses_of_all_ = 0;
    std::uint64_t turned_ = 0;
    std::uint64_t lot_ = 0;
};

}   // namespace garner::crawl
