#include "crawl/line_cache.hpp"

#include <algorithm>
#include <bit>

#include "crawl/huge_array.hpp"
#include "crawl/lru_cache.hpp"
#include "crawl/simd.hpp"

namespace garner::crawl {
namespace {

#define GARNER_INLINE __attribute__((always_inline)) inline

constexpr std::uint64_t line_bits = 512;

/// Selects lines by the first bits of the fingerprint.
struct FirstBits {
    std::uint64_t lines;
    std::uint64_t line_of(Fingerprint url) const {
        return static_cast<std::uint64_t>((static_cast<unsigned __int128>(url) * lines) >> 64);
    }
};

/// The slot of the lowest match; `ways`: no match.
GARNER_INLINE unsigned slot_of(unsigned match, unsigned ways) {
    return static_cast<unsigned>(std::countr_zero(match | 1u << ways));
}

/// A shape has a Line and its ways. at_front() tells whether the line's first slot holds the fingerprint.
/// touch<Ops>() returns the slot that held it, or `ways`, and changes the line by the step from `step_for(where)`.
struct WholeFingerprints {
    static constexpr unsigned ways = 8;
    static constexpr bool claims = false;
    struct alignas(64) Line {
        std::uint64_t urls[ways];
    };

    explicit WholeFingerprints(std::uint64_t lines) : home{lines} {}

    // An empty slot holds a fingerprint of another line.
    Line empty(std::uint64_t line) const {
        Line all{};
        if (line == 0)
            for (auto& url : all.urls) url = UINT64_MAX;
        return all;
    }
    GARNER_INLINE std::uint64_t line_of(Fingerprint url) const { return home.line_of(url); }

    GARNER_INLINE bool at_front(Line const& line, Fingerprint url) const { return line.urls[0] == url; }

    template <class Ops, class StepFor>
    GARNER_INLINE unsigned touch(Line& line, Fingerprint url, StepFor step_for) const {
        auto const found = slot_of(Ops::match64(line.urls, url), ways);
        Ops::arrange64(line.urls, step_for(found).order, url);
        return found;
    }

    FirstBits home;
};

struct Tags {
    static constexpr unsigned ways = 16;
    static constexpr bool claims = true;
    struct alignas(64) Line {
        std::uint32_t tags[ways];
    };

    explicit Tags(std::uint64_t lines) : home{lines} {}

    Line empty(std::uint64_t) const { return {}; }
    GARNER_INLINE std::uint64_t line_of(Fingerprint url) const { return home.line_of(url); }

    GARNER_INLINE bool at_front(Line const& line, Fingerprint url) const { return line.tags[0] == tag_of(url); }

    template <class Ops, class StepFor>
    GARNER_INLINE unsigned touch(Line& line, Fingerprint url, StepFor step_for) const {
        auto const tag = tag_of(url);
        auto const found = slot_of(Ops::match32(line.tags, tag), ways);
        Ops::arrange32(line.tags, step_for(found).order, tag);
        return found;
    }

    GARNER_INLINE static std::uint32_t tag_of(Fingerprint url) {
        auto const low = static_cast<std::uint32_t>(url);
        return low + (low == 0);   // 0 is an empty slot
    }

    FirstBits home;
};

struct Quotients {
    static constexpr unsigned ways = 10;
    static constexpr bool claims = false;
    static constexpr unsigned key_bits = 51;
    static constexpr std::uint64_t least_lines = (std::uint64_t{1} << (64 - key_bits)) + 1;
    struct alignas(64) Line {
        std::uint32_t low[ways];      // 32 bits of each key,
        std::uint16_t middle[ways];   // 16,
        std::uint32_t high;           // and 3
    };
    static_assert(sizeof(Line) * 8 == line_bits);

    explicit Quotients(std::uint64_t lines) : lines_(lines), reciprocal_(UINT64_MAX / lines) {}

    // All ones exceed any quotient by this number of lines.
    Line empty(std::uint64_t) const {
        Line all;
        for (auto& low : all.low) low = UINT32_MAX;
        for (auto& middle : all.middle) middle = UINT16_MAX;
        all.high = UINT32_MAX;
        return all;
    }
    GARNER_INLINE std::uint64_t line_of(Fingerprint url) const { return divided(url).line; }

    GARNER_INLINE bool at_front(Line const& line, Fingerprint url) const { return holds(line, 0, Key(divided(url).quotient)); }

    template <class Ops, class StepFor>
    GARNER_INLINE unsigned touch(Line& line, Fingerprint url, StepFor step_for) const {
        Key const key(divided(url).quotient);
        unsigned match = Ops::match32(line.low, key.low) & ((1u << ways) - 1);
        while (match && !holds(line, static_cast<unsigned>(std::countr_zero(match)), key)) match &= match - 1;
        auto const found = slot_of(match, ways);
        Step const& step = step_for(found);
        PlainOps::arrange<ways>(line.low, step.order, key.low);
        PlainOps::arrange<ways>(line.middle, step.order, key.middle);
        auto const to = 3 * step.to, from = 3 * step.from;
        auto const moved = ((std::uint32_t{8} << from) - 1) & ~((std::uint32_t{1} << to) - 1);
        auto const up = (line.high << 3 & moved) & ~(std::uint32_t{7} << to);
        line.high = (line.high & ~moved) | up | key.high << to;
        return found;
    }

private:
    struct Key {
        explicit Key(std::uint64_t quotient)
            : low(static_cast<std::uint32_t>(quotient)), middle(static_cast<std::uint16_t>(quotient >> 32)),
              high(static_cast<std::uint32_t>(quotient >> 48)) {}
        std::uint32_t low;
        std::uint16_t middle;
        std::uint32_t high;
    };
    GARNER_INLINE static bool holds(Line const& line, unsigned slot, Key const& key) {
        return line.low[slot] == key.low && line.middle[slot] == key.middle && (line.high >> (3 * slot) & 7) == key.high;
    }
    struct Divided {
        std::uint64_t quotient, line;
    };
    // The estimate is too small by at most one.
    GARNER_INLINE Divided divided(Fingerprint url) const {
        auto quotient = static_cast<std::uint64_t>((static_cast<unsigned __int128>(url) * reciprocal_) >> 64);
        auto line = url - quotient * lines_;
        bool const one_more = line >= lines_;
        return {quotient + one_more, one_more ? line - lines_ : line};
    }

    std::uint64_t lines_, reciprocal_;
};

template <class Shape>
class LineCache final : public SeenCache {
public:
    LineCache(std::uint64_t lines, Insertion::Way way, Simd simd)
        : shape_(lines), insertion_(way, lines, Shape::ways), simd_(simd), lines_(lines) {
        for (std::uint64_t i = 0; i < lines; ++i) lines_[i] = shape_.empty(i);
    }

    void seen_each(std::span<Fingerprint const> urls, std::span<std::uint8_t> answers) override {
        with_simd(
            simd_, [&](auto ops) __attribute__((always_inline)) { each<decltype(ops)>(urls, answers); });
    }

    bool claims() const override { return Shape::claims; }
    std::uint64_t entries() const override { return lines_.size() * Shape::ways; }
    std::uint64_t memory_bits() const override { return lines_.size() * line_bits; }

private:
    // About the number of cache misses that the processor can have in flight.
    static constexpr std::size_t prefetched = 24;

    // Most links of real pages are at the front of their line already; others arrive unpredictably. The first links
    // of each batch decide which code path is cheaper for the rest. The answers are equal.
    enum class Expect { anything, front };
    static constexpr std::size_t tried = 128;

    // Inlined into functions below that are compiled for the instruction set.
    template <class Ops>
    GARNER_INLINE void each(std::span<Fingerprint const> urls, std::span<std::uint8_t> answers) {
        Insertion::Turn turn(insertion_);
        auto const ahead = std::min(urls.size(), prefetched), first = std::min(urls.size(), tried);
        for (std::size_t i = 0; i < ahead; ++i) __builtin_prefetch(&lines_[shape_.line_of(urls[i])]);
        auto const at_front = run<Ops, Expect::anything>(turn, urls, answers, 0, first);
        if (at_front * 4 > first * 3)
            run<Ops, Expect::front>(turn, urls, answers, first, urls.size());
        else
            run<Ops, Expect::anything>(turn, urls, answers, first, urls.size());
    }

    /// Processes those from `begin` to before `end`. Returns how many were at the front.
    template <class Ops, Expect expect>
    GARNER_INLINE std::size_t run(Insertion::Turn& turn, std::span<Fingerprint const> urls, std::span<std::uint8_t> answers,
                                  std::size_t begin, std::size_t end) {
        auto const shape = shape_;   // copies: for the compiler, a write to an answer could alias the members
        auto* const lines = lines_.data();
        auto const* const asked = urls.data();
        auto* const answer = answers.data();
        auto const last = urls.size() - std::min(urls.size(), prefetched);
        std::size_t at_front = 0;
        for (std::size_t i = begin; i < end; ++i) {
            if (i < last) __builtin_prefetch(&lines[shape.line_of(asked[i + prefetched])]);
            auto const at = shape.line_of(asked[i]);
            if (expect == Expect::front && shape.at_front(lines[at], asked[i])) {
                turn.stays();
                answer[i] = 1;
                continue;
            }
            auto const found = shape.template touch<Ops>(
                lines[at],
                asked[i], [&](unsigned slot) __attribute__((always_inline))->Step const& { return turn.step(at, slot); });
            at_front += found == 0;
            answer[i] = found != Shape::ways;
        }
        return at_front;
    }

    Shape const shape_;
    Insertion insertion_;
    Simd const simd_;
    HugeArray<typename Shape::Line> lines_;
};

template <class Shape>
MadeCache make_lines(CacheOptions const& options) {
    auto const chosen = static_cast<std::size_t>(options.value(LineSettings::settings, 1));
    auto const simd = chosen == 0 ? best_simd() : static_cast<Simd>(chosen - 1);
    if (!has(simd)) return Fault{"this machine has no " + std::string(LineSettings::isas[chosen]), "use isa=best"};
    auto const way = static_cast<Insertion::Way>(options.value(LineSettings::settings, 0));
    auto const lines = (options.entries + Shape::ways - 1) / Shape::ways;
    return std::make_unique<LineCache<Shape>>(lines, way, simd);
}

/// A single line is LRU, which has its own file; with two or more lines an empty slot can be recognised.
template <class Shape>
MadeCache make_lines_or_lru(CacheOptions const& options) {
    if (options.entries <= Shape::ways) return std::make_unique<Lru>(options);
    return make_lines<Shape>(options);
}

}   // namespace

MadeCache make_line(CacheOptions const& options) { return make_lines_or_lru<WholeFingerprints>(options); }
MadeCache make_line32(CacheOptions const& options) { return make_lines_or_lru<Tags>(options); }

MadeCache make_quotient(CacheOptions const& options) {
    constexpr auto least = Quotients::least_lines * Quotients::ways;
    if (options.entries <= least - Quotients::ways)
        return Fault{std::to_string(options.entries) + " entries: their quotients have more than 51 bits",
                     "take " + std::to_string(least) + " or more, or use the cache line"};
    return make_lines<Quotients>(options);
}

}   // namespace garner::crawl
