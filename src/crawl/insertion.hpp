// Where a newcomer stands in its line: at the front as LRU has it, lower down, or where it pays at the moment.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

namespace garner::crawl {

/// Most newcomers of a crawl are never asked for again; lower down they push out less on their way. Which place misses
/// least is found out by set dueling (Qureshi et al., ISCA 2007): a few lines always use one place each, all others the
/// one whose lines missed least lately.
class Insertion {
public:
    static constexpr std::array<std::string_view, 5> names{"front", "middle", "low", "mixed", "duel"};
    enum Way : unsigned { front, middle, low, mixed, duel };
    static constexpr unsigned places = 4;

    /// `ways`: keys in a line. Few lines cannot spare any to find out: a duel is then won by the front.
    Insertion(Way way, std::uint64_t lines, unsigned ways)
        : place_{0, ways / 2, ways - ways / 4, ways - ways / 4},
          group_lines_(std::max(least_lines, std::bit_floor(lines) / leaders)),
          duels_(way == duel && lines >= least_lines) {
        win(way == duel ? front : way);
    }

    /// Where a line puts the key just looked for: what was held goes to the front. As good as never branches: whether
    /// a link was seen is what nobody can predict.
    __attribute__((always_inline)) unsigned place_for(std::uint64_t line, bool held) {
        if (duels_ && (line & (group_lines_ - 1)) < places) [[unlikely]]
            return held ? 0 : lead(static_cast<unsigned>(line & (group_lines_ - 1)));
        lot_ += held ? 0 : golden;
        auto const place = lot_ < mixed_share ? seldom_ : often_;
        return held ? 0 : place;
    }

private:
    static constexpr std::uint64_t least_lines = 32;
    static constexpr std::uint64_t leaders = 32;                   // for each place, where there are lines enough
    static constexpr std::uint32_t round = 1'024;                  // misses of leading lines
    static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;    // Weyl's sequence: evenly spread, never periodic
    static constexpr std::uint64_t mixed_share = std::uint64_t{1} << 61;   // one of eight

    unsigned lead(unsigned way) {
        ++misses_[way];
        if (++misses_of_all_ == round) judge();
        lot_ += golden;
        return way == mixed && lot_ < mixed_share ? 0 : place_[way];
    }
    void judge() {
        auto best = best_;
        for (unsigned way = 0; way < places; ++way)
            if (misses_[way] < misses_[best]) best = way;
        for (auto& misses : misses_) misses -= misses / 4;
        misses_of_all_ = 0;
        win(best);
    }
    void win(unsigned way) {
        best_ = way;
        often_ = place_[way];
        seldom_ = way == mixed ? 0 : often_;
    }

    std::array<unsigned, places> const place_;
    std::uint64_t const group_lines_;   // a power of two
    bool const duels_;
    unsigned best_ = front, often_ = 0, seldom_ = 0;
    std::array<std::uint32_t, places> misses_{};
    std::uint32_t misses_of_all_ = 0;
    std::uint64_t lot_ = 0;
};

}  // namespace garner::crawl
